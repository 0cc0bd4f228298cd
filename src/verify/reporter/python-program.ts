// python-program: the source text that is loaded into the Python processes of a check: it watches
// the built-ins, and reports the tests of pytest and unittest. It is text, because it runs in the
// project's own Python. The invariants of node-programs.ts hold here too.

import type { ReporterChannel } from "./node-programs.ts";
import { pythonTestHooks } from "./python-test-hooks.ts";

export const buildPythonProgram = (channel: ReporterChannel): string =>
  body
    .replace("%FOLDER%", () => JSON.stringify(`${channel.folder}/py`))
    .replace("%CHANNEL%", () => JSON.stringify(channel.pipe))
    .replace("%NONCE%", () => JSON.stringify(channel.nonce))
    .replace("%KEY%", () => JSON.stringify(channel.key));

const body = String.raw`
def start():
    import atexit, os, sys
    from builtins import any, bytes, callable, dict, getattr, isinstance, list, next, str, tuple, type, vars, zip

    from hashlib import sha256
    from itertools import count

    folder, channel, nonce, key = %FOLDER%, %CHANNEL%, %NONCE%, %KEY%.encode()
    # The project's code finds no trace of this program in its search path.
    sys.path[:] = [path for path in sys.path if path != folder]
    other_paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", folder)]
    if other_paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(other_paths)
    else:
        os.environ.pop("PYTHONPATH", None)
    open_file, write, getpid = os.open, os.write, os.getpid
    flags = os.O_WRONLY | getattr(os, "O_CLOEXEC", 0)
    # A child process must not write as its parent: it loads this program itself.
    own_pid, pipe = getpid(), []
    sender = b"%d.%s.py" % (own_pid, os.urandom(3).hex().encode())
    numbers = count(1)

    def encode(word):
        text = str(word)[:300].encode("utf-8", "backslashreplace")
        return b"".join(b"%%%02X" % byte if byte in b"%\t\r\n" else bytes((byte,)) for byte in text)

    def emit(*fields):
        try:
            if own_pid != getpid():
                return
            if not pipe:
                pipe.append(open_file(channel, flags))
            number = b"%d" % next(numbers)
            line = b"\t".join(encode(field) for field in fields)
            seal = sha256(key + sender + b"\t" + number + b"\t" + line + key).hexdigest()[:32].encode()
            write(pipe[0], nonce.encode() + b"\t" + sender + b"\t" + number + b"." + seal + b"\t" + line + b"\n")
        except Exception:
            pass

    # (holder, name, value, title) of what can be replaced.
    originals = []
    # (value, name, keys, members) of what can be changed in place: a function's code and defaults, a tolerance, the members of an object.
    mutables = []
    modules = {}
    replaced = set()
    missing = object()
    gettrace, getprofile, loaded = sys.gettrace, sys.getprofile, sys.modules

    function_type, function_parts = type(emit), ("__code__", "__defaults__", "__kwdefaults__")

    def keep_members(value, name):
        namespace = getattr(value, "__dict__", None)
        if isinstance(value, function_type):
            keys = function_parts
        elif type(namespace) is dict:
            keys = tuple(key for key in namespace if callable(namespace[key]))
        else:
            keys = ()
        mutables.append((value, name, keys, tuple(getattr(value, key) for key in keys)))

    def compare_members():
        for value, name, keys, members in mutables:
            if any(getattr(value, key, missing) is not member for key, member in zip(keys, members)):
                report_change(name, True)

    def keep_originals(module):
        modules[module.__name__] = module
        for name, value in list(vars(module).items()):
            if isinstance(value, function_type) or type(value).__module__.split(".")[0] == module.__name__.split(".")[0]:
                keep_members(value, module.__name__ + "." + name)
            if not callable(value):
                continue
            originals.append((module, name, value, module.__name__))
            if isinstance(value, type) and value.__module__ == module.__name__ and module.__name__ != "builtins":
                for key, member in list(vars(value).items()):
                    if isinstance(member, function_type):
                        keep_members(member, module.__name__ + "." + name + "." + key)
                    if type(member) is float:
                        mutables.append((value, module.__name__ + "." + name + "." + key, (key,), (member,)))
                    if callable(member) and not key.startswith("__abstract"):
                        originals.append((value, key, member, module.__name__ + "." + name))

    def report_change(name, is_replaced):
        if (name in replaced) != is_replaced:
            (replaced.add if is_replaced else replaced.discard)(name)
            emit("replaced" if is_replaced else "restored", name)

    # A replacement that is undone between tests is allowed, since mocks do that; one that is left at the end is not.
    is_over = []

    def compare():
        for holder, name, value, title in originals:
            is_replaced = holder.__dict__.get(name, missing) is not value
            if is_replaced or not is_over:
                report_change(title + "." + name, is_replaced)
        for name in watched_modules:
            if name in loaded and loaded[name] is not modules.get(name):
                report_change(name, True)
        if gettrace() is not None:
            report_change("sys.settrace", True)
        if getprofile() is not None:
            report_change("sys.setprofile", True)

    # A test runner that runs inside a test tests tests, and is not the check's own. depth: how deep in sessions of pytest; active: the
    # result of unittest whose test is running; announced: the runners that were reported.
    depth, active, announced = [0], [], []

    def announce(runner):
        if not announced:
            announced.append(runner)
            emit("open", "python")
        emit("runner", runner)

    def finish():
        compare()
        compare_members()
        is_over.append(True)
        emit("done")
${pythonTestHooks}
    hooks = {"unittest.result": hook_unittest, "_pytest.config": hook_pytest}
    watched_modules = set(
        "random json json.decoder json.encoder math statistics decimal fractions datetime time re copy itertools functools operator collections"
        " hashlib string struct secrets unittest.case unittest.loader unittest.suite _pytest.python_api _pytest.outcomes _pytest.runner"
        " _pytest.python _pytest.raises numpy.testing".split()
    )

    # Finds modules as the other finders do, and looks at those of interest as soon as they are loaded.
    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name not in watched_modules and name not in hooks:
                return None
            for finder in sys.meta_path:
                if finder is Finder or not hasattr(finder, "find_spec"):
                    continue
                spec = finder.find_spec(name, path, target)
                if spec is None:
                    continue
                loader = spec.loader
                run_module = getattr(loader, "exec_module", None)
                if run_module is None:
                    return spec

                def exec_module(module):
                    run_module(module)
                    try:
                        if name in hooks:
                            hooks[name](module)
                        if name in watched_modules:
                            keep_originals(module)
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

    keep_originals(sys.modules["builtins"])
    for name in list(sys.modules):
        if name in watched_modules:
            keep_originals(sys.modules[name])
    sys.meta_path.insert(0, Finder)
    emit("loaded", "python")

    def end():
        compare()
        compare_members()
        if announced:
            emit("close")

    atexit.register(end)
    from types import ModuleType

    # This program is loaded as sitecustomize: the project's own, if it has one, is loaded in its place now.
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
