// What a run changed of its judges, told from two trees in memory: also what only the commands, makefiles and scripts of the base lead to.

import { describe, expect, test } from "vitest";
import { lookAtOracles } from "./look-oracles.ts";
import { base, between, changesIn, commit, hows, type Texts } from "./look-oracles.test-support.ts";
import { undoOf } from "./undo.ts";

const manifest = (scripts: object): string => JSON.stringify({ name: "x", scripts });
const jsTest = 'import { test } from "node:test";\ntest("a", () => assert.equal(add(1, 2), 3));\n';

describe("what a makefile takes in", () => {
  const before = {
    Makefile: "-include local.mk\ninclude mk/*.mk\ntest:\n\t$(RUN) test/\n",
    "mk/rules.mk": "RUN = node --test\nclean:\n\trm -f x\n",
  };
  test("decides, new or not", async () => {
    expect(await hows(before, { "local.mk": "test:\n\t@true\n" }, ["make test"])).toEqual(["local.mk added"]);
    expect(await hows(before, { "mk/rules.mk": "RUN = true\nclean:\n\trm -f x\n" }, ["make test"])).toEqual(["mk/rules.mk redefined"]);
    expect(await hows(before, { Makefile: `${before.Makefile}check:\n\ttrue\n` }, ["make check"])).toEqual(["Makefile redefined"]);
  });
  test("and what is beside the checks, or taken in by nobody, does not", async () => {
    expect(
      await hows(before, { "mk/rules.mk": "RUN = node --test\nclean:\n\trm -rf x\n", "other.mk": "test:\n\ttrue\n" }, ["make test"]),
    ).toEqual([]);
  });
});

describe("what the base's own scripts start and go by", () => {
  test("a tool that the tests are run with, whatever its name", async () => {
    const before = {
      "package.json": manifest({ test: "node scripts/all.js", start: "node scripts/serve.js" }),
      "scripts/all.js": "a",
      "scripts/serve.js": "a",
    };
    expect(await hows(before, { "scripts/all.js": "process.exit(0)", "scripts/serve.js": "b" }, ["npm test"])).toEqual([
      "scripts/all.js redefined",
    ]);
  });
  test("a configuration or a preloaded file that a command names", async () => {
    const before = {
      "package.json": manifest({ test: "jest --config ci/jest.json && mocha -r ./boot.js" }),
      "ci/jest.json": "{}",
      "boot.js": "1",
    };
    expect(await hows(before, { "ci/jest.json": '{"testMatch":[]}', "boot.js": "2" }, ["npm test"])).toEqual([
      "boot.js redefined",
      "ci/jest.json redefined",
    ]);
  });
  test("a program in the midst of the code is what is judged", async () =>
    expect(
      await hows({ "src/cli.js": "1", "bin/x.js": "1" }, { "src/cli.js": "2", "bin/x.js": "2" }, [
        "node src/cli.js",
        "node bin/x.js --help",
      ]),
    ).toEqual([]));
});

describe("a new file that rules over tests it does not touch", () => {
  const py = { "tests/test_a.py": "def test_a():\n    assert add(1, 2) == 3\n" };
  const go = { "a/a_test.go": "func TestA(t *testing.T) {}\n" };
  test.each<[string, Texts, string, string, string[]]>([
    ["a package of tests that ends the program", py, "tests/__init__.py", "import os\nos._exit(0)\n", []],
    ["a stand-in for what pytest is made of", py, "pluggy.py", "x", []],
    ["Go's own main of tests", go, "a/main_test.go", "package a\nfunc TestMain(m *testing.M) { os.Exit(0) }\n", []],
    ["another workspace of Go", go, "go.work", "use ./fake\n", []],
    ["a tool chain of its own", { "src/lib.rs": "#[test]\nfn a() {}\n" }, "rust-toolchain.toml", '[toolchain]\npath = "x"\n', []],
    ["flags for Maven", { "src/test/java/ATest.java": "@Test" }, ".mvn/maven.config", "-DskipTests\n", []],
    [
      "a listener for JUnit",
      { "src/test/java/ATest.java": "@Test" },
      "src/test/resources/META-INF/services/org.junit.platform.launcher.LauncherSessionListener",
      "x",
      [],
    ],
    [
      "another shell for npm, where there are no tests at all",
      { "package.json": "{}" },
      ".npmrc",
      "script-shell=/bin/true\n",
      ["npm run lint"],
    ],
    ["a mock that jest takes unasked", { "a.test.js": jsTest }, "__mocks__/axios.js", "x", ["npx jest"]],
  ])("%s", async (_what, before, path, text, commands) =>
    expect(await hows(before, { [path]: text }, commands)).toEqual([`${path} added`]),
  );

  test("but not where it is empty, a further test, or a harmless setting", async () => {
    expect(await hows(py, { "tests/__init__.py": '"""Tests."""\n\n# none\n', "tests/test_b.py": "def test_b(): pass\n" })).toEqual([]);
    expect(
      await hows(go, { "a/b_test.go": "package a\nfunc TestB(t *testing.T) {}\n", "b/main_test.go": "func TestMain(m *testing.M) {}\n" }),
    ).toEqual([]);
    expect(await hows({ "a.test.js": jsTest }, { ".npmrc": "save-exact=true\n" }, ["npm test"])).toEqual([]);
  });
});

describe("tests by further conventions", () => {
  test.each([
    "test.js",
    "sum_test.ts",
    "test-sum.mjs",
    "sum-test.js",
    "sumSpec.js",
    "app/tests.py",
    "src/setupTests.ts",
    "integration-tests/a.js",
    "run.bats",
  ])("%s", async (path) => expect(await hows({ [path]: jsTest }, { [path]: "" })).toHaveLength(1));
  test("a name that may mean something else is judged by what it holds", async () => {
    const code = "export const hit = (a, b) => a === b;\n";
    expect(
      await hows({ "src/hit-test.ts": code, "src/JobSpec.ts": code }, { "src/hit-test.ts": `${code}//\n`, "src/JobSpec.ts": "" }),
    ).toEqual([]);
  });
  test("parts that stand in for packages, or switch tasks off", async () => {
    expect(await hows({ "go.mod": "module x\nrequire a v1\n" }, { "go.mod": "module x\nrequire a v1\nreplace a => ./fake\n" })).toEqual([
      "go.mod changed",
    ]);
    expect(await hows({ "go.mod": "module x\n" }, { "go.mod": "module x\nrequire (\n\tb v1\n)\n" })).toEqual([]);
    const settings = 'rootProject.name = "x"\ninclude("a")\n';
    expect(
      await hows(
        { "settings.gradle.kts": settings },
        { "settings.gradle.kts": `${settings}gradle.startParameter.excludedTaskNames += "test"\n` },
      ),
    ).toHaveLength(1);
    expect(await hows({ "settings.gradle.kts": settings }, { "settings.gradle.kts": `${settings}include("b")\n` })).toEqual([]);
    expect(
      await hows(
        { "Cargo.toml": '[package]\nname = "x"\n' },
        { "Cargo.toml": '[package]\nname = "x"\n[patch.crates-io]\na = { path = "fake" }\n' },
      ),
    ).toHaveLength(1);
  });
});

describe("a script that a criterion asks for and that was not there", () => {
  test.each(["exit 0", "true", "echo all tests pass", "vitest run || true", "node --test; exit 0"])("%s cannot fail", async (script) =>
    expect(await hows({ "package.json": manifest({}) }, { "package.json": manifest({ test: script }) }, ["npm test"])).toEqual([
      "package.json redefined",
    ]),
  );
  test("one that can is the work", async () =>
    expect(
      await hows({ "package.json": manifest({}) }, { "package.json": manifest({ test: "node --test", docs: "true" }) }, ["npm test"]),
    ).toEqual([]));
});

describe("code that reaches for its judges", () => {
  test.each([
    ["src/a.js", 'import assert from "node:assert/strict";\nassert.equal = () => {};\n'],
    ["src/a.js", 'import check from "node:assert";\ncheck.ok = check.equal = () => {};\n'],
    ["src/a.ts", "Object.assign(expect, { toBe() {} });\n"],
    ["src/a.cjs", 'process.on("exit", () => { process.exitCode = 0; });\n'],
    ["calc.py", "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n"],
    ["calc.py", "class Any:\n    def __eq__(self, other):\n        return True\n"],
    ["calc.py", 'import pytest\npytest.skip("x", allow_module_level=True)\n'],
    ["calc.py", "class Any(int):\n    __eq__ = lambda self, other: True\n"],
    ["calc.py", "class Base:\n    def assertEqual(self, a, b):\n        pass\n"],
    ["calc.py", "import sys, os\nsys.excepthook = lambda *a: os._exit(0)\n"],
    ["src/a.cjs", 'process.on("uncaughtException", () => {});\n'],
    ["src/a.js", 'process.once("uncaughtException", (error) => process.exit(0));\n'],
    ["src/a.js", 'import { syncBuiltinESMExports } from "node:module";\nsyncBuiltinESMExports();\n'],
  ])("%s: %j", async (path, text) => {
    expect(await hows({}, { [path]: text })).toEqual([`${path} mocked`]);
    expect(await hows({ [path]: "" }, { [path]: text }, [], [path, "**"])).toEqual([`${path} mocked`]);
    expect(await hows({ [path]: text }, { [path]: `${text}\n` })).toEqual([]); // it was so before
  });

  test("is found in code alone, and honest code is let be", async () => {
    const honest =
      'import assert from "node:assert";\n// assert.equal = x\nassert.equal(1, 1);\nconst assertion = assert.ok;\nif (a.equal === b) process.exit(0);\nprocess.exitCode = 1;\nprocess.on("uncaughtException", (error) => { console.error(error); process.exit(1); });\nprocess.on("SIGTERM", () => process.exit(0));\n';
    const python =
      "import os\nclass P:\n    def __eq__(self, other):\n        return True if self.x == other.x else False\nos._exit(0)\nsys.excepthook = report\nkey = lambda one: True\n";
    expect(await hows({}, { "src/a.js": honest, "calc.py": python, "README.md": "assert.equal = 1" })).toEqual([]);
  });

  test("no file of the base stands in for it: it stays in the checkout, and the run fails for it", async () => {
    const [before, after] = [
      { "src/a.js": "1", "a.test.js": jsTest },
      { "src/a.js": "assert.equal = 1;\n", "a.test.js": "" },
    ];
    const parts = { workspace: between(before, after), protect: [], restores: false };
    const { changes } = await lookAtOracles(parts, { base, commit, scope: ["**"], approved: [], checks: [] });
    expect(changes.map(({ path }) => path)).toEqual(["a.test.js", "src/a.js"]);
    expect(await undoOf(parts, { base, commit, changes, commands: [] })).toMatchObject({ paths: ["a.test.js"], without: [], written: [] });
  });
});

describe("what only one file is told", () => {
  const lint = { "package.json": manifest({ lint: "eslint src && mypy ." }), "src/a.ts": "const a = 1;\n", "calc.py": "x = 1\n" };
  test("that no checker is to look at it, in a file that was looked at", async () => {
    expect(await hows(lint, { "src/a.ts": "/* eslint-disable */\nconst a = 1;\n" }, ["npm run lint"])).toEqual(["src/a.ts mocked"]);
    expect(await hows(lint, { "src/a.ts": "// @ts-nocheck\nconst a = 1;\n" }, ["npm run lint"])).toEqual(["src/a.ts mocked"]);
    expect(await hows(lint, { "calc.py": "# mypy: ignore-errors\nx = 1\n" }, ["npm run lint"])).toEqual(["calc.py mocked"]);
  });
  test("but one line may be let be, what is new is often made by a program, and where nobody looks nothing is hidden", async () => {
    const one = "// eslint-disable-next-line no-console\nconsole.log(1); /* eslint-disable no-alert */\n";
    expect(await hows(lint, { "src/a.ts": one, "src/made.ts": "/* eslint-disable */\n" }, ["npm run lint"])).toEqual([]);
    expect(await hows({ "src/a.ts": "1" }, { "src/a.ts": "// @ts-nocheck\n1" }, ["node --test"])).toEqual([]);
  });
});

describe("a new test that bends all tests", () => {
  const py = { "tests/test_a.py": "def test_a():\n    assert 1\n" };
  const bent = "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n";
  test("is found, also where the scope names tests", async () => {
    expect(await hows(py, { "tests/test_b.py": bent }, [], ["tests/**"])).toEqual(["tests/test_b.py mocked"]);
    expect(await hows({}, { "test/b.test.js": 'import assert from "node:assert";\nassert.equal = () => {};\n' })).toHaveLength(1);
  });
  test("and is not there when the others are run", async () => {
    const parts = { workspace: between(py, { ...py, "tests/test_b.py": bent }), protect: [], restores: false };
    const { changes } = await lookAtOracles(parts, { base, commit, scope: ["**"], approved: [], checks: [] });
    expect(await undoOf(parts, { base, commit, changes, commands: [] })).toMatchObject({ paths: [], without: ["tests/test_b.py"] });
  });
  test("but one that stands in for something of its own is the work", async () =>
    expect(
      await hows(py, {
        "test/b.test.js":
          "process.exit = vi.fn();\nObject.defineProperty(process, 'platform', { value: 'win32' });\nglobalThis.expect = chai.expect;\n",
        "tests/test_b.py": "class Any:\n    def __eq__(self, other):\n        return True\npytest.skip('x', allow_module_level=True)\n",
      }),
    ).toEqual([]));
});

test("text made to be slow to read is read in good time", async () => {
  const bad = [
    "assert.",
    "Object.assign(",
    "import x from ",
    "replace (\n",
    "\n \t",
    "def __eq__(",
    'process.on("exit"',
    "pytest.",
    '""" ',
    "echo ;",
    "process.on('uncaughtException',function(",
    "__eq__ = lambda ",
    "add_test(",
    "- 'a'\n",
  ];
  for (const path of [
    "src/a.js",
    "src/a.py",
    "go.mod",
    "CMakeLists.txt",
    "pnpm-workspace.yaml",
    "deno.json",
    "settings.gradle",
    "tests/__init__.py",
    "a_test.go",
    ".npmrc",
  ])
    for (const text of bad)
      await changesIn(
        {
          "tests/test_a.py": "def test_a(): pass\n",
          "b_test.go": "",
          "go.mod": "",
          "CMakeLists.txt": "",
          "pnpm-workspace.yaml": "",
          "deno.json": "{}",
        },
        { [path]: text.repeat(30_000) },
        ["npm test"],
      );
  await changesIn({ "package.json": "{}" }, { "package.json": manifest({ test: `echo ${" ;".repeat(100_000)}` }) }, ["npm test"]);
});
