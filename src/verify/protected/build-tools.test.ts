// What tells a build tool which packages, tasks and tests there are: less of it is a change of what
// judges, more of it is the work.

import { describe, expect, test } from "vitest";
import { restorePackageJson } from "./parts/restore-package-json.ts";
import { describeChanges, type Texts } from "./find-protected.test-support.ts";

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

describe("a package that is left out of a repository of several", () => {
  test.each<[string, string, string, string]>([
    [
      "package.json",
      json({ workspaces: ["a", "b"] }),
      json({ workspaces: ["a"] }),
      json({ workspaces: ["a", "./b/", "c"] }),
    ],
    [
      "package.json",
      json({ workspaces: { packages: ["p/*"] } }),
      json({ workspaces: { packages: ["p/*", "!p/b"] } }),
      json({ workspaces: ["p/*", "q"] }),
    ],
    [
      "pnpm-workspace.yaml",
      "packages:\n  - 'a'\n  - b # two\ncatalog:\n  x: 1\n",
      "packages:\n  - a\n",
      "packages: [a, 'b', c]\ncatalog:\n  x: 2\n",
    ],
    [
      "Cargo.toml",
      '[workspace]\nmembers = ["a", "b"]\n',
      '[workspace]\nmembers = ["a", "b"]\nexclude = ["b"]\n',
      '[workspace]\nmembers = ["a", "b", "c"]\n',
    ],
    [
      "Cargo.toml",
      '[workspace]\nmembers = ["a", "b"]\n',
      '[workspace]\nmembers = ["a"]\n',
      '[workspace]\nmembers = ["b", "a"]\n[workspace.dependencies]\nx = "1"\n',
    ],
    [
      "go.work",
      "go 1.22\nuse (\n\t./a\n\t./b\n)\n",
      "go 1.22\nuse ./a\n",
      "go 1.23\nuse (\n\t./a\n\t./b\n\t./c\n)\n",
    ],
    [
      "settings.gradle",
      'include(":a", ":b")\n',
      'include(":a")\n',
      'include ":a"\ninclude(":b", ":c")\n',
    ],
    [
      "pom.xml",
      "<modules><module>a</module><module>b</module></modules>",
      "<modules><module>a</module></modules>",
      "<modules><module>a</module><module>b</module><module>c</module></modules>",
    ],
    [
      "deno.json",
      json({ workspace: ["./a", "./b"] }),
      json({ workspace: ["./a"] }),
      json({ workspace: ["./a", "./b", "./c"], imports: { x: "y" } }),
    ],
  ])("%s: one less is found, one more is not", async (path, before, less, more) => {
    expect(await describeChanges({ [path]: before }, { [path]: less })).toHaveLength(1);
    expect(await describeChanges({ [path]: before }, { [path]: more })).toEqual([]);
  });

  test("is there again where the verdict is taken, and a further one stays", () => {
    const named = { commands: ["npm test"], usedCommands: [], restores: false };
    const merged = (was: object, is: object): unknown =>
      JSON.parse(restorePackageJson(json(was), json(is), named, false) ?? "null");
    expect(merged({ workspaces: ["a", "b"] }, { name: "x", workspaces: ["a"] })).toEqual({
      name: "x",
      workspaces: ["a", "b"],
    });

    expect(
      merged(
        { workspaces: ["a"], scripts: { test: "t" } },
        { workspaces: ["a", "b"], scripts: { test: "true" } },
      ),
    ).toEqual({
      workspaces: ["a", "b"],
      scripts: { test: "t" },
    });
  });
});

describe("a task or a test of another meaning", () => {
  const cmake =
    "enable_testing()\nadd_test(NAME one COMMAND one) # first\nadd_subdirectory(tests)\nadd_subdirectory(src)\n";
  test.each<[string, Texts, Texts, string[]]>([
    [
      "deno.json",
      { "deno.json": json({ tasks: { test: "deno test" } }) },
      { "deno.json": json({ tasks: { test: "true" } }) },
      [],
    ],
    [
      "a task that a command names",
      { "deno.json": json({ tasks: { all: "deno test" } }) },
      { "deno.json": json({ tasks: { all: "true" } }) },
      ["deno task all"],
    ],
    [
      "Nx's target",
      { "a/project.json": json({ targets: { test: { executor: "x" } } }) },
      { "a/project.json": json({ targets: { test: { executor: "noop" } } }) },
      [],
    ],
    [
      "a new project of Nx",
      { "nx.json": "{}", "a/a.ts": "" },
      { "a/project.json": json({ targets: { test: { executor: "noop" } } }) },
      ["npx nx test a"],
    ],
    [
      "a package's own turbo.json",
      { "turbo.json": "{}", "p/a/a.ts": "" },
      { "p/a/turbo.json": "{}" },
      ["npx turbo run test"],
    ],
    [
      "CMake: a test gone",
      { "CMakeLists.txt": cmake },
      { "CMakeLists.txt": cmake.replace(/add_test.*/, "") },
      [],
    ],
    [
      "CMake: one that may fail",
      { "CMakeLists.txt": cmake },
      { "CMakeLists.txt": `${cmake}set_tests_properties(one PROPERTIES WILL_FAIL TRUE)\n` },
      [],
    ],
    [
      "CMake: its folder left out",
      { "CMakeLists.txt": cmake },
      { "CMakeLists.txt": cmake.replace("add_subdirectory(tests)\n", "") },
      [],
    ],
    [
      "ctest's own file",
      { "CMakeLists.txt": cmake },
      { "CTestCustom.cmake": "set(CTEST_CUSTOM_TESTS_IGNORE one)\n" },
      ["ctest --test-dir build"],
    ],
    [
      "a script of Gradle",
      { "gradle/tests.gradle": "test {\n  useJUnitPlatform()\n}\n" },
      { "gradle/tests.gradle": "test {\n  enabled = false\n}\n" },
      [],
    ],
    [
      "Gradle's properties",
      { "gradle.properties": "version=1\n" },
      { "gradle.properties": "version=1\nskipTests=true\n" },
      [],
    ],
    [
      "phpunit.xml before phpunit.xml.dist",
      { "phpunit.xml.dist": "<phpunit/>", "tests/ATest.php": "" },
      { "phpunit.xml": "<phpunit/>" },
      [],
    ],
    ["rspec's own options", { "spec/a_spec.rb": "" }, { ".rspec": "--tag ~slow\n" }, []],
    [
      "what all specs need",
      { "spec/spec_helper.rb": "a", "spec/a_spec.rb": "" },
      { "spec/spec_helper.rb": "b" },
      [],
    ],
    [
      "a plugin that pytest finds by itself",
      { "tests/test_a.py": "" },
      { "zz.egg-info/entry_points.txt": "[pytest11]\nzz = zz\n" },
      [],
    ],
    ["a module in the place of Python's own", { "tests/test_a.py": "" }, { "decimal.py": "" }, []],
    [
      "a linter's file in a language of its own",
      { ".rubocop.yml": "a" },
      { ".rubocop.yml": "b" },
      [],
    ],
  ])("%s", async (_what, before, change, commands) =>
    expect(await describeChanges(before, change, commands)).toHaveLength(1),
  );

  test("but what is added to them, or beside them, is the work", async () => {
    const before = {
      "deno.json": json({ tasks: { test: "deno test" }, imports: {} }),
      "CMakeLists.txt": cmake,
      "gradle.properties": "version=1\n",
      "a/project.json": json({ targets: { test: { executor: "x" }, serve: {} } }),
      "tests/test_a.py": "",
    };

    const change = {
      "deno.json":
        '{\n  // more\n  "tasks": { "test": "deno test", "dev": "deno run x.ts", },\n  "imports": { "a": "b" }\n}\n',
      "CMakeLists.txt": `${cmake}add_executable(two two.c)\nadd_test(NAME two COMMAND two)\n`,
      "gradle.properties": "version=2\ntestcontainersVersion=1.19\n",
      "a/project.json": json({ targets: { test: { executor: "x" }, serve: { port: 1 } } }),
      "util/json.py": "",
      "spec/plan.md": "",
      "data/project.json": json({ name: "no project of Nx" }),
      // Its own package brings its own settings.
      "b/project.json": json({ targets: { test: { executor: "x" } } }),
      "b/turbo.json": "{}",
      "b/deno.json": json({ tasks: { test: "deno test" } }),
      "b/tsconfig.json": "{}",
      "b/pytest.ini": "",
      "x.egg-info/entry_points.txt": "[console_scripts]\nx = x:main\n",
      "src/Test.php": "",
    };

    const commands = [
      "npx nx test a",
      "ctest",
      "npx turbo run test",
      "deno task test",
      "npx tsc -b",
    ];
    expect(await describeChanges(before, change, commands)).toEqual([]);
  });
});

describe("what has the name of a makefile's rule", () => {
  const before = {
    Makefile: ".PHONY: lint\ncheck: lint unit\nlint:\n\tx\nunit:\n\ty\ndocs:\n\tz\n",
  };

  test("keeps make from running it, be it a file or a folder", async () => {
    expect(await describeChanges(before, { check: "" }, ["make check"])).toEqual(["check added"]);
    expect(await describeChanges(before, { "unit/a.txt": "" }, ["make check"])).toEqual([
      "unit/a.txt added",
    ]);
  });

  test("but not where the rule is phony, is no check, was there already, or where nobody asks make", async () => {
    expect(
      await describeChanges(before, { "lint/a.txt": "", "docs/a.md": "" }, ["make check"]),
    ).toEqual([]);

    expect(
      await describeChanges({ ...before, "check/old.txt": "" }, { "check/a.txt": "" }, [
        "make check",
      ]),
    ).toEqual([]);

    expect(await describeChanges(before, { check: "" }, ["sh run.sh"])).toEqual([]);
  });
});

describe("what a check's own program takes in", () => {
  const before = {
    "package.json": json({
      scripts: { test: "node scripts/all.js", start: "node scripts/serve.mjs" },
    }),
    "scripts/all.js":
      'import { same } from "./same.js";\nimport "./serve.mjs";\nimport { a } from "../src/a.js";\n',
    "scripts/same.js": "1",
    "scripts/serve.mjs": "1",
    "src/a.js": "1",
    "scripts/check.sh":
      '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\nsource ./env.sh\nsh scripts/test-unit.sh\nsh scripts/deploy.sh --dry-run\n',
    "scripts/lib.sh": "1",
    "env.sh": "1",
    "scripts/test-unit.sh": "1",
    "scripts/deploy.sh": "1",
    "tools/verify.py": "from near import close\nfrom calc import add\n",
    "tools/near.py": "1",
    "calc.py": "1",
  };

  const commands = ["npm test", "sh scripts/check.sh", "python3 tools/verify.py"];
  test.each(["scripts/same.js", "scripts/lib.sh", "scripts/test-unit.sh", "tools/near.py"])(
    "%s judges",
    async (path) =>
      expect(await describeChanges(before, { [path]: "2" }, commands)).toEqual([
        `${path} redefined`,
      ]),
  );

  test("what it looks at, or what others use too, does not", async () =>
    expect(
      await describeChanges(
        before,
        {
          "src/a.js": "2",
          "calc.py": "2",
          "env.sh": "2",
          "scripts/serve.mjs": "2",
          "scripts/deploy.sh": "2",
        },
        commands,
      ),
    ).toEqual([]));
});
