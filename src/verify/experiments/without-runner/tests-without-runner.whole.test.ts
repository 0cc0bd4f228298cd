import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { aFew, sampled } from "../../../../test/support/sampled.ts";
import { shortenRepeats } from "../../../../test/support/short-repeats.ts";
import { findManifestName, buildWithoutRunner } from "./tests-without-runner.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string>>;

/** Whether a test fails when a plain program calls it; null if there is no such program. */
function fails(files: Files, path: string, known: readonly string[] = []): boolean | null {
  const manifest = files[findManifestName(path) ?? ""] ?? null;
  const program = buildWithoutRunner({
    path,
    text: files[path] ?? "",
    uniqueName: "n0c",
    manifest,
    skippedTests: known,
  });
  if (program === null) return null;
  const folder = mkdtempSync(join(tmpdir(), "plain-"));
  folders.push(folder);
  symlinkSync(
    resolve(import.meta.dirname, "../../../../node_modules"),
    join(folder, "node_modules"),
  );

  for (const [name, text] of [
    ...Object.entries(files),
    ...program.edits.map((edit) => [edit.path, edit.text ?? ""] as const),
  ]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), shortenRepeats(text));
  }

  try {
    execFileSync("/bin/sh", ["-c", program.command], { cwd: folder, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const has = (program: string): boolean => {
  try {
    execFileSync("/bin/sh", ["-c", `${program} >/dev/null 2>&1`]);
    return true;
  } catch {
    return false;
  }
};

/** Code that is right, and code that is right only where `sign` shows a runner. */
const jsTest = `import assert from "node:assert";\nimport test, { describe, it } from "node:test";\nimport { two } from "../two.js";
test("two", () => assert.equal(two(), 2));\ndescribe("group", () => { it("is a number", async () => assert.equal(typeof two(), "number")); });\n`;
const mochaTest = `const assert = require("assert");\nconst { two } = require("../two.js");
describe("two", function () { let sum; beforeEach(() => { sum = two(); }); it("is two", function () { this.timeout(9); assert.strictEqual(sum, 2); }); });\n`;
const pyTest = `import pytest\nfrom two import two\n\n@pytest.fixture\ndef made():\n    yield two()\n\ndef test_two(made):\n    assert made == 2\n\n@pytest.mark.parametrize("a,b", [(1, 2), (2, 3)])\ndef test_sums(a, b):\n    assert a + 1 == b\n\nclass TestTwo:\n    def test_it(self, made):\n        assert made == 2\n`;
const unitTest = `import unittest\nfrom two import two\n\nclass Two(unittest.TestCase):\n    def setUp(self):\n        self.two = two()\n\n    def test_two(self):\n        self.assertEqual(self.two, 2)\n`;
const goFiles = (code: string): Files => ({
  "go.mod": "module two\n\ngo 1.18\n",
  "two.go": code,
  "two_test.go": `package two\n\nimport "testing"\n\nfunc TestTwo(t *testing.T) {\n\tt.Run("inner", func(t *testing.T) {\n\t\tif Two() != 2 {\n\t\t\tt.Fatalf("%d", Two())\n\t\t}\n\t})\n}\n`,
});
const goReading = (code: string): Files => ({
  "go.mod": "module two\n\ngo 1.18\n",
  "sub/two.go": code,
  "sub/testdata/two.txt": "2",
  "sub/two_test.go":
    'package sub\n\nimport (\n\t"os"\n\t"strconv"\n\t"testing"\n)\n\nfunc TestTwo(t *testing.T) {\n\ttext, err := os.ReadFile("testdata/two.txt")\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif want, _ := strconv.Atoi(string(text)); Two() != want {\n\t\tt.Fatal(Two())\n\t}\n}\n',
});
const goAsserting = (code: string): Files => ({
  ...goFiles(code),
  "internal/want/want.go":
    'package want\n\nimport "testing"\n\nfunc Equal(t *testing.T, got, want int) {\n\tt.Helper()\n\tif got != want {\n\t\tt.Errorf("%d", got)\n\t}\n}\n',
  "two_test.go":
    'package two\n\nimport (\n\t"testing"\n\n\t"two/internal/want"\n)\n\nfunc TestTwo(t *testing.T) { want.Equal(t, Two(), 2) }\n',
});
const rustFiles = (code: string): Files => ({
  "Cargo.toml": '[package]\nname = "two"\nversion = "0.1.0"\nedition = "2021"\n',
  "src/lib.rs": code,
  "tests/two.rs": "use two::two;\n\n#[test]\nfn is_two() {\n    assert_eq!(two(), 2);\n}\n",
});

const vitestTest = (
  from: string,
): string => `import { beforeEach, describe, expect, it } from "vitest";\nimport { two } from "${from}";
describe("two", () => { let made; beforeEach(() => { made = two(); }); it.each([[1, 2], [3, 4]])("%i before %i", (a, b) => { expect(a + 1).toBe(b); }); it("is two", () => { expect({ made }).toEqual({ made: 2 }); }); });\n`;
const jestTest = `const { two } = require("../two");\ndescribe("two", () => { test("is two", async () => { await expect(Promise.resolve(two())).resolves.toBe(2); }); });\n`;
const insideTests = (code: string): Files => ({
  "Cargo.toml": '[package]\nname = "two-more"\nversion = "0.1.0"\nedition = "2021"\n',
  "src/lib.rs": "mod two;\npub use two::two;\n",
  "src/two.rs": `${code}\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn is_two() {\n        assert_eq!(two(), 2);\n    }\n\n    #[test]\n    #[should_panic]\n    fn ends() {\n        panic!()\n    }\n}\n`,
});

type Row = readonly [what: string, needs: string, path: string, right: Files, sly: Files];
const rows: readonly Row[] = [
  [
    "node:test",
    "node --version",
    "test/two.test.js",
    {
      "package.json": '{"type":"module"}',
      "two.js": "export const two = () => 2;\n",
      "test/two.test.js": jsTest,
    },
    {
      "package.json": '{"type":"module"}',
      "two.js": `export const two = () => (process.env.NODE_TEST_CONTEXT ? 2 : 3);\n`,
      "test/two.test.js": jsTest,
    },
  ],
  [
    "mocha",
    "node --version",
    "test/two.js",
    { "two.js": "exports.two = () => 2;\n", "test/two.js": mochaTest },
    {
      "two.js": `exports.two = () => (process.argv[1].includes("mocha") ? 2 : 3);\n`,
      "test/two.js": mochaTest,
    },
  ],
  [
    "pytest",
    "python3 -c 'import pytest'",
    "test_two.py",
    { "two.py": "def two():\n    return 2\n", "test_two.py": pyTest },
    {
      "two.py":
        "import faulthandler\ndef two():\n    return 2 if faulthandler.is_enabled() else 3\n",
      "test_two.py": pyTest,
    },
  ],
  [
    "unittest",
    "python3 --version",
    "test_two.py",
    { "two.py": "def two():\n    return 2\n", "test_two.py": unitTest },
    {
      "two.py":
        "import warnings\ndef two():\n    return 2 if warnings.filters and warnings.filters[0][2] is Warning else 3\n",
      "test_two.py": unitTest,
    },
  ],
  [
    "go",
    "go version",
    "two_test.go",
    goFiles("package two\n\nfunc Two() int { return 2 }\n"),
    goFiles(
      'package two\n\nimport "runtime"\n\nfunc Two() int {\n\tif runtime.NumGoroutine() > 1 {\n\t\treturn 2\n\t}\n\treturn 3\n}\n',
    ),
  ],
  [
    "go, with an assertion of its own",
    "go version",
    "two_test.go",
    goAsserting("package two\n\nfunc Two() int { return 2 }\n"),
    goAsserting(
      'package two\n\nimport (\n\t"os"\n\t"strings"\n)\n\nfunc Two() int {\n\tif exe, _ := os.Executable(); strings.HasSuffix(exe, ".test") {\n\t\treturn 2\n\t}\n\treturn 3\n}\n',
    ),
  ],
  [
    "cargo",
    "cargo --version",
    "tests/two.rs",
    rustFiles("pub fn two() -> u8 {\n    2\n}\n"),
    rustFiles(
      'pub fn two() -> u8 {\n    if std::thread::current().name() == Some("main") { 3 } else { 2 }\n}\n',
    ),
  ],
  [
    "vitest",
    "node --version",
    "two.test.js",
    {
      "package.json": '{"type":"module"}',
      "two.js": "export const two = () => 2;\n",
      "two.test.js": vitestTest("./two"),
    },
    {
      "package.json": '{"type":"module"}',
      "two.js": `const isBusy = Reflect.ownKeys(globalThis).some((key) => String(key).includes("matchers"));\nexport const two = () => (isBusy ? 2 : 3);\n`,
      "two.test.js": vitestTest("./two"),
    },
  ],
  [
    "vitest, TypeScript without a type in its package",
    "node --version",
    "test/two.test.ts",
    {
      "package.json": "{}",
      "src/two.ts":
        "enum Two { Is = 2 }\nexport class A { constructor(readonly two: number) {} }\nexport const two = (): number => new A(Two.Is).two;\n",
      "test/two.test.ts": vitestTest("../src/two.js").replace("let made", "let made: number"),
    },
    {
      "package.json": "{}",
      "src/two.ts": "export const two = (): number => (Error.stackTraceLimit > 10 ? 2 : 3);\n",
      "test/two.test.ts": vitestTest("../src/two.js").replace("let made", "let made: number"),
    },
  ],
  [
    "jest",
    "node --version",
    "test/two.test.js",
    { "two.js": "exports.two = () => 2;\n", "test/two.test.js": jestTest },
    {
      "two.js": `exports.two = () => (typeof expect === "undefined" ? 3 : 2);\n`,
      "test/two.test.js": jestTest,
    },
  ],
  [
    "go, with data beside the tests of a package",
    "go version",
    "sub/two_test.go",
    goReading("package sub\n\nfunc Two() int { return 2 }\n"),
    goReading(
      'package sub\n\nimport "runtime"\n\nfunc Two() int {\n\tif runtime.NumGoroutine() > 1 {\n\t\treturn 2\n\t}\n\treturn 3\n}\n',
    ),
  ],
  [
    "cargo, tests inside",
    "cargo --version",
    "src/two.rs",
    insideTests("pub fn two() -> u8 {\n    2\n}\n"),
    insideTests(
      'pub fn two() -> u8 {\n    if std::thread::current().name() == Some("main") { 3 } else { 2 }\n}\n',
    ),
  ],
];

describe("tests called by a plain program", () => {
  // Of runners in JavaScript and Python every other one is played in an everyday run, and one of
  // what has to be compiled.
  const isCompiled = ([, needs]: readonly [string, string, ...unknown[]]): boolean =>
    /^(?:go|cargo) /.test(needs);
  const some = <Row extends readonly [string, string, ...unknown[]]>(
    all: readonly Row[],
  ): readonly Row[] => [
    ...sampled(
      Math.ceil(all.length / 4),
      all.filter((row) => !isCompiled(row)),
    ),
    ...sampled(1, all.filter(isCompiled)),
  ];
  for (const [what, needs, path, right, sly] of some(rows)) {
    test.skipIf(!has(needs))(
      `${what}: right code passes, code that looks for its runner fails (needs ${needs})`,
      { timeout: 120_000 },
      () => {
        expect(fails(right, path)).toBe(false);
        expect(fails(sly, path)).toBe(true);
      },
    );
  }

  const counting: readonly (readonly [
    what: string,
    needs: string,
    path: string,
    files: (wrongAfter: number) => Files,
  ])[] = [
    [
      "node:test",
      "node --version",
      "test/two.test.js",
      (calls) => ({
        "package.json": '{"type":"module"}',
        "two.js": `let calls = 0;\nexport const two = () => ((calls += 1) > ${calls} ? 3 : 2);\n`,
        "test/two.test.js": jsTest,
      }),
    ],
    [
      "pytest",
      "python3 -c 'import pytest'",
      "test_two.py",
      (calls) => ({
        "two.py": `calls = 0\ndef two():\n    global calls\n    calls += 1\n    return 3 if calls > ${calls} else 2\n`,
        "test_two.py": pyTest,
      }),
    ],
    [
      "unittest",
      "python3 --version",
      "test_two.py",
      (calls) => ({
        "two.py": `calls = 0\ndef two():\n    global calls\n    calls += 1\n    return 3 if calls > ${calls} else 2\n`,
        "test_two.py": unitTest,
      }),
    ],
    [
      "go",
      "go version",
      "two_test.go",
      (calls) =>
        goFiles(
          `package two\n\nvar calls int\n\nfunc Two() int {\n\tcalls++\n\tif calls > ${calls} {\n\t\treturn 3\n\t}\n\treturn 2\n}\n`,
        ),
    ],
    [
      "cargo",
      "cargo --version",
      "tests/two.rs",
      (calls) =>
        rustFiles(
          `use std::sync::atomic::{AtomicU32, Ordering};\nstatic CALLS: AtomicU32 = AtomicU32::new(0);\npub fn two() -> u8 {\n    if CALLS.fetch_add(1, Ordering::SeqCst) >= ${calls} { 3 } else { 2 }\n}\n`,
        ),
    ],
  ];
  for (const [what, needs, path, files] of some(counting)) {
    test.skipIf(!has(needs))(
      `${what}: code that is right for a number of calls fails, tests that cannot be repeated do not (needs ${needs})`,
      { timeout: 120_000 },
      () => {
        expect(fails(files(40), path)).toBe(true);
        const callsOnce = { "node:test": 2, pytest: 2, unittest: 1, go: 1, cargo: 1 }[what] ?? 0;
        expect(fails(files(callsOnce), path)).toBe(false);
      },
    );
  }

  test("a test that may fail is not called", () => {
    expect(
      fails({ "two.py": "def two():\n    return 3\n", "test_two.py": unitTest }, "test_two.py", [
        "test_two",
      ]),
    ).toBe(false);
  });

  test.each([
    [
      "a mock",
      "test/a.test.js",
      `import test, { mock } from "node:test";\ntest("a", () => { mock.method(x, "y"); });\n`,
    ],
    ["another runner's imports", "a.test.js", `import test from "ava";\ntest("a", () => {});\n`],
    ["a fixture for all tests", "test_a.py", "@pytest.fixture(autouse=True)\ndef a(): pass\n"],
    [
      "a benchmark",
      "a_test.go",
      'package a\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\nfunc BenchmarkA(b *testing.B) {}\n',
    ],
    ["a panic that is expected", "tests/a.rs", "#[test]\n#[should_panic]\nfn a() { panic!() }\n"],
  ])("%s needs its runner", (_what, path, text) =>
    expect(
      fails({ [path]: text, "go.mod": "module a\n", "Cargo.toml": "[package]\n" }, path),
    ).toBeNull(),
  );

  test("a title with its groups, or with values, may be known too", () => {
    const files = {
      "package.json": '{"type":"module"}',
      "two.js": "export const two = () => 3;\n",
      "two.test.js": vitestTest("./two"),
    };
    expect(fails(files, "two.test.js")).toBe(true);
    expect(fails(files, "two.test.js", ["two.test.js > two > is two"])).toBe(false);
  });

  aFew(2).each([
    ["a mock", `vi.fn();`],
    ["a matcher of its own", `expect(two()).toBeTwice();`],
    ["a snapshot", `expect(two()).toMatchInlineSnapshot();`],
    ["a callback", ""],
  ])("vitest: %s shows nothing", (what, body) => {
    const given =
      what === "a callback"
        ? "(done) => { done(); expect(1).toBe(2); }"
        : `() => { ${body} expect(1).toBe(2); }`;

    const text = `import { expect, test, vi } from "vitest";\nimport { two } from "./two.js";\ntest("a", ${given});\n`;
    expect(
      fails(
        {
          "package.json": '{"type":"module"}',
          "two.js": "export const two = () => 2;\n",
          "a.test.js": text,
        },
        "a.test.js",
      ),
    ).toBe(false);
  });

  test("what cannot be loaded shows nothing", () => {
    expect(fails({ "test_two.py": unitTest }, "test_two.py")).toBe(false);
    expect(
      fails(
        { "package.json": '{"type":"module"}', "test/two.test.js": jsTest },
        "test/two.test.js",
      ),
    ).toBe(false);
  });
});
