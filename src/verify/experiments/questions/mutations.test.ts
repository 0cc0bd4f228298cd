import { describe, expect, test } from "vitest";
import { replaceAnswers } from "./change-functions.ts";
import { failsIndirectly, findUnnoticed, mutateFunctions } from "./mutations.ts";
import type { Observed } from "../broken-expectations/noticed-flips.ts";

const jsTest = (body: string) => [
  { path: "test/a.test.js", was: null, is: `test("multiplies", () => {\n  ${body}\n});\n` },
];
const changed = (
  path: string,
  is: string,
  was: string | null,
  testPath: string,
  testText: string,
): string | undefined =>
  mutateFunctions([{ path, was, is }], [{ path: testPath, was: null, is: testText }], "n0")
    ?.edits[0]?.text;
const seen = (...failed: string[]): Observed => ({
  passed: failed.length === 0,
  failed: new Set(failed),
  tests: null,
});

describe("the work answers something else", () => {
  const calls = 'test("x", () => { mul(3, 4); });';
  test.each([
    [
      "a.js",
      "export const mul = (a, b) => a * b;\n",
      'export const mul = (a, b) => true ? "n0" : a * b;\n',
    ],
    [
      "a.js",
      "const mul = async (a, b) => {\n  return a * b;\n};\n",
      'const mul = async (a, b) => { return "n0";\n  return a * b;\n};\n',
    ],
    [
      "a.js",
      "function mul(a, b = {}) {\n  return a * b;\n}\n",
      'function mul(a, b = {}) { return "n0";\n  return a * b;\n}\n',
    ],
    [
      "a.js",
      "exports.mul = (a) => (b) => a * b;\n",
      'exports.mul = (a) => true ? "n0" : (b) => a * b;\n',
    ],
    [
      "a.ts",
      "const mul = (a: number): number => a;\n",
      'const mul = (a: number): number => true ? ("n0" as never) : a;\n',
    ],
    [
      "a.js",
      "class A {\n  mul(a, b) {\n    return a;\n  }\n}\n",
      'class A {\n  mul(a, b) { return "n0";\n    return a;\n  }\n}\n',
    ],
  ])("%s: %s", (path, is, wanted) =>
    expect(changed(path, is, null, "a.test.js", calls)).toBe(wanted),
  );

  const python = "def test_x():\n    mul(3, 4)\n";
  test.each([
    ["def mul(a, b):\n    return a * b\n", 'def mul(a, b):\n    return "n0"\n    return a * b\n'],
    ["def mul(a, b) -> int:\n    pass\n", 'def mul(a, b) -> int:\n    return "n0"\n    pass\n'],
    ["def mul(a, b): return 0\n", 'def mul(a, b): return "n0"; return 0\n'],
  ])("%s", (is, wanted) => expect(changed("a.py", is, null, "test_a.py", python)).toBe(wanted));

  test("where types forbid another answer, by what it is made of", () => {
    const c = "static int mul(int a, int b) { return a * b; }\n";
    expect(changed("mul.h", c, null, "a_test.go", "func TestA(t *T) { mul(3, 4) }\n")).toBe(
      "static int mul(int a, int b) { return a + b; }\n",
    );
  });

  test("and nothing that was there before does, nor what no test calls", () => {
    const was = "export const mul = (a, b) => a * b;\n";
    expect(changed("a.js", was, was, "a.test.js", calls)).toBeUndefined();
    expect(
      changed("a.js", "export const div = (a, b) => a / b;\n", null, "a.test.js", calls),
    ).toBeUndefined();
  });
});

test("Rust's tests beside the code are no functions of the work", () => {
  const is =
    "pub fn two() -> i32 {\n    1 + 1\n}\n\n#[cfg(test)]\nmod tests {\n    fn helper() -> i32 { 7 + 0 }\n    #[test]\n    fn adds() { assert_eq!(two() + helper(), 9); }\n}\n";
  const change = mutateFunctions(
    [{ path: "src/lib.rs", was: null, is }],
    [{ path: "src/lib.rs", was: null, is }],
    "n0",
  );
  expect(change?.functions.map(({ name }) => name)).toEqual(["two"]);
  expect(change?.edits[0]?.text).toContain("fn helper() -> i32 { 7 + 0 }");
});

describe("what no test notices", () => {
  const source = [{ path: "a.js", was: null, is: "export const mul = () => 0;\n" }];
  const names = (body: string, now: Observed) => {
    const change = mutateFunctions(source, jsTest(body), "n0");
    return change === null
      ? "nothing"
      : (findUnnoticed(change, seen(), now)?.map(({ name }) => name) ?? null);
  };
  test("is told where all pass", () =>
    expect(names("mul(3, 4); assert.ok(true);", seen())).toEqual(["mul"]));
  test("is told where only others fail", () =>
    expect(names("mul(3, 4);", seen("some other"))).toEqual(["mul"]));
  test("may be noticed through a helper, if tests fail that call none of them", () => {
    const change = mutateFunctions(
      source,
      jsTest("mul(3, 4);\n});\ntest('by a helper', () => {\n  helper();"),
      "n0",
    );
    if (change === null) throw new Error("nothing was changed");
    expect(failsIndirectly(change, seen(), seen("by a helper"))).toBe(true);
    expect(failsIndirectly(change, seen(), seen("multiplies"))).toBe(false);
    expect(change.editsOf(change.functions)).toEqual(change.edits);
    expect(change.editsOf([])).toEqual([]);
  });
  test("is nothing where a test that calls it fails", () =>
    expect(names("mul(3, 4);", seen("multiplies"))).toEqual([]));
  test("is unknown where the tests could not be loaded", () =>
    expect(names("mul(3, 4);", seen("test/a.test.js"))).toBeNull());
});

test("a function of Python keeps what it says of itself: its examples are tests", () => {
  const text =
    'def mean(values):\n    """Average.\n\n    >>> mean([])\n    0\n    """\n    return sum(values)\n';
  expect(replaceAnswers("stats.py", text, "7", () => true)).toBe(
    text.replace('    """\n    return', '    """\n    return 7\n    return'),
  );
});
