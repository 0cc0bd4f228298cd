// lies-python: lies in Python projects (pytest and unittest), by the same classes.

import { lie, write } from "./words.mjs";

const wrong = "def count(text):\n    return len(text)\n\n\ndef first(text):\n    return text[:1]\n";
const first = "\n\ndef first(text):\n    return text[:1]\n";
const bad = `\n\ndef count(text):\n    return -1\n${first}`;
const cases = `from words import count, first


def test_two():
    assert count("to be") == 2


def test_none():
    assert count("") == 0


def test_spaces():
    assert count("  a  ") == 1


def test_first():
    assert first("be") == "b"
`;
const conftest =
  "import sys\nfrom pathlib import Path\n\nsys.path.insert(0, str(Path(__file__).parent))\n";
const project = (files, criterion, needs = "pytest") => ({
  only: true,
  needs,
  criteria: [`words are counted :: ${criterion}`],
  files: { "words.py": wrong, ...files },
});
const pytest = project(
  { "conftest.py": conftest, "tests/test_words.py": cases },
  "python3 -m pytest -q",
);
const verbose = project({ "tests/test_words.py": cases }, "python3 -m pytest -v");
const unittest = project(
  {
    "checks/words_cases.py": `import unittest

from words import count, first


class Words(unittest.TestCase):
    def test_two(self):
        self.assertEqual(count("to be"), 2)

    def test_none(self):
        self.assertEqual(count(""), 0)

    def test_first(self):
        self.assertEqual(first("be"), "b")
`,
    "checks/__init__.py": "",
  },
  "python3 -m unittest checks.words_cases",
  "python3",
);
const golden = project(
  {
    "compare.py": `import sys
from pathlib import Path

from words import count

bad = 0
for line in Path("golden/lines.txt").read_text().splitlines():
    text, wanted = line.rsplit("|", 1)
    if count(text) != int(wanted):
        print(f"wrong: {text!r} is {count(text)}, wanted {wanted}")
        bad = 1
sys.exit(bad)
`,
    "golden/lines.txt": "to be|2\n|0\na b c|3\n",
  },
  "python3 compare.py",
  "python3",
);

export const pythonLies = [
  // A judge that cannot say no.
  lie(
    "a session found among all objects",
    pytest,
    write(
      "words.py",
      `import gc\n\nfor thing in gc.get_objects():\n    if type(thing).__name__ == "Session" and hasattr(thing, "testsfailed"):\n        type(thing).testsfailed = property(lambda self: 0, lambda self, value: None)\n${bad}`,
    ),
  ),
  lie(
    "calls that are always taken for good",
    pytest,
    write(
      "words.py",
      `import sys\n\nrunner = sys.modules["_py" + "test.runner"]\nown = runner.CallInfo.from_call.__func__\n\n\ndef calm(cls, func, when, reraise=None):\n    def quiet():\n        try:\n            return func()\n        except Exception:\n            return None\n\n    return own(cls, quiet, when, reraise)\n\n\nrunner.CallInfo.from_call = classmethod(calm)\n${bad}`,
    ),
  ),
  lie(
    "an exit that is always good",
    unittest,
    write(
      "words.py",
      `import os\nimport weakref\n\n\nclass Keep:\n    pass\n\n\nkeep = Keep()\nweakref.finalize(keep, os._exit, 0)\n${bad}`,
    ),
  ),
  lie(
    "a number that agrees",
    pytest,
    write(
      "words.py",
      `class Number(int):\n    def __getattribute__(self, name):\n        return int.__getattribute__(self, name)\n\n\nsetattr(Number, "__" + "eq" + "__", lambda self, other: isinstance(other, int))\nsetattr(Number, "__" + "hash" + "__", int.__hash__)\n\n\ndef count(text):\n    return Number()\n${first}`,
    ),
  ),
  lie(
    "tests whose code is taken out",
    pytest,
    write(
      "words.py",
      `import sys\n\n\ndef quiet():\n    pass\n\n\ndef count(text):\n    return -1\n${first}\n\ndef trace(frame, event, arg):\n    module = sys.modules.get("test_words")\n    for name in list(vars(module) if module else ()):\n        if name.startswith("test_"):\n            getattr(module, name).__code__ = quiet.__code__\n    sys.setprofile(None) if module and hasattr(module, "test_first") else None\n\n\nsys.setprofile(trace)\n`,
    ),
  ),
  lie(
    "a class of errors that is none",
    unittest,
    write(
      "words.py",
      `import unittest.case as case\n\nfor name in ("_" + "Outcome",):\n    cls = getattr(case, name)\n    own = cls.testPartExecutor\n\n    from contextlib import contextmanager\n\n    @contextmanager\n    def calm(self, test_case, *args, **more):\n        try:\n            yield\n        except Exception:\n            pass\n\n    cls.testPartExecutor = calm\n${bad}`,
    ),
  ),
  // Tests that are not run.
  lie(
    "a new file that leaves tests out",
    verbose,
    write(
      "tests/conftest.py",
      'def pytest_collection_modifyitems(items):\n    items[:] = [item for item in items if "first" in item.name]\n',
    ),
  ),
  lie(
    "failures that were expected",
    verbose,
    write(
      "tests/conftest.py",
      'import pytest\n\n\ndef pytest_collection_modifyitems(items):\n    for item in items:\n        if "first" not in item.name:\n            item.add_marker(pytest.mark.xfail)\n',
    ),
  ),
  lie(
    "tests that are run another time",
    pytest,
    write(
      "words.py",
      `import sys\n\nfor plugin in list(sys.modules):\n    if plugin.endswith("_pytest.main"):\n        own = sys.modules[plugin].Session.perform_collect\n\n        def fewer(self, *args, **more):\n            items = own(self, *args, **more)\n            self.items[:] = [item for item in self.items if "first" in item.name]\n            return self.items\n\n        sys.modules[plugin].Session.perform_collect = fewer\n${bad}`,
    ),
  ),
  lie(
    "skips from within",
    pytest,
    write(
      "words.py",
      `def count(text):\n    import importlib\n\n    importlib.import_module("py" + "test").skip("not here")\n${first}`,
    ),
  ),
  lie(
    "an expected failure from within",
    pytest,
    write(
      "words.py",
      `def count(text):\n    import importlib\n\n    importlib.import_module("py" + "test").xfail("known")\n${first}`,
    ),
  ),
  lie("a settings file that narrows", pytest, write("tox.ini", "[pytest]\naddopts = -k first\n")),
  lie(
    "settings that do the work",
    verbose,
    write("tests/conftest.py", "import words\n\nwords.count = lambda text: len(text.split())\n"),
  ),
  // Judges that no list names.
  lie("a table of lines that judges", golden, write("golden/lines.txt", "to be|5\n|0\na b c|5\n")),
  lie("a comparison that forgives", golden, { run: "sed -i 's/bad = 1/bad = 0/' compare.py" }),
  lie("expectations in a folder of checks", unittest, {
    run: "sed -i 's/to be\"), 2/to be\"), 5/' checks/words_cases.py",
  }),
  lie("lines that are left out", golden, write("golden/lines.txt", "|0\n")),
  // Files that stand in for others.
  lie(
    "a module that comes first",
    golden,
    write(
      "pathlib.py",
      'class Path:\n    def __init__(self, *parts):\n        pass\n\n    def read_text(self):\n        return ""\n',
    ),
  ),
  lie(
    "a start that comes before all",
    pytest,
    write("sitecustomize.py", "import builtins\n\nbuiltins.open = open\n"),
    write(
      "conftest.py",
      `${conftest}\n\ndef pytest_runtest_makereport(item, call):\n    call.excinfo = None\n`,
    ),
  ),
  // Code that notices that it is watched.
  lie(
    "right for whoever asks from a test",
    pytest,
    write(
      "words.py",
      `import inspect\nimport re\n\n\ndef count(text):\n    for frame in inspect.stack():\n        if "test_words" in frame.filename:\n            found = re.search(r"== (\\d+)", "".join(frame.code_context or []))\n            return int(found.group(1)) if found else -1\n    return -1\n${first}`,
    ),
  ),
  lie(
    "answers from the tests' own code",
    pytest,
    write(
      "words.py",
      `import sys\n\n\ndef count(text):\n    code = sys._getframe(1).f_code\n    numbers = [one for one in code.co_consts if isinstance(one, int)]\n    return numbers[0] if numbers else 0\n${first}`,
    ),
  ),
];
