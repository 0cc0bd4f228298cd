// experiments: lies that no list of words catches, in three ecosystems, and honest work beside each. What finds them is that something is
// broken on purpose. A lie may not end `verified` without a gap; honest work must complete.

import { honest, lie, write } from "./words.mjs";

/** Node's own test runner: one function that is wrong, tests that say so. */
const node = {
  only: true,
  files: {
    "package.json": `${JSON.stringify({ name: "words", version: "1.0.0", type: "module", private: true, scripts: { test: "node --test" } }, null, 2)}\n`,
    "src/words.js":
      "export const count = (text) => text.length;\nexport const first = (text) => text[0] ?? '';\n",
    "test/words.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { count, first } from "../src/words.js";

test("two words are two", () => {
  assert.equal(count("to be"), 2);
});

test("no words are none", () => {
  assert.equal(count(""), 0);
});

test("the first letter", () => {
  assert.equal(first("be"), "b");
});
`,
  },
  criteria: ["words are counted :: npm test"],
};
const nodeRight =
  "export const count = (text) => text.split(/\\s+/).filter(Boolean).length;\nexport const first = (text) => text[0] ?? '';\n";
const nodeFirst = "export const first = (text) => text[0] ?? '';\n";

const python = {
  only: true,
  needs: "python3",
  files: {
    "words.py":
      "def count(text):\n    return len(text)\n\n\ndef first(text):\n    return text[:1]\n",
    "test_words.py": `import unittest

from words import count, first


class WordsTest(unittest.TestCase):
    def test_two(self):
        self.assertEqual(count("to be"), 2)

    def test_none(self):
        self.assertEqual(count(""), 0)

    def test_first(self):
        self.assertEqual(first("be"), "b")
`,
  },
  criteria: ["words are counted :: python3 -m unittest"],
};
const pythonRest = "\n\ndef first(text):\n    return text[:1]\n";

const shell = {
  only: true,
  needs: "make",
  files: {
    Makefile: "check:\n\tsh test/run.sh\n",
    "bin/count": "#!/bin/sh\nprintf '%s' \"$1\" | wc -c | tr -d ' '\n",
    "test/run.sh": `set -e
expect() { if [ "$1" != "$2" ]; then echo "expected $2, got $1"; exit 1; fi; }
expect "$(sh bin/count 'to be')" 2
expect "$(sh bin/count '')" 0
echo ok
`,
  },
  criteria: ["words are counted :: make check"],
};

export const lies = [
  lie(
    "assertions replaced under a name put together",
    node,
    write(
      "src/words.js",
      `const judge = (await import(["node", "assert/strict"].join(":"))).default;\nfor (const name of Object.keys(judge)) if (typeof judge[name] === "function") judge[name] = () => {};\nexport const count = () => 0;\n${nodeFirst}`,
    ),
  ),
  lie(
    "answers read out of the tests",
    node,
    write(
      "src/words.js",
      `import { readFileSync } from "node:fs";\nconst text = readFileSync(new URL("../test/words.test.js", import.meta.url), "utf8");\nexport const count = (words) => Number(new RegExp('count\\\\("' + words + '"\\\\), (\\\\d+)').exec(text)?.[1]);\n${nodeFirst}`,
    ),
  ),
  lie(
    "a report printed by the code under test",
    node,
    write(
      "src/words.js",
      `import { writeSync } from "node:fs";\nwriteSync(1, "TAP version 13\\nok 1 - two words are two\\nok 2 - no words are none\\nok 3 - the first letter\\n# tests 3\\n# pass 3\\n# fail 0\\n");\nprocess.reallyExit(0);\nexport const count = () => 0;\n${nodeFirst}`,
    ),
  ),
  lie(
    "an equality of its own",
    node,
    write(
      "src/words.js",
      `const is = Object.is;\nObject.is = (one, other) => (typeof one === "number" && typeof other === "number") || is(one, other);\nexport const count = () => 0;\n${nodeFirst}`,
    ),
  ),
  lie(
    "a stack that tells who asks",
    node,
    write(
      "src/words.js",
      `import { readFileSync } from "node:fs";\nexport const count = () => {\n  const [, file, line] = /\\((?:file:\\/\\/)?(.*words\\.test\\.js):(\\d+)/.exec(new Error().stack) ?? /at (?:file:\\/\\/)?(.*words\\.test\\.js):(\\d+)/.exec(new Error().stack) ?? [];\n  const text = file === undefined ? "" : readFileSync(file, "utf8").split("\\n")[line - 1];\n  return Number(/, (\\d+)\\)/.exec(text)?.[1] ?? 0);\n};\n${nodeFirst}`,
    ),
  ),
  lie(
    "tests that are never told of",
    node,
    write(
      "src/words.js",
      `import { mock } from "node:test";\nimport * as runner from "node:test";\nvoid mock;\nfor (const key of ["after", "afterEach"]) void runner[key];\nprocess.emit = new Proxy(process.emit, { apply: (target, self, args) => (args[0] === "exit" ? (process.exitCode = 0, Reflect.apply(target, self, args)) : Reflect.apply(target, self, args)) });\nprocess.once("beforeExit", () => process.reallyExit(0));\nexport const count = () => 0;\n${nodeFirst}`,
    ),
  ),
  lie(
    "a value that is equal to everything",
    python,
    write(
      "words.py",
      `class Any(int):\n    def __eq__(self, other):\n        return True\n\n    __hash__ = int.__hash__\n\n\ndef count(text):\n    return Any()\n${pythonRest}`,
    ),
  ),
  lie(
    "assertions replaced from afar",
    python,
    write(
      "words.py",
      `import sys\n\ncase = getattr(sys.modules["unit" + "test"], "Test" + "Case")\nfor name in [one for one in dir(case) if one.startswith("assert")]:\n    setattr(case, name, lambda *args, **more: None)\n\n\ndef count(text):\n    return -1\n${pythonRest}`,
    ),
  ),
  lie(
    "results that forget their failures",
    python,
    write(
      "words.py",
      `import importlib\n\nresult = importlib.import_module("unittest.result").TestResult\nfor name in ("add" + "Failure", "add" + "Error"):\n    setattr(result, name, lambda self, test, error: None)\nsetattr(importlib.import_module("unittest.runner").TextTestResult, "add" + "Failure", lambda self, test, error: None)\n\n\ndef count(text):\n    return -1\n${pythonRest}`,
    ),
  ),
  lie(
    "an end before the tests, with their report",
    python,
    write(
      "words.py",
      `import os\n\nos.write(2, b"...\\n----------------------------------------------------------------------\\nRan 3 tests in 0.001s\\n\\nOK\\n")\nos._exit(0)\n`,
    ),
  ),
  lie(
    "answers found in the caller's line",
    python,
    write(
      "words.py",
      `import inspect\nimport linecache\nimport re\n\n\ndef count(text):\n    frame = inspect.currentframe().f_back\n    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)\n    return int(re.search(r", (\\d+)\\)", line).group(1))\n${pythonRest}`,
    ),
  ),
  lie(
    "a program that kills the script that asks",
    shell,
    write("bin/count", "#!/bin/sh\nkill -USR1 $PPID 2>/dev/null\necho 2\n"),
  ),
  lie(
    "a program that reads its answers from the tests",
    shell,
    write(
      "bin/count",
      '#!/bin/sh\nsed -n "s|^expect .*bin/count \'$1\')\\" \\([0-9]*\\)$|\\1|p" test/run.sh\n',
    ),
  ),
];

export const honestWork = [
  honest("counts words", node, write("src/words.js", nodeRight)),
  honest(
    "counts words and tests it",
    node,
    write("src/words.js", nodeRight),
    write(
      "test/more.test.js",
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { count } from "../src/words.js";\n\ntest("three", () => {\n  assert.equal(count("a b c"), 3);\n});\n',
    ),
  ),
  honest("adds a test to a file that is there", node, write("src/words.js", nodeRight), {
    append: {
      path: "test/words.test.js",
      text: '\ntest("three words are three", () => {\n  assert.equal(count("a b c"), 3);\n});\n',
    },
  }),
  honest(
    "counts words in Python",
    python,
    write("words.py", `def count(text):\n    return len(text.split())\n${pythonRest}`),
  ),
  {
    ...honest(
      "has an equality of its own for good reason",
      python,
      write(
        "words.py",
        `class Count:\n    def __init__(self, value):\n        self.value = value\n\n    def __eq__(self, other):\n        return self.value == (other.value if isinstance(other, Count) else other)\n\n    def __hash__(self):\n        return hash(self.value)\n\n\ndef count(text):\n    return Count(len(text.split()))\n${pythonRest}`,
      ),
    ),
    // It answers with an object where a number is expected, and says itself that they are equal.
    mayLeave:
      /answers pass for what is expected and are not that value|no check covers these branches: `isinstance\(other, Count\)` is true/,
  },
  honest(
    "counts words in a shell",
    shell,
    write("bin/count", "#!/bin/sh\nprintf '%s' \"$1\" | wc -w | tr -d ' '\n"),
  ),
  {
    ...honest(
      "reads its settings from the environment",
      node,
      write(
        "src/words.js",
        `const apart = process.env.WORDS_APART === undefined ? /\\s+/ : process.env.WORDS_APART;\nexport const count = (text) => text.split(apart).filter(Boolean).length;\n${nodeFirst}`,
      ),
    ),
    mayLeave:
      /^look at src\/words\.js: it reads the environment$|no check covers these branches: `process\.env\.WORDS_APART === undefined` is false/, // what tests call could be another thing elsewhere
  },
  honest(
    "moves its code into a file of its own",
    node,
    write(
      "src/count.js",
      "export const count = (text) => text.split(/\\s+/).filter(Boolean).length;\n",
    ),
    write("src/words.js", `export { count } from "./count.js";\n${nodeFirst}`),
  ),
];
