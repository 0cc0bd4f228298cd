// What a run changed of its judges, told from two trees in memory: also what only the commands,
// makefiles and scripts of the base lead to.

import { describe, expect, test } from "vitest";
import { findProtected } from "./find-protected.ts";
import {
  base,
  createTrees,
  commit,
  describeChanges,
  type Texts,
} from "./find-protected.test-support.ts";

const manifest = (scripts: object): string => JSON.stringify({ name: "x", scripts });
const jsTest = 'import { test } from "node:test";\ntest("a", () => assert.equal(add(1, 2), 3));\n';

describe("what a makefile takes in", () => {
  const before = {
    Makefile: "-include local.mk\ninclude mk/*.mk\ntest:\n\t$(RUN) test/\n",
    "mk/rules.mk": "RUN = node --test\nclean:\n\trm -f x\n",
  };

  test("decides, new or not", async () => {
    expect(
      await describeChanges(before, { "local.mk": "test:\n\t@true\n" }, ["make test"]),
    ).toEqual(["local.mk added"]);

    expect(
      await describeChanges(before, { "mk/rules.mk": "RUN = true\nclean:\n\trm -f x\n" }, [
        "make test",
      ]),
    ).toEqual(["mk/rules.mk redefined"]);

    expect(
      await describeChanges(before, { Makefile: `${before.Makefile}check:\n\ttrue\n` }, [
        "make check",
      ]),
    ).toEqual(["Makefile redefined"]);
  });

  test("and what is beside the checks, or taken in by nobody, does not", async () => {
    expect(
      await describeChanges(
        before,
        { "mk/rules.mk": "RUN = node --test\nclean:\n\trm -rf x\n", "other.mk": "test:\n\ttrue\n" },
        ["make test"],
      ),
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
    expect(
      await describeChanges(
        before,
        { "scripts/all.js": "process.exit(0)", "scripts/serve.js": "b" },
        ["npm test"],
      ),
    ).toEqual(["scripts/all.js redefined"]);
  });

  test("a configuration or a preloaded file that a command names", async () => {
    const before = {
      "package.json": manifest({ test: "jest --config ci/jest.json && mocha -r ./boot.js" }),
      "ci/jest.json": "{}",
      "boot.js": "1",
    };
    expect(
      await describeChanges(before, { "ci/jest.json": '{"testMatch":[]}', "boot.js": "2" }, [
        "npm test",
      ]),
    ).toEqual(["boot.js redefined", "ci/jest.json redefined"]);
  });

  test("a program in the midst of the code is what is judged", async () =>
    expect(
      await describeChanges(
        { "src/cli.js": "1", "bin/x.js": "1" },
        { "src/cli.js": "2", "bin/x.js": "2" },
        ["node src/cli.js", "node bin/x.js --help"],
      ),
    ).toEqual([]));
});

describe("a new file that rules over tests it does not touch", () => {
  const py = { "tests/test_a.py": "def test_a():\n    assert add(1, 2) == 3\n" };
  const go = { "a/a_test.go": "func TestA(t *testing.T) {}\n" };
  test.each<[string, Texts, string, string, string[]]>([
    [
      "a package of tests that ends the program",
      py,
      "tests/__init__.py",
      "import os\nos._exit(0)\n",
      [],
    ],
    ["a stand-in for what pytest is made of", py, "pluggy.py", "x", []],
    [
      "Go's own main of tests",
      go,
      "a/main_test.go",
      "package a\nfunc TestMain(m *testing.M) { os.Exit(0) }\n",
      [],
    ],
    ["another workspace of Go", go, "go.work", "use ./fake\n", []],
    [
      "a tool chain of its own",
      { "src/lib.rs": "#[test]\nfn a() {}\n" },
      "rust-toolchain.toml",
      '[toolchain]\npath = "x"\n',
      [],
    ],
    [
      "flags for Maven",
      { "src/test/java/ATest.java": "@Test" },
      ".mvn/maven.config",
      "-DskipTests\n",
      [],
    ],
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
    [
      "a mock that jest takes unasked",
      { "a.test.js": jsTest },
      "__mocks__/axios.js",
      "x",
      ["npx jest"],
    ],
  ])("%s", async (_what, before, path, text, commands) =>
    expect(await describeChanges(before, { [path]: text }, commands)).toEqual([`${path} added`]),
  );

  test("but not where it is empty, a further test, or a harmless setting", async () => {
    expect(
      await describeChanges(py, {
        "tests/__init__.py": '"""Tests."""\n\n# none\n',
        "tests/test_b.py": "def test_b(): pass\n",
      }),
    ).toEqual([]);

    expect(
      await describeChanges(go, {
        "a/b_test.go": "package a\nfunc TestB(t *testing.T) {}\n",
        "b/main_test.go": "func TestMain(m *testing.M) {}\n",
      }),
    ).toEqual([]);

    expect(
      await describeChanges({ "a.test.js": jsTest }, { ".npmrc": "save-exact=true\n" }, [
        "npm test",
      ]),
    ).toEqual([]);
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
  ])("%s", async (path) =>
    expect(await describeChanges({ [path]: jsTest }, { [path]: "" })).toHaveLength(1),
  );

  test("a name that may mean something else is judged by what it holds", async () => {
    const code = "export const hit = (a, b) => a === b;\n";
    expect(
      await describeChanges(
        { "src/hit-test.ts": code, "src/JobSpec.ts": code },
        { "src/hit-test.ts": `${code}//\n`, "src/JobSpec.ts": "" },
      ),
    ).toEqual([]);
  });

  test("parts that stand in for packages, or switch tasks off", async () => {
    expect(
      await describeChanges(
        { "go.mod": "module x\nrequire a v1\n" },
        { "go.mod": "module x\nrequire a v1\nreplace a => ./fake\n" },
      ),
    ).toEqual(["go.mod changed"]);

    expect(
      await describeChanges(
        { "go.mod": "module x\n" },
        { "go.mod": "module x\nrequire (\n\tb v1\n)\n" },
      ),
    ).toEqual([]);

    const block = "module x\nrequire (\n\ta v1\n)\nreplace (\n\ta => ../a\n)\n";
    expect(
      await describeChanges({ "go.mod": block }, { "go.mod": block.replace("../a", "./fake") }),
    ).toEqual(["go.mod changed"]);

    expect(
      await describeChanges({ "go.mod": block }, { "go.mod": "module x\nrequire a v1\n" }),
    ).toEqual(["go.mod changed"]);

    expect(
      await describeChanges(
        { "go.work": "go 1.22\n" },
        { "go.work": "go 1.22\nreplace a => ./fake\n" },
      ),
    ).toEqual(["go.work changed"]);

    const added = "module x\nrequire a v1\nrequire b v0.0.0\nreplace b => ./third_party/b\n";
    expect(
      await describeChanges({ "go.mod": "module x\nrequire a v1\n" }, { "go.mod": added }),
    ).toEqual([]); // what stands for a new package

    expect(
      await describeChanges({ "go.mod": "module x\nrequire a v1\n" }, { "go.mod": "module x\n" }),
    ).toEqual([]);

    const settings = 'rootProject.name = "x"\ninclude("a")\n';
    expect(
      await describeChanges(
        { "settings.gradle.kts": settings },
        { "settings.gradle.kts": `${settings}gradle.startParameter.excludedTaskNames += "test"\n` },
      ),
    ).toHaveLength(1);

    expect(
      await describeChanges(
        { "settings.gradle.kts": settings },
        { "settings.gradle.kts": `${settings}include("b")\n` },
      ),
    ).toEqual([]);

    expect(
      await describeChanges(
        { "Cargo.toml": '[package]\nname = "x"\n' },
        { "Cargo.toml": '[package]\nname = "x"\n[patch.crates-io]\na = { path = "fake" }\n' },
      ),
    ).toHaveLength(1);
  });
});

describe("a script that a criterion asks for and that was not there", () => {
  test.each(["exit 0", "true", "echo all tests pass", "vitest run || true", "node --test; exit 0"])(
    "%s cannot fail",
    async (script) =>
      expect(
        await describeChanges(
          { "package.json": manifest({}) },
          { "package.json": manifest({ test: script }) },
          ["npm test"],
        ),
      ).toEqual(["package.json redefined"]),
  );

  test("one that can is the work", async () =>
    expect(
      await describeChanges(
        { "package.json": manifest({}) },
        { "package.json": manifest({ test: "node --test", docs: "true" }) },
        ["npm test"],
      ),
    ).toEqual([]));
});

describe("a file of tests that moves", () => {
  const was =
    'import { add } from "../src/add.js";\ntest("a", () => assert.equal(add(1, 2), 3));\n';
  const allowedIn = async (to: string, text: string) => {
    const parts = {
      workspace: createTrees({ "test/a.test.js": was }, { [to]: text }),
      protect: [],
      restores: false,
      areTriedOut: true,
    };

    const { changes } = await findProtected(parts, {
      base,
      commit,
      scope: ["**"],
      approved: [],
      checks: [],
    });
    return changes.map(({ how, allowed }) => `${how} ${allowed}`);
  };
  test("whole, to where tests are found, needs no leave: only the way to what it imports may be another", async () =>
    expect(await allowedIn("test/unit/a.test.js", was.replace("../src", "../../src"))).toEqual([
      "renamed added",
    ]));

  test("with another expectation, or to where no tests are found, does", async () => {
    expect(await allowedIn("test/unit/a.test.js", was.replace("3)", "4)"))).toEqual([
      "renamed null",
    ]);

    expect(await allowedIn("old/a.js.bak", was)).toEqual(["renamed null"]);
  });
});

test("a check that asks for a rule or script which the base has not is named", async () => {
  const scripts = (more: object): string => JSON.stringify({ scripts: { test: "x", ...more } });
  const before = { "package.json": scripts({}), Makefile: "test:\n\t./run\n" };
  const after = {
    "package.json": scripts({ test: "true", lint: "eslint ." }),
    Makefile: "test:\n\t./run\nlinks:\n\t./links\n",
  };
  const { newChecks } = await findProtected(
    { workspace: createTrees(before, after), protect: [], restores: false },
    {
      base,
      commit,
      scope: ["**"],
      approved: [],
      checks: ["npm test", "npm run lint", "make test", "make links"].map((command) => ({
        id: command,
        kind: "criterion",
        title: command,
        command,
        source: "test",
      })),
    },
  );
  expect(newChecks).toEqual(["npm run lint", "make links"]);
});
