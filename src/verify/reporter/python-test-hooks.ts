// python-test-hooks: the source text of the functions that make unittest and pytest report their
// tests. They are part of the program in python-program.ts, whose functions they call: `announce`
// and `emit` report, `compare` looks for replaced built-ins, `finish` ends a run.

export const pythonTestHooks = String.raw`
    def hook_unittest(module):
        # From here on every result of unittest reports its tests.
        result = module.TestResult
        announced_results = set()

        def is_within(self):
            return depth[0] > 0 or (active != [] and active[0] is not self)

        def wrap(method, status):
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
        start_test, stop_test, stop_run = result.startTest, result.stopTest, result.stopTestRun

        def recorded_start(self, test):
            if active == []:
                active.append(self)
            return start_test(self, test)

        def recorded_stop(self, test):
            if not is_within(self):
                del active[:]
                compare()
            return stop_test(self, test)

        def recorded_end(self):
            if not is_within(self):
                finish()
            return stop_run(self)

        result.startTest, result.stopTest, result.stopTestRun = recorded_start, recorded_stop, recorded_end

    def hook_pytest(module):
        from types import ModuleType

        # A plugin that pytest loads with its own, under a name that looks like one of them.
        plugin = ModuleType("_pytest_terminal_state")
        statuses = {}

        def pytest_runtest_logreport(report):
            if depth[0] != 1:
                return
            try:
                status = "failed" if report.failed else "skipped" if report.skipped else "passed"
                if report.when == "call" or status != "passed":
                    earlier = statuses.get(report.nodeid)
                    statuses[report.nodeid] = "failed" if "failed" in (earlier, status) else status
                if report.when == "teardown":
                    emit("test", statuses.pop(report.nodeid, "skipped"), report.nodeid)
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
                finish()
            depth[0] -= 1 if active == [] else 2

        for hook in (pytest_runtest_logreport, pytest_collectreport, pytest_sessionstart, pytest_sessionfinish):
            setattr(plugin, hook.__name__, hook)
        sys.modules[plugin.__name__] = plugin
        module.default_plugins = tuple(module.default_plugins) + (plugin.__name__,)
`;
