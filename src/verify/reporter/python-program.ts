// python-program: source loaded into Python processes of a check: it watches the built-ins, and reports pytest and unittest. Text, because
// it runs in the project's own Python. The invariants are those of node-programs.ts.

import type { ReporterChannel } from "./node-programs.ts";

export const pythonProgram = (channel: ReporterChannel): string =>
  body
    .replace("%FOLDER%", JSON.stringify(`${channel.folder}/py`))
    .replace("%CHANNEL%", JSON.stringify(channel.channel))
    .replace("%NONCE%", JSON.stringify(channel.nonce))
    .replace("%KEY%", JSON.stringify(channel.key));

const body = String.raw`
def start():
    import atexit, os, sys
    from builtins import any, bytes, callable, dict, getattr, isinstance, list, next, str, tuple, type, vars, zip

    from hashlib import sha256
    from itertools import count

    folder, channel, nonce, key = %FOLDER%, %CHANNEL%, %NONCE%, %KEY%.encode()
    sys.path[:] = [one for one in sys.path if one != folder]
    rest = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one not in ("", folder)]
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    else:
        os.environ.pop("PYTHONPATH", None)
    opened, closed, write, getpid = os.open, os.close, os.write, os.getpid
    flags = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)
    own = [getpid(), None]
    sender = b"%d.%s.py" % (own[0], os.urandom(3).hex().encode())
    numbers = count(1)

    def quoted(word):
        text = str(word)[:300].encode("utf-8", "backslashreplace")
        return b"".join(b"%%%02X" % one if one in b"%\t\r\n" else bytes((one,)) for one in text)

    def emit(*fields):
        try:
            if own[0] != getpid():
                return
            if own[1] is None:
                own[1] = opened(channel, flags)
            number = b"%d" % next(numbers)
            line = b"\t".join(quoted(one) for one in fields)
            seal = sha256(key + sender + b"\t" + number + b"\t" + line + key).hexdigest()[:32].encode()
            write(own[1], nonce.encode() + b"\t" + sender + b"\t" + number + b"." + seal + b"\t" + line + b"\n")
        except Exception:
            pass

    originals = []
    # What can be changed in place without replacing it: a function's code and defaults, a tolerance, the members of an object.
    inside = []
    modules = {}
    replaced = set()
    missing = object()
    traced, profiled, loaded = sys.gettrace, sys.getprofile, sys.modules

    function, parts = type(emit), ("__code__", "__defaults__", "__kwdefaults__")

    def keep_inside(value, name):
        held = getattr(value, "__dict__", None)
        keys = parts if isinstance(value, function) else tuple(one for one in held if callable(held[one])) if type(held) is dict else ()
        inside.append((value, name, keys, tuple(getattr(value, one) for one in keys)))

    def compare_inside():
        for value, name, keys, held in inside:
            if any(getattr(value, key, missing) is not was for key, was in zip(keys, held)):
                changed(name, True)

    def keep(module):
        modules[module.__name__] = module
        for name, value in list(vars(module).items()):
            if isinstance(value, function) or type(value).__module__.split(".")[0] == module.__name__.split(".")[0]:
                keep_inside(value, module.__name__ + "." + name)
            if not callable(value):
                continue
            originals.append((module, name, value, module.__name__))
            if isinstance(value, type) and value.__module__ == module.__name__ and module.__name__ != "builtins":
                for inner, held in list(vars(value).items()):
                    if isinstance(held, function):
                        keep_inside(held, module.__name__ + "." + name + "." + inner)
                    if type(held) is float:
                        inside.append((value, module.__name__ + "." + name + "." + inner, (inner,), (held,)))
                    if callable(held) and not inner.startswith("__abstract"):
                        originals.append((value, inner, held, module.__name__ + "." + name))

    def changed(name, is_now):
        if (name in replaced) != is_now:
            (replaced.add if is_now else replaced.discard)(name)
            emit("replaced" if is_now else "restored", name)

    # A replacement that is undone between tests is allowed, since mocks do that; one that is left at the end is not.
    is_over = []

    def compare():
        for holder, name, value, title in originals:
            is_now = holder.__dict__.get(name, missing) is not value
            if is_now or not is_over:
                changed(title + "." + name, is_now)
        for name in wanted:
            if name in loaded and loaded[name] is not modules.get(name):
                changed(name, True)
        if traced() is not None:
            changed("sys.settrace", True)
        if profiled() is not None:
            changed("sys.setprofile", True)

    # Runs within a test are tests of tests, and not the check's own: how deep in sessions of pytest, and whose test of unittest is running.
    depth, active, announced = [0], [], []

    def announce(runner):
        if not announced:
            announced.append(runner)
            emit("open", "python")
        emit("runner", runner)

    def done():
        compare()
        compare_inside()
        is_over.append(True)
        emit("done")

    def hook_unittest(module):
        result = module.TestResult
        announced_results = set()

        def is_within(self):
            return depth[0] > 0 or (active != [] and active[0] is not self)

        def wrap(method, status, at=0):
            original = getattr(result, method)

            def recorded(self, *args):
                if is_within(self):
                    return original(self, *args)
                if id(self) not in announced_results:
                    announced_results.add(id(self))
                    announce("unittest")
                try:
                    if method != "addSubTest":
                        emit("test", status, args[0])
                    elif args[2] is not None:
                        emit("test", "failed", args[1])
                except Exception:
                    pass
                return original(self, *args)

            setattr(result, method, recorded)

        for method, status in (
            ("addSuccess", "passed"),
            ("addError", "failed"),
            ("addFailure", "failed"),
            ("addSkip", "skipped"),
            ("addExpectedFailure", "skipped"),
            ("addUnexpectedSuccess", "failed"),
            ("addSubTest", ""),
        ):
            if hasattr(result, method):
                wrap(method, status)
        begin, stop, stop_run = result.startTest, result.stopTest, result.stopTestRun

        def started(self, test):
            if active == []:
                active.append(self)
            return begin(self, test)

        def stopped(self, test):
            if not is_within(self):
                del active[:]
                compare()
            return stop(self, test)

        def stopped_run(self):
            if not is_within(self):
                done()
            return stop_run(self)

        result.startTest, result.stopTest, result.stopTestRun = started, stopped, stopped_run

    def hook_pytest(module):
        from types import ModuleType

        plugin = ModuleType("_pytest_terminal_state")
        seen = {}

        def pytest_runtest_logreport(report):
            if depth[0] != 1:
                return
            try:
                status = "failed" if report.failed else "skipped" if report.skipped else "passed"
                if report.when == "call" or status != "passed":
                    was = seen.get(report.nodeid)
                    seen[report.nodeid] = "failed" if "failed" in (was, status) else status
                if report.when == "teardown":
                    emit("test", seen.pop(report.nodeid, "skipped"), report.nodeid)
                    compare()
            except Exception:
                pass

        def pytest_collectreport(report):
            try:
                if report.failed and depth[0] == 1:
                    emit("test", "failed", report.nodeid)
            except Exception:
                pass

        def pytest_sessionstart(session):
            depth[0] += 1 if active == [] else 2
            if depth[0] == 1:
                announce("pytest")

        def pytest_sessionfinish(session):
            if depth[0] == 1:
                done()
            depth[0] -= 1 if active == [] else 2

        for hook in (pytest_runtest_logreport, pytest_collectreport, pytest_sessionstart, pytest_sessionfinish):
            setattr(plugin, hook.__name__, hook)
        sys.modules[plugin.__name__] = plugin
        module.default_plugins = tuple(module.default_plugins) + (plugin.__name__,)

    hooks = {"unittest.result": hook_unittest, "_pytest.config": hook_pytest}
    wanted = set(
        "random json json.decoder json.encoder math statistics decimal fractions datetime time re copy itertools functools operator collections"
        " hashlib string struct secrets unittest.case unittest.loader unittest.suite _pytest.python_api _pytest.outcomes _pytest.runner"
        " _pytest.python _pytest.raises numpy.testing".split()
    )

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name not in wanted and name not in hooks:
                return None
            for other in sys.meta_path:
                if other is Finder or not hasattr(other, "find_spec"):
                    continue
                spec = other.find_spec(name, path, target)
                if spec is None:
                    continue
                loader = spec.loader
                run = getattr(loader, "exec_module", None)
                if run is None:
                    return spec

                def exec_module(module):
                    run(module)
                    try:
                        if name in hooks:
                            hooks[name](module)
                        if name in wanted:
                            keep(module)
                    except Exception:
                        pass

                try:
                    if isinstance(loader, type):
                        class Loader:
                            create_module = staticmethod(loader.create_module)
                        Loader.exec_module = staticmethod(exec_module)
                        spec.loader = Loader
                    else:
                        loader.exec_module = exec_module
                except Exception:
                    pass
                return spec
            return None

    keep(sys.modules["builtins"])
    for name in list(sys.modules):
        if name in wanted:
            keep(sys.modules[name])
    sys.meta_path.insert(0, Finder)
    emit("loaded", "python")

    def end():
        compare()
        compare_inside()
        if announced:
            emit("close")

    atexit.register(end)
    from types import ModuleType

    sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize
    except ImportError:
        pass
    sys.modules.setdefault("sitecustomize", ModuleType("sitecustomize"))


try:
    start()
except Exception:
    pass
del start
`;
