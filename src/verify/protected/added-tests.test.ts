// Tests that are added to a file of tests need no leave, as long as checks are tried out: whatever
// comes with them is found that way.

import { describe, expect, test } from "vitest";
import { findProtected } from "./find-protected.ts";
import { base, createTrees, commit } from "./find-protected.test-support.ts";

const path = "test/add.test.js";
const text = 'test("adds", () => {\n  assert.equal(add(1, 2), 3);\n});\n';
const more = 'test("adds more", () => {\n  assert.equal(add(2, 2), 4);\n});\n';

const allowed = (after: string, areTriedOut = true) => allowedIn(path, text, after, areTriedOut);

async function allowedIn(name: string, before: string, after: string, areTriedOut = true) {
  const parts = {
    workspace: createTrees({ [name]: before }, { [name]: after }),
    protect: [],
    restores: false,
    areTriedOut,
  };

  const { changes } = await findProtected(parts, { base, commit, scope: ["**"], approved: [] });
  return changes.map((change) => change.allowed);
}

test("tests behind, before and between those that were there may be added", async () => {
  expect(await allowed(`${text}\n${more}`)).toEqual(["added"]);
  expect(await allowed(`${more}\n${text}`)).toEqual(["added"]);
});

test("if nothing that was there is changed, left out or put to sleep", async () => {
  expect(await allowed(`${text.replace("3);", "4);")}\n${more}`)).toEqual([null]);
  expect(await allowed(more)).toEqual([null]);
  expect(await allowed(`${text}\n${more.replace("test(", "test.only(")}`)).toEqual([null]);
  expect(await allowed(`${text}\nprocess.exit(0);\n`)).toEqual([null]);
});

test.each([
  [
    "an assertion",
    path,
    text,
    text.replace("  assert", "  assert.equal(add(5, 5), 10);\n  assert"),
    "added",
  ],
  [
    "a row of a table",
    "a_test.go",
    "\tfor _, c := range []c{\n\t}\n",
    '\tfor _, c := range []c{\n\t\t{"/me", Params{"id": "me"}},\n\t}\n',
    "added",
  ],
  [
    "an assertion of a script",
    "tests/run.sh",
    "assert_eq 3 $(add 1 2)\n",
    'assert_eq 3 $(add 1 2)\nassert_eq "a" "$(slug A)"\n',
    "added",
  ],
  ["a line of data", "tests/slugs.txt", "A b|a-b\n", "A b|a-b\nC|c\n", "added"],
  [
    "a script's end",
    "tests/run.sh",
    "assert_eq 3 $(add 1 2)\n",
    "exit 0\nassert_eq 3 $(add 1 2)\n",
    null,
  ],
  [
    "an assertion with something behind it",
    "tests/run.sh",
    "run\n",
    "assert_eq 1 1; exit 0\nrun\n",
    null,
  ],
  [
    "what the next line compares with",
    "test_add.py",
    "assert add(1, 2) == expected\n",
    "expected = 1\nassert add(1, 2) == expected\n",
    null,
  ],
  [
    "an assertion with a space",
    "test_add.py",
    "run()\n",
    "run()\nassert add(1, 2) == 3\n",
    "added",
  ],
  ["a module that does something", "a.test.js", "run();\n", 'run();\nrequire("./mute.js")\n', null],
  [
    "an assertion, with its name in an import",
    path,
    `import { add } from "../src/add.js";\n${text}`,
    `import { add, sub } from "../src/add.js";\n${text.replace("  assert", "  assert.equal(sub(5, 5), 0);\n  assert")}`,
    "added",
  ],
  [
    "what a test calls",
    path,
    text,
    text.replace("  assert", "  const add = () => 3;\n  assert"),
    null,
  ],
])("a line may be added: %s", async (_says, name, before, after, wanted) =>
  expect(await allowedIn(name, before, after)).toEqual([wanted]),
);

test("a test file may get another name and place, with its relative imports", async () => {
  const before = 'import { add } from "../src/add.js";\n' + text;
  const after = 'import { add } from "../../src/add.js";\n' + text;

  const moved = async (now: string) => {
    const workspace = createTrees({ [path]: before }, { "test/math/sum.test.js": now });
    const { changes } = await findProtected(
      { workspace, protect: [], restores: false, areTriedOut: true },
      { base, commit, scope: ["**"], approved: [] },
    );
    return changes.map((change) => change.allowed);
  };
  expect(await moved(after)).toEqual(["added"]);
  expect(await moved(after.replace("3);", "4);"))).toEqual([null]);
  expect(await moved(`${after}${more}`)).toEqual(["added"]); // and more tests
  expect(await moved(after.replace("  assert", "  const add = () => 3;\n  assert"))).toEqual([
    null,
  ]);
});

test("a class of tests may get another name together with its file", async () => {
  const before =
    "import unittest\n\nclass Lexer(unittest.TestCase):\n    def test_kinds(self):\n        self.assertEqual(kinds(1), 2)\n";
  const allowed = async (now: string) => {
    const workspace = createTrees(
      { "tests/test_lexer.py": before },
      { "tests/test_tokens.py": now },
    );

    const parts = { workspace, protect: [], restores: false, areTriedOut: true };
    const { changes } = await findProtected(parts, { base, commit, scope: ["**"], approved: [] });
    return changes.map((change) => change.allowed);
  };

  const renamed = before.replace("Lexer", "Tokens");
  expect(
    await allowed(`${renamed}\n    def test_power(self):\n        self.assertEqual(kinds(2), 4)\n`),
  ).toEqual(["added"]);

  expect(await allowed(renamed.replace("kinds(1), 2", "kinds(1), 3"))).toEqual([null]);
});

describe("what tests take from a module", () => {
  const taking = (line: string, name = path) =>
    allowedIn(name, `import { add } from "../src/add.js";\n${text}`, `${line}\n${text}\n${more}`);
  test.each([
    ["more names", 'import { add, addAll } from "../src/add.js";'],
    ["more names, broken into lines", 'import {\n  add,\n  addAll,\n} from "../src/add.js";'],
    [
      "something else as well",
      'import { add } from "../src/add.js";\nimport { addAll } from "../src/all.js";',
    ],
  ])("may become %s", async (_says, line) => expect(await taking(line)).toEqual(["added"]));

  test.each([
    ["another module", 'import { add, addAll } from "../src/fake.js";'],
    ["another function by its name", 'import { fake as add, addAll } from "../src/add.js";'],
    ["nothing", 'import { addAll } from "../src/add.js";'],
  ])("may not become %s", async (_says, line) => expect(await taking(line)).toEqual([null]));

  const python = "def test_add():\n    assert add(1, 2) == 3\n";
  const also = `${python}\n\ndef test_all():\n    assert add_all([1]) == 1\n`;
  test("is read in Python and of require too", async () => {
    const before = `from add import add\n\n\n${python}`;
    expect(
      await allowedIn("test_add.py", before, `from add import add, add_all\n\n\n${also}`),
    ).toEqual(["added"]);

    expect(
      await allowedIn(
        "test_add.py",
        before,
        `from add import (\n    add,\n    add_all,\n)\n\n\n${also}`,
      ),
    ).toEqual(["added"]);

    expect(
      await allowedIn("test_add.py", before, `from fake import add, add_all\n\n\n${also}`),
    ).toEqual([null]);

    const required = (names: string) => `const { ${names} } = require("../src/add.js");\n`;
    expect(
      await allowedIn(
        path,
        `${required("add")}${text}`,
        `${required("add, addAll")}${text}${more}`,
      ),
    ).toEqual(["added"]);
  });
});

test("and only if checks are tried out", async () => {
  expect(await allowed(`${text}\n${more}`, false)).toEqual([null]);
});

test("new settings beside the tests may be added, if checks are tried out", async () => {
  const tests = { "tests/test_a.py": "def test_a():\n    assert 1\n" };
  const both = { ...tests, "tests/conftest.py": "import pytest\n" };

  const changes = async (areTriedOut: boolean) => {
    const parts = {
      workspace: createTrees(tests, both),
      protect: [],
      restores: false,
      areTriedOut,
    };
    return (await findProtected(parts, { base, commit, scope: ["**"], approved: [] })).changes.map(
      ({ path: file, allowed: by }) => [file, by],
    );
  };
  expect(await changes(true)).toEqual([["tests/conftest.py", "added"]]);
  expect(await changes(false)).toEqual([["tests/conftest.py", null]]);
});

test("a file that a makefile asks for may be added if it sets variables alone, and is told", async () => {
  const makefile = "-include config.mk\n\ntest:\n\tcc $(CFLAGS) t.c $(LDLIBS) && ./a.out\n";
  const judge = async (text: string, areTriedOut = true) => {
    const workspace = createTrees(
      { Makefile: makefile },
      { Makefile: makefile, "config.mk": text },
    );
    const parts = { workspace, protect: [], restores: false, areTriedOut };
    const check = {
      id: "c",
      kind: "criterion" as const,
      title: "c",
      command: "make test",
      source: "objective",
    };
    const request = { base, commit, scope: ["**"], approved: [], checks: [check] };
    const { changes, reviewPoints = [] } = await findProtected(parts, request);
    return [changes.map(({ allowed: by }) => by), reviewPoints.map(({ gap }) => gap)];
  };
  expect(await judge("# the maths library\nLDLIBS = -lm\n")).toEqual([["added"], [true]]);
  expect(await judge("LDLIBS = -lm\n", false)).toEqual([[null], [true]]);

  for (const text of [
    "test:\n\t@true\n",
    "SHELL = /bin/true\n",
    "MAKEFLAGS += -i\n",
    "PATH := ./bin:$(PATH)\n",
    "CFLAGS = $(shell ./evil.sh)\n",
    "override CFLAGS = -O0\n",
    "define CFLAGS\n-O0\nendef\n",
    "include more.mk\n",
  ]) {
    expect((await judge(text))[0], text).toEqual([null]);
  }
});

test("a makefile may name new files, and have new targets with variables of their own, and nothing else", async () => {
  const makefile =
    "SRC = src/a.c\n\ntest: build/tests\n\t./build/tests\n\nbuild/tests: $(SRC) include/a.h\n\tcc -o $@ $(SRC) tests/main.c\n";
  const longer = makefile
    .replace("src/a.c", "src/a.c src/chars.c")
    .replace("include/a.h", "include/a.h include/chars.h");

  const changesFor = async (after: string, command = "make test") => {
    const added = { "src/chars.c": "int c;\n", "include/chars.h": "int c;\n" };
    const workspace = createTrees(
      { Makefile: makefile, "src/a.c": "int a;\n" },
      { Makefile: after, "src/a.c": "int a;\n", ...added },
    );

    const check = {
      id: "c",
      kind: "criterion" as const,
      title: "c",
      command,
      source: "test",
    };

    const { changes } = await findProtected(
      { workspace, protect: [], restores: false, areTriedOut: true },
      { base, commit, scope: ["**"], approved: [], checks: [check] },
    );
    return changes.map(({ path: name, allowed: leave }) => [name, leave]);
  };
  expect(await changesFor(longer)).toEqual([]);
  expect(await changesFor(longer.replace("./build/tests", "-./build/tests"))).toEqual([
    ["Makefile", null],
  ]);

  expect(await changesFor(makefile.replace("src/a.c", "src/a.c src/b.c"))).toEqual([
    ["Makefile", null],
  ]);

  const withAsan = `${makefile}\nSANITIZE = -g -fsanitize=address\n\nbuild/asan: src/a.c\n\tcc $(SANITIZE) -o $@ src/a.c tests/main.c\n\ncheck-asan: build/asan\n\t./build/asan\n`;
  expect(await changesFor(withAsan, "make test check-asan")).toEqual([]);
  for (const line of ["SRC += src/b.c", "export SANITIZE = -g", "CFLAGS = -g $(SANITIZE)"]) {
    const after = withAsan
      .replace("SANITIZE =", `${line}\nSANITIZE +=`)
      .replaceAll("$(SANITIZE)", "$(SANITIZE) $(CFLAGS)");
    expect(await changesFor(after, "make test check-asan"), line).toEqual([["Makefile", null]]);
  }
});
