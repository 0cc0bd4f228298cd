// What was done to a protected file: one row a trick, in the languages whose conventions are known.

import { describe, expect, test } from "vitest";
import { judgeProtected, type ChangedFile, type ProtectionRules } from "./judge.ts";
import { judged, type Texts } from "./judge.test-support.ts";
import { createRowFinder } from "./protect.ts";

const hows = (before: Texts, after: Texts, more = {}) =>
  judged(before, after, more).changes.map(({ path, how }) => `${path} ${how}`);

const rows = (
  table: readonly (readonly [path: string, before: string, how: string, after: string])[],
) => table.map(([path, before, how, after]) => ({ path, before, how, after }));

const js =
  'import { add } from "./add.js";\ntest("adds", () => {\n  expect(add(1, 2)).toBe(3);\n  expect(add(2, 2)).toBe(4);\n});\ntest("none", () => {\n  expect(add()).toBe(0);\n});\n';
const py =
  "def test_a():\n    assert add(1, 2) == 3\n    assert add(2, 2) == 4\n\ndef test_b():\n    assert add(0, 0) == 0\n";
const go =
  'func TestA(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Errorf("no")\n\t}\n}\nfunc TestB(t *testing.T) {\n\tt.Fatal("x")\n}\n';
const rs =
  "#[test]\nfn a() {\n    assert_eq!(add(1, 2), 3);\n}\n#[test]\nfn b() {\n    assert!(add(0, 0) == 0);\n}\n";
const java =
  "class ATest {\n  @Test void a() { assertEquals(3, add(1, 2)); }\n  @Test void b() { assertTrue(add(0, 0) == 0); }\n}\n";

describe("tests", () => {
  test.each(
    rows([
      ["a.test.ts", js, "skipped", js.replace('test("adds"', 'test.skip("adds"')],
      ["a.test.ts", js, "skipped", js.replace('test("adds"', 'xit("adds"')],
      ["a.test.ts", js, "skipped", `describe.skip("all", () => {\n${js}});\n`],
      ["a.test.ts", js, "focused", js.replace('test("none"', 'test.only("none"')],
      ["a.test.ts", js, "focused", js.replace('test("none"', 'fit("none"')],
      ["a.test.ts", js, "weakened", js.replace("  expect(add(2, 2)).toBe(4);\n", "")],
      [
        "a.test.ts",
        js,
        "weakened",
        js.replace("  expect(add(2, 2)).toBe(4);\n", "  // expect(add(2, 2)).toBe(4);\n"),
      ],
      [
        "a.test.ts",
        js,
        "weakened",
        js.replace("expect(add(2, 2)).toBe(4)", "expect(true).toBe(true)"),
      ],
      ["a.test.ts", js, "mocked", `vi.mock("./add.js", () => ({ add: () => 3 }));\n${js}`],
      [
        "a.test.ts",
        js.replace(".toBe(4)", ".toBeCloseTo(4, 5)"),
        "loosened",
        js.replace(".toBe(4)", ".toBeCloseTo(4, 1)"),
      ],
      ["a.test.ts", js, "changed", js.replace(".toBe(3)", ".toBe(5)")],
      ["a.test.ts", js, "changed", `${js}test("more", () => {\n  expect(1).toBe(add(1));\n});\n`],
      ["tests/test_a.py", py, "skipped", py.replace("def test_b", "@pytest.mark.skip\ndef test_b")],
      ["tests/test_a.py", py, "weakened", py.replace("    assert add(2, 2) == 4\n", "")],
      ["tests/test_a.py", py, "weakened", py.slice(0, py.indexOf("def test_b"))],
      [
        "tests/test_a.py",
        py,
        "mocked",
        py.replace("def test_a", '@patch("add.add", return_value=3)\ndef test_a'),
      ],
      [
        "tests/test_a.py",
        py.replace("== 4", "== approx(4, rel=1e-6)"),
        "loosened",
        py.replace("== 4", "== approx(4, rel=1e-1)"),
      ],
      [
        "a_test.go",
        go,
        "skipped",
        go.replace("func TestB(t *testing.T) {", "func TestB(t *testing.T) {\n\tt.Skip()"),
      ],
      ["a_test.go", go, "skipped", `//go:build ignore\n\n${go}`],
      ["a_test.go", go, "weakened", go.slice(0, go.indexOf("func TestB"))],
      ["tests/a.rs", rs, "skipped", rs.replace("#[test]\nfn b", "#[test]\n#[ignore]\nfn b")],
      ["tests/a.rs", rs, "weakened", rs.replace("assert_eq!(add(1, 2), 3);", "add(1, 2);")],
      [
        "src/test/java/ATest.java",
        java,
        "skipped",
        java.replace("@Test void b", "@Disabled @Test void b"),
      ],
      [
        "src/test/java/ATest.java",
        java,
        "weakened",
        java.replace("assertTrue(add(0, 0) == 0);", ""),
      ],
    ]),
  )("$path: $how, row %#", ({ path, how, before, after }) => {
    expect(before).not.toBe(after);
    const { changes } = judged({ [path]: before }, { [path]: after });
    expect(changes).toMatchObject([
      {
        path,
        how,
        kind: "test",
        allowed: null,
        detail: expect.stringMatching(/^[A-Z0-9].*\.$/) as string,
      },
    ]);
  });

  test("deleted, moved, made something else", () => {
    expect(hows({ "test/a.test.ts": js }, {})).toEqual(["test/a.test.ts deleted"]);
    expect(hows({ "test/a.test.ts": js }, { "old/a.ts.bak": js })).toEqual([
      "test/a.test.ts renamed",
    ]);

    const binary: ChangedFile = {
      difference: { path: "test/a.bin", kind: "changed", was: "1", is: "2" },
      before: null,
      after: null,
    };

    const setting: ProtectionRules = {
      base: new Set(),
      rowOf: createRowFinder([]),
      named: { commands: [], usedCommands: [], restores: false },
    };

    expect(
      judgeProtected({
        changedFiles: [binary],
        moved: new Map(),
        rules: setting,
        scope: ["**"],
        approved: [],
      }).changes,
    ).toMatchObject([{ how: "changed" }]);
  });

  test("a new test file, a word in a comment or a string, and code are no changes of an oracle", () => {
    expect(hows({ "src/a.ts": "1" }, { "src/a.ts": "2", "test/new.test.ts": js })).toEqual([]);
    expect(hows({ "a.test.ts": js }, { "a.test.ts": `// it.skip and test.only\n${js}` })).toEqual([
      "a.test.ts changed",
    ]);
    const text = js.replace('"none"', '"it.skip and test.only"');
    expect(hows({ "a.test.ts": js }, { "a.test.ts": text })).toEqual(["a.test.ts changed"]);
  });
});

describe("what configures them", () => {
  test.each(
    rows([
      [
        "vitest.config.ts",
        "export default { test: { coverage: { thresholds: { lines: 90 } } } };",
        "loosened",
        "export default { test: { coverage: { thresholds: { lines: 10 } } } };",
      ],
      [
        "vitest.config.ts",
        "export default { test: {} };",
        "skipped",
        'export default { test: { exclude: ["test/hard/**"] } };',
      ],
      [
        "vitest.config.ts",
        "export default { test: { testTimeout: 1000 } };",
        "loosened",
        "export default { test: { testTimeout: 100000 } };",
      ],
      [".coveragerc", "[report]\nfail_under = 90\n", "loosened", "[report]\nfail_under = 1\n"],
      [".nycrc", '{"check-coverage": true, "lines": 90}', "loosened", '{"lines": 90}'],
      [
        "tsconfig.json",
        '{"compilerOptions": {"strict": true}}',
        "loosened",
        '{"compilerOptions": {"strict": false}}',
      ],
      [
        ".eslintrc.json",
        '{"rules": {"no-eval": "error"}}',
        "loosened",
        '{"rules": {"no-eval": "off"}}',
      ],
      [".github/workflows/ci.yml", "run: npm test\n", "loosened", "run: npm test || true\n"],
      ["src/__snapshots__/a.snap", "exports[`a`] = `1`;\n", "changed", "exports[`a`] = `2`;\n"],
      [
        "setup.cfg",
        "[metadata]\nname = x\n[tool:pytest]\ntestpaths = tests\n",
        "changed",
        "[metadata]\nname = x\n[tool:pytest]\ntestpaths = none\n",
      ],
      [
        "pyproject.toml",
        '[project]\nname = "x"\n[tool.coverage.report]\nfail_under = 90\n',
        "loosened",
        '[project]\nname = "x"\n[tool.coverage.report]\nfail_under = 10\n',
      ],
      [
        "Cargo.toml",
        '[package]\nname = "x"\n[lints.clippy]\nall = "deny"\n',
        "changed",
        '[package]\nname = "x"\n[lints.clippy]\nall = "allow"\n',
      ],
      [
        "pom.xml",
        "<plugin><artifactId>maven-surefire-plugin</artifactId></plugin>",
        "changed",
        "<plugin><artifactId>maven-surefire-plugin</artifactId><skip>1</skip></plugin>",
      ],
      [
        "build.gradle",
        "test {\n  useJUnitPlatform()\n}\n",
        "loosened",
        "test {\n  useJUnitPlatform()\n  ignoreFailures = true\n}\n",
      ],
    ]),
  )("$path: $how, row %#", ({ path, how, before, after }) => {
    expect(hows({ [path]: before }, { [path]: after })).toEqual([`${path} ${how}`]);
  });

  const manifest = (more: object): string =>
    JSON.stringify({
      name: "x",
      scripts: { test: "vitest run", start: "node ." },
      dependencies: { a: "1" },
      ...more,
    });
  test.each([
    [
      "the test script",
      manifest({ scripts: { test: "exit 0", start: "node ." } }),
      'Scripts.test is "exit 0" now, before it was "vitest run".',
    ],
    ["|| true", manifest({ scripts: { test: "vitest run || true", start: "node ." } }), "|| true"],
    ["the script is gone", manifest({ scripts: { start: "node ." } }), "is gone"],
    [
      "a hook before it",
      manifest({ scripts: { pretest: "cp stub.js src/", test: "vitest run", start: "node ." } }),
      "Scripts.pretest is new",
    ],
  ])("package.json redefined: %s", (_what, after, message) => {
    const { changes } = judged({ "package.json": manifest({}) }, { "package.json": after });
    expect(changes).toMatchObject([
      { kind: "scripts", how: "redefined", detail: expect.stringContaining(message) as string },
    ]);
  });

  test("package.json: a script that does what it did, and more, is no other one", () => {
    const change = (script: string) =>
      hows(
        { "package.json": manifest({}) },
        { "package.json": manifest({ scripts: { test: script, start: "node ." } }) },
      );
    expect(change("vitest run && node scripts/links.js")).toEqual(["package.json extended"]);
    expect(change("tsc && vitest run")).toEqual(["package.json extended"]);
    expect(change("vitest run --bail")).toEqual(["package.json redefined"]);
    expect(change("vitest run; node scripts/links.js")).toEqual(["package.json redefined"]);
  });

  test("package.json: jest's part decides, dependencies, other scripts and further ones do not", () => {
    expect(
      hows(
        { "package.json": manifest({ jest: { coverageThreshold: { global: { lines: 80 } } } }) },
        { "package.json": manifest({ jest: { coverageThreshold: { global: { lines: 8 } } } }) },
      ),
    ).toEqual(["package.json loosened"]);

    const honest = manifest({
      scripts: { test: "vitest run", start: "node dist", docs: "typedoc" },
      dependencies: { a: "2", b: "1" },
      devDependencies: { c: "1" },
    });

    expect(hows({ "package.json": manifest({}) }, { "package.json": honest })).toEqual([]);
    expect(
      hows(
        { "package.json": manifest({}) },
        { "package.json": honest },
        { commands: ["npm run start"] },
      ),
    ).toEqual(["package.json redefined"]);
  });

  test("a makefile: the rules that checks run with all they lead to, and no others", () => {
    const before =
      "CC = gcc\nRUN = ./run\n.PHONY: test\ntest: build unit\n\t$(RUN) all\nunit:\n\t./unit\nbuild:\n\t$(CC) x.c\nclean:\n\trm -f x\n";
    const change = (from: string, to: string) =>
      hows({ Makefile: before }, { Makefile: before.replace(from, to) });
    expect(change("./unit", "true")).toEqual(["Makefile redefined"]);
    expect(change("RUN = ./run", "RUN = true")).toEqual(["Makefile redefined"]);
    expect(hows({ Makefile: before }, { Makefile: `SHELL = /bin/true\n${before}` })).toEqual([
      "Makefile redefined",
    ]);

    // A rule with all it had, and more, is no other one.
    expect(change("test: build unit", "test: build more unit")).toEqual(["Makefile extended"]);
    expect(change("\t./unit", "\t./unit\n\t./more")).toEqual(["Makefile extended"]);
    expect(change("test: build unit", "test: unit build")).toEqual(["Makefile redefined"]);
    expect(change("rm -f x", "rm -f x y")).toEqual([]);
    expect(hows({ Makefile: before }, { Makefile: `${before}docs:\n\ttouch docs\n` })).toEqual([]);
  });

  test("tests may use the names that the goal asks for", () => {
    const before = 'test("a", () => {\n  assert.equal(getItem(1), 2);\n});\n';
    const judge = (after: string) =>
      judged(
        { "test/a.test.js": before },
        { "test/a.test.js": after },
        { goal: "Rename getItem to lookup." },
      ).changes.map(({ how, allowed }) => [how, allowed]);
    expect(judge(before.replace("getItem(1)", "lookup(1)"))).toEqual([["changed", "goal"]]);
    const skipped = before.replace("getItem(1)", "lookup(1)").replace("test(", "test.skip(");
    expect(judge(skipped)).toEqual([["skipped", null]]);
    expect(judge(before.replace("assert.equal(getItem(1), 2)", "lookup(1)"))).toEqual([
      ["weakened", null],
    ]);
  });

  test("settings of a linter may be what the goal asks for, unless they are loosened", () => {
    const judge = (after: string) =>
      judged(
        { ".eslintrc.json": '{\n  "rules": {\n    "eqeqeq": "error"\n  }\n}\n' },
        { ".eslintrc.json": after },
        { goal: "Switch on the ESLint rule no-var." },
      ).changes.map(({ how, allowed }) => [how, allowed]);
    const rules = (more: string) => `{\n  "rules": {\n    ${more}\n  }\n}\n`;
    expect(judge(rules('"eqeqeq": "error", "no-var": "error"'))).toEqual([["changed", "goal"]]);
    expect(judge(rules('"eqeqeq": "off", "no-var": "error"'))).toEqual([["loosened", null]]);
  });

  test("Rust's tests beside the code follow a name that the goal asks to change", () => {
    const before = `pub fn parse(s: &str) {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn parses() {\n        assert_eq!(parse("a"), 1);\n    }\n}\n`;
    const judge = (after: string, goal: string) =>
      judged({ "src/lib.rs": before }, { "src/lib.rs": after }, { goal }).changes.map(
        ({ how, allowed }) => [how, allowed],
      );
    const renamed = before.replaceAll("parse(", "parse_line(");
    expect(judge(renamed, "Rename parse to parse_line")).toEqual([["changed", "goal"]]);
    expect(judge(renamed, "Change src/lib.rs")).toEqual([["changed", null]]);
  });

  test("Rust's tests beside the code: each of them decides, the code and further tests do not", () => {
    const before = `pub fn add(a: i32, b: i32) -> i32 { a + b }\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    ${rs.replaceAll("\n", "\n    ")}\n}\n`;
    const change = (from: string, to: string) =>
      hows({ "src/lib.rs": before }, { "src/lib.rs": before.replace(from, to) });
    expect(change("a + b", "b + a")).toEqual([]);
    expect(
      change(
        "    #[test]\n    fn a",
        "    #[test]\n    fn c() { assert!(true); }\n    #[test]\n    fn a",
      ),
    ).toEqual([]);

    expect(change("#[test]\n    fn b", "#[test]\n    #[ignore]\n    fn b")).toEqual([
      "src/lib.rs skipped",
    ]);

    expect(change("assert_eq!(add(1, 2), 3);", "")).toEqual(["src/lib.rs weakened"]);
    expect(change("add(1, 2), 3)", "add(1, 2), 4)")).toEqual(["src/lib.rs changed"]);
    expect(change("use super::*;", "fn add(_: i32, _: i32) -> i32 { 3 }")).toEqual([
      "src/lib.rs changed",
    ]);

    // A helper of further tests; not one that takes the place of what the others call.
    const helper = (text: string) => change("use super::*;", `use super::*;\n    ${text}`);
    expect(helper("fn sum(of: &[i32]) -> i32 { of.iter().fold(0, |a, b| add(a, *b)) }")).toEqual(
      [],
    );
    expect(helper("fn add(_: i32, _: i32) -> i32 { 3 }")).toEqual(["src/lib.rs changed"]);
    expect(helper("static ZERO: i32 = 0;")).toEqual(["src/lib.rs changed"]);

    expect(
      hows({ "src/lib.rs": before }, { "src/lib.rs": before.slice(0, before.indexOf("#[cfg")) }),
    ).toHaveLength(1);
  });

  test("a module of new Rust tests beside those that were there is the work, unless it brings macros", () => {
    const before =
      "pub fn f() -> u8 { 1 }\n\n#[cfg(test)]\nmod test {\n    use super::*;\n    #[test]\n    fn a() { assert_eq!(f(), 1); }\n}\n";
    const appended = (more: string) =>
      hows(
        { "src/lib.rs": before },
        { "src/lib.rs": `${before}\n${more}` },
        { scope: ["src/lib.rs"] },
      );

    const added =
      "pub fn g() -> u8 { 2 }\n\n#[cfg(test)]\nmod one_shot {\n    fn two() -> u8 { 2 }\n    #[test]\n    fn a() { assert_eq!(super::g(), two()); }\n}\n";
    expect(appended(added)).toEqual([]);
    expect(
      appended(added.replace("fn two", "macro_rules! assert_eq { () => {} }\n    fn two")),
    ).toEqual(["src/lib.rs changed"]);

    expect(appended(added.replace("mod one", "#[macro_use]\nmod one"))).toEqual([
      "src/lib.rs changed",
    ]);

    // A test of the same name elsewhere hides no change of the first.
    const twice = before + added;
    expect(
      hows({ "src/lib.rs": twice }, { "src/lib.rs": twice.replace("assert_eq!(f(), 1);", "") }),
    ).toEqual(["src/lib.rs weakened"]);

    expect(
      hows(
        { "src/lib.rs": before },
        {
          "src/lib.rs": before.replace("use super::*;", "use super::*;\n    use crate::assert_eq;"),
        },
      ),
    ).toEqual(["src/lib.rs changed"]);
  });

  test("a lock file decides only where dependencies are restored from it", () => {
    const [before, after] = [{ "package-lock.json": "{}" }, { "package-lock.json": '{"a":1}' }];
    expect(hows(before, after)).toEqual([]);
    expect(hows(before, after, { restores: true })).toEqual(["package-lock.json changed"]);
  });
});

describe("new files", () => {
  const there = { "test/a.test.ts": js, "src/a.ts": "1" };
  test.each([
    ["vitest.config.ts", "export default {};", {}],
    ["test/.mocharc.json", "{}", {}],
    [".npmrc", "script-shell=/bin/true", {}],
    ["node_modules/vitest/index.js", "x", {}],
    [".eslintrc.json", "{}", { commands: ["npx eslint ."] }],
    ["tsconfig.json", "{}", { commands: ["npx tsc -p ."] }],
  ])("%s would rule over what was there", (path, text, more) =>
    expect(hows(there, { ...there, [path]: text }, more)).toEqual([`${path} added`]),
  );

  test("of Python, Rust, Java and make", () => {
    const py1 = { "tests/test_a.py": py };
    for (const [path, text] of [
      ["conftest.py", "x"],
      ["pytest.ini", "x"],
      ["pytest.py", "x"],
      ["setup.cfg", "[tool:pytest]\naddopts = --co\n"],
      ["pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--co'\n"],
    ] as const) {
      expect(hows(py1, { ...py1, [path]: text })).toEqual([`${path} added`]);
    }

    expect(
      hows(py1, { ...py1, "setup.cfg": "[metadata]\nname = x\n", "vitest.config.ts": "x" }),
    ).toEqual([]);

    expect(hows({ "src/lib.rs": rs }, { "src/lib.rs": rs, ".cargo/config.toml": "x" })).toEqual([
      ".cargo/config.toml added",
    ]);

    const java1 = { "app/src/test/java/ATest.java": java };
    expect(hows(java1, { ...java1, "app/build.gradle": "test { enabled = false }" })).toEqual([
      "app/build.gradle added",
    ]);

    expect(
      hows(
        { Makefile: "test:\n\tx\n" },
        { Makefile: "test:\n\tx\n", GNUmakefile: "test:\n\ttrue\n" },
      ),
    ).toEqual(["GNUmakefile added"]);
  });

  test("where nothing was there to rule over, they are the work", () => {
    expect(
      hows(
        { "src/a.ts": "1" },
        {
          "src/a.ts": "1",
          "vitest.config.ts": "x",
          "tsconfig.json": "{}",
          ".eslintrc.json": "{}",
          "test/a.test.ts": js,
        },
      ),
    ).toEqual([]);

    expect(
      hows(
        { "other/test/a.test.ts": js },
        { "other/test/a.test.ts": js, "web/vitest.config.ts": "x" },
      ),
    ).toEqual([]);
  });
});

describe("who may", () => {
  const [before, after] = [
    { "test/a.test.ts": js, "tsconfig.json": "{}" },
    { "test/a.test.ts": `${js}x();\n`, "tsconfig.json": "{ }" },
  ];

  test("what the scope names is allowed, and the rest is not", () => {
    expect(
      judged(before, after, { scope: ["**", "test/**"] }).changes.map(({ path, allowed }) => [
        path,
        allowed,
      ]),
    ).toEqual([
      ["test/a.test.ts", "scope"],
      ["tsconfig.json", null],
    ]);
  });

  test("an approval holds for exactly this content", () => {
    const { content, changes } = judged(before, after);
    expect(changes.every(({ allowed }) => allowed === null)).toBe(true);
    expect(
      judged(before, after, { approved: [content] }).changes.map(({ allowed }) => allowed),
    ).toEqual(["approved", "approved"]);

    expect(
      judged(before, { ...after, "tsconfig.json": "{  }" }, { approved: [content] }).changes.map(
        ({ allowed }) => allowed,
      ),
    ).toEqual([null, null]);

    expect(
      judged(before, { ...after, "tsconfig.json": "{}" }, { approved: [content] }).changes.map(
        ({ allowed }) => allowed,
      ),
    ).toEqual([null]);
  });
});
