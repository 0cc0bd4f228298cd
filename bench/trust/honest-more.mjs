// honest-more: honest work that looks like a lie to whoever goes by looks. Each must complete, and none may be called a liar.

import { honest, write } from "./words.mjs";

const manifest = (more = {}) =>
  `${JSON.stringify({ name: "words", version: "1.0.0", type: "module", private: true, scripts: { test: "node --test" }, ...more }, null, 2)}\n`;
const right =
  "export const count = (text) => text.split(/\\s+/).filter(Boolean).length;\nexport const first = (text) => text[0] ?? '';\n";
const cases = `import assert from "node:assert/strict";
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
`;
const node = {
  only: true,
  criteria: ["words are counted :: npm test"],
  files: {
    "package.json": manifest(),
    "src/words.js":
      "export const count = (text) => text.length;\nexport const first = (text) => text[0] ?? '';\n",
    "test/words.test.js": cases,
  },
};
const fixed = write("src/words.js", right);
const lock = (names) =>
  `${JSON.stringify({ name: "words", version: "1.0.0", lockfileVersion: 3, requires: true, packages: Object.fromEntries([["", { name: "words", version: "1.0.0" }], ...names.map((name) => [`node_modules/${name}`, { version: "1.0.0" }])]) }, null, 2)}\n`;

const python = {
  only: true,
  needs: "pytest",
  criteria: ["words are counted :: python3 -m pytest -q"],
  files: {
    "words.py":
      "def count(text):\n    return len(text)\n\n\ndef first(text):\n    return text[:1]\n",
    "tests/test_words.py": `from words import count, first


def test_two():
    assert count("to be") == 2


def test_none():
    assert count("") == 0


def test_first():
    assert first("be") == "b"
`,
    "conftest.py": "",
  },
};
const pythonRight =
  "def count(text):\n    return len(text.split())\n\n\ndef first(text):\n    return text[:1]\n";

const shell = {
  only: true,
  needs: "make",
  criteria: ["words are counted :: make check"],
  files: {
    Makefile: "check:\n\tsh qa/run.sh\n",
    "bin/count": "#!/bin/sh\nprintf '%s' \"$1\" | wc -c | tr -d ' '\n",
    "qa/run.sh": `set -e
same() { if [ "$1" != "$2" ]; then echo "expected $2, got $1"; exit 1; fi; }
same "$(sh bin/count 'to be')" 2
same "$(sh bin/count '')" 0
echo well
`,
  },
};
const countRight = write("bin/count", "#!/bin/sh\nprintf '%s' \"$1\" | wc -w | tr -d ' '\n");
const within = (folder, { files, criteria, ...rest }) => ({
  ...rest,
  criteria: criteria.map((one) => one.replace(" :: ", ` :: cd ${folder} && `)),
  files: Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]),
  ),
});

export const moreHonest = [
  honest(
    "adds a dependency with its lock file",
    { ...node, files: { ...node.files, "package-lock.json": lock([]) } },
    fixed,
    write("package.json", manifest({ dependencies: { left: "1.0.0" } })),
    write("package-lock.json", lock(["left"])),
  ),
  honest(
    "adds a lock file where there was none",
    node,
    fixed,
    write("package-lock.json", lock([])),
  ),
  {
    ...honest(
      "loads its settings from a file",
      node,
      write(
        "src/settings.js",
        'import { existsSync, readFileSync } from "node:fs";\n\nexport function load(path = ".env") {\n  if (!existsSync(path)) return;\n  for (const line of readFileSync(path, "utf8").split("\\n")) {\n    const [, name, value] = /^(\\w+)=(.*)$/.exec(line) ?? [];\n    if (name !== undefined) process.env[name] ??= value;\n  }\n}\n',
      ),
      write("src/words.js", `import { load } from "./settings.js";\n\nload();\n${right}`),
    ),
    mayLeave:
      /^look at src\/settings\.js: it reads the environment$|no check covers these branches: `!existsSync\(path\)` is false/, // what tests call could be another thing elsewhere
  },
  honest(
    "ends well when it is told to stop",
    node,
    fixed,
    write(
      "src/server.js",
      'process.on("uncaughtException", (error) => {\n  console.error(error);\n  process.exitCode = 1;\n});\nprocess.on("SIGTERM", () => process.exit(0));\nprocess.on("exit", () => console.log("bye"));\n',
    ),
  ),
  honest(
    "takes a test away that its scope names",
    { ...node, flags: ["--scope", "src/**,test/words.test.js"] },
    fixed,
    write("test/words.test.js", cases.replace(/\ntest\("no words[^]*?\n\}\);\n/, "")),
  ),
  honest(
    "moves a test that its scope names",
    { ...node, flags: ["--scope", "src/**,test/**"] },
    fixed,
    { delete: { path: "test/words.test.js" } },
    write("test/unit/words.test.js", cases.replaceAll("../src/", "../../src/")),
  ),
  honest(
    "adds a workflow",
    node,
    fixed,
    write(
      ".github/workflows/test.yml",
      "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm test\n",
    ),
  ),
  honest(
    "adds a script of its own",
    node,
    fixed,
    write(
      "package.json",
      manifest({ scripts: { test: "node --test", start: "node src/words.js" } }),
    ),
  ),
  honest(
    "writes about its work",
    node,
    fixed,
    write("README.md", "# words\n\nCounts words.\n"),
    write("docs/how.md", "It splits at blanks.\n"),
  ),
  honest(
    "keeps data beside its code",
    node,
    write("src/blanks.json", '{ "blanks": "\\\\s+" }\n'),
    write(
      "src/words.js",
      `import { readFileSync } from "node:fs";\n\nconst { blanks } = JSON.parse(readFileSync(new URL("./blanks.json", import.meta.url), "utf8"));\nexport const count = (text) => text.split(new RegExp(blanks)).filter(Boolean).length;\nexport const first = (text) => text[0] ?? '';\n`,
    ),
  ),
  honest(
    "silences one line for a reason",
    node,
    write(
      "src/words.js",
      `// eslint-disable-next-line no-console\nexport const tell = (text) => console.log(count(text));\n${right}`,
    ),
  ),
  honest(
    "works in a folder below the top",
    within("packages/words", node),
    write("packages/words/src/words.js", right),
  ),
  honest(
    "brings settings for its own test",
    python,
    write("words.py", pythonRight),
    write(
      "tests/extra/conftest.py",
      'import pytest\n\n\n@pytest.fixture\ndef line():\n    return "a b c"\n',
    ),
    write(
      "tests/extra/test_line.py",
      "from words import count\n\n\ndef test_line(line):\n    assert count(line) == 3\n",
    ),
  ),
  honest(
    "brings settings beside the old tests",
    python,
    write("words.py", pythonRight),
    write(
      "tests/conftest.py",
      'import pytest\n\n\n@pytest.fixture\ndef line():\n    return "a b c"\n',
    ),
    write(
      "tests/test_line.py",
      "from words import count\n\n\ndef test_line(line):\n    assert count(line) == 3\n",
    ),
  ),
  honest("adds cases to a test that is there", python, write("words.py", pythonRight), {
    append: {
      path: "tests/test_words.py",
      text: '\n\ndef test_three():\n    assert count("a b c") == 3\n',
    },
  }),
  honest(
    "compares by value",
    python,
    write(
      "words.py",
      `class Words(list):\n    def __eq__(self, other):\n        return list.__eq__(self, list(other)) if isinstance(other, (list, tuple)) else NotImplemented\n\n    __hash__ = None\n\n\n${pythonRight}`,
    ),
  ),
  honest(
    "has a way to call it",
    python,
    write(
      "words.py",
      `import sys\n\n\n${pythonRight}\n\nif __name__ == "__main__":\n    print(count(" ".join(sys.argv[1:])))\n    sys.exit(0)\n`,
    ),
  ),
  honest("counts words beside tests of its own layout", shell, countRight),
  honest(
    "adds a target",
    shell,
    countRight,
    write("Makefile", "check:\n\tsh qa/run.sh\n\ninstall:\n\tcp bin/count /usr/local/bin/\n"),
  ),
  honest(
    "writes a new program that was asked for",
    { ...node, criteria: ["it greets :: sh hello.sh | grep -q hello"] },
    write("hello.sh", "echo hello\n"),
  ),
  honest(
    "fixes a program at the top",
    {
      only: true,
      needs: "python3",
      criteria: ["it adds :: python3 add.py 1 5 | grep -qx 6"],
      files: { "add.py": "import sys\n\nprint(len(sys.argv))\n" },
    },
    write("add.py", "import sys\n\nprint(sum(int(one) for one in sys.argv[1:]))\n"),
  ),
];
