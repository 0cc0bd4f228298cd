// python-program: builds a plain Python program that calls the tests of a file for pytest or
// unittest. Pure.
// Invariants R1 and on: verify/experiments/without-runner/tests-without-runner.ts.

import { shellWord } from "../../../kit/shell-word.ts";
import {
  parentFolder,
  type TestProgramInput,
  type PlainProgram,
  repeatMs,
  repeatWallMs,
} from "./plain-program.ts";

/** Set-up of a module for all its tests that only a runner carries out. */
const runnerFeature =
  /\b(?:autouse|setup_module|setUpModule|setup_function|usefixtures|pytestmark|load_tests|pytest_plugins)\b|\bmonkeypatch\b/;

export function buildPythonProgram({
  path,
  text,
  uniqueName,
  skippedTests,
}: TestProgramInput): PlainProgram | null {
  if (runnerFeature.test(text)) return null;
  const folder = parentFolder(path);
  const file = `${folder}${uniqueName}.py`;
  const program = createPythonSource(path, folder, skippedTests);

  return { edits: [{ path: file, text: program }], command: `python3 -B ${shellWord(file)}` };
}

/**
 * The program. In it:
 * - `create_fixtures` makes the values of a test's parameters by fixtures of the same file,
 *   `list_rows` the rows of `parametrize`;
 * - a test that needs anything else (`Unfit`) is not called (R2), and an error that isn't an
 *   assertion is dropped (R1);
 * - it exits with 0 if an assertion failed, and with 1 if nothing was shown (R1), at once: what a
 *   test left running is not waited for.
 */
const createPythonSource = (
  path: string,
  folder: string,
  skippedTests: readonly string[],
): string => `import importlib.util, inspect, os, sys
from time import perf_counter as now, process_time as used
sys.path[:0] = [os.path.abspath(${JSON.stringify(folder === "" ? "." : folder)}), os.getcwd(), os.path.join(os.getcwd(), "src")]
skipped_tests = set(${JSON.stringify(skippedTests)})
fixtures, failures, failed = {}, [AssertionError], set()
class Unfit(Exception):
    pass
try:
    import pytest
    failures.append(pytest.fail.Exception)
    def fixture(made=None, **options):
        def keep(function):
            fixtures[options.get("name") or function.__name__] = (function, options)
            return function
        return keep(made) if callable(made) else keep
    pytest.fixture = fixture
except Exception:
    pytest = None
failures = tuple(failures)
def create_fixtures(function, has_self, ends):
    values = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1 if has_self else 0:]:
        if parameter.default is not inspect.Parameter.empty:
            continue
        if name not in fixtures or fixtures[name][1].get("params") is not None:
            raise Unfit(name)
        made = fixtures[name][0](**create_fixtures(fixtures[name][0], False, ends))
        if inspect.isgenerator(made):
            ends.append(made)
            made = next(made)
        values[name] = made
    return values
def list_rows(function):
    found = [{}]
    for mark in getattr(function, "pytestmark", []):
        if mark.name != "parametrize" or mark.kwargs:
            raise Unfit(mark.name)
        names = [name.strip() for name in mark.args[0].split(",")] if isinstance(mark.args[0], str) else list(mark.args[0])
        values = [getattr(one, "values", None) or (tuple(one) if len(names) > 1 else (one,)) for one in mark.args[1]]
        found = [{**row, **dict(zip(names, value))} for row in found for value in values]
    return found
def call(function, owner):
    for row in list_rows(function):
        ends = []
        bound = function if owner is None else getattr(owner(), function.__name__)
        wanted = [name for name in inspect.signature(bound).parameters if name not in row]
        plain = inspect.signature(bound).replace(parameters=[p for n, p in inspect.signature(bound).parameters.items() if n in wanted])
        def asked(): pass
        asked.__signature__ = plain
        arguments = {**row, **create_fixtures(asked, False, ends)}
        if inspect.iscoroutinefunction(bound):
            raise Unfit("async")
        try:
            bound(**arguments)
        except failures:
            failed.add(function)
        for made in ends:
            next(made, None)
def call_each(functions, owner=None):
    for name, function in functions:
        if name in skipped_tests:
            continue
        try:
            call(function, owner)
        except BaseException:
            pass
try:
    spec = importlib.util.spec_from_file_location(${JSON.stringify(path.replace(/^.*\//, "").replace(/\.py$/, ""))}, ${JSON.stringify(path)})
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    import unittest
except BaseException:
    os._exit(1)
def failed_once():
    failed.clear()
    for name, value in list(vars(module).items()):
        if inspect.isfunction(value) and name.startswith("test") and name not in fixtures:
            call_each([(name, value)])
        elif inspect.isclass(value) and issubclass(value, unittest.TestCase):
            try:
                value.setUpClass()
            except BaseException:
                continue
            for method in unittest.TestLoader().getTestCaseNames(value):
                if method in skipped_tests or getattr(getattr(value, method), "__unittest_expecting_failure__", False):
                    continue
                try:
                    value(method).debug()
                except failures:
                    failed.add((value, method))
                except BaseException:
                    pass
        elif inspect.isclass(value) and name.startswith("Test") and not hasattr(value, "setup_method") and not hasattr(value, "setup_class"):
            call_each([(each_name, function) for each_name, function in vars(value).items() if each_name.startswith("test") and inspect.isfunction(function)], value)
    return set(failed)
def does_any_fail():
    began, first = now(), used()
    if failed_once():
        return True
    if now() - began > ${repeatMs / 1000} or used() - first > ${repeatMs / 2000}:
        return False
    unrepeatable = failed_once()
    while used() - first < ${repeatMs / 1000} and now() - began < ${repeatWallMs / 1000}:
        if failed_once() - unrepeatable:
            return True
    return False
try:
    shown = does_any_fail()
except BaseException:
    shown = False
sys.stdout.flush()
os._exit(0 if shown else 1)
`;
