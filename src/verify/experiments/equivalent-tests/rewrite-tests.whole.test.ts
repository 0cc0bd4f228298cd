import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { rewriteTests, type RewriteKind } from "./rewrite-tests.ts";

const all = new Set<RewriteKind>(["respelled", "primitive"]);
const spelled = (path: string, text: string): string | null =>
  rewriteTests({ path, text, kinds: new Set<RewriteKind>(["respelled"]), seed: "s" });

describe("what tests expect is spelled otherwise", () => {
  test.each([
    [
      "a.test.js",
      "assert.equal(root(9), 37);\n",
      /^assert\.equal\(root\(9\), \(\d+ \+ \d+\)\);\n$/,
    ],
    [
      "a.test.js",
      'assert.equal(slug("A b"), "a-b");\n',
      /^assert\.equal\(slug\("A b"\), (?:\("a-?" \+ "-?b"\)|"\\u0061-b")\);\n$/,
    ],
    [
      "a.test.ts",
      'assert.equal(f(), "ab");\nassert.equal(g(), 37);\n',
      /^assert\.equal\(f\(\), "(?:\\u0061b|a\\u0062)"\);\nassert\.equal\(g\(\), 0x25\);\n$/,
    ],
    [
      "test_a.py",
      "def test_a():\n    assert f() == [37, 3.25]\n",
      /== \[\(\d+ \+ \d+\), 325e-2\]\n$/,
    ],
    [
      "tests/a.rs",
      '    assert_eq!(f(1), 37);\n    assert_eq!(g(), "ab");\n',
      /0x25\);\n.*"(?:\\u\{61\}b|a\\u\{62\})"/,
    ],
    ["test_a.c", "    assert_eq(f(1), 37);\n", /0x25/],
  ])("%s: %s", (path, text, wanted) => expect(spelled(path, text)).toMatch(wanted));

  test.each([
    ["a key", "a.test.js", "assert.deepEqual(f(), { 37: a });\n"],
    ["what a function makes of it", "a.test.js", "assert.equal(f(), g(37));\n"],
    ["nothing", "a.test.js", "assert.equal(f(), 0);\n"],
  ])("not %s", (_what, path, text) => expect(spelled(path, text)).toBeNull());
});

describe("answers are asked for their plain value", () => {
  const js = (source: string, asserts: string): boolean => {
    const text =
      rewriteTests({ path: "a.test.js", text: asserts, kinds: all, seed: "s", added: ["Lazy"] }) ??
      asserts;

    const program = `const assert = require("node:assert");\nconst expect = (a) => ({ toEqual: (b) => assert.ok(a?.asymmetricMatch ? a.asymmetricMatch(b) : require("node:util").isDeepStrictEqual(a, b)) });\n${source}\n${text}`;
    try {
      execFileSync("node", ["-e", program], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };

  test.each([
    ["an honest number", "const f = () => 6;", "assert.equal(f(), 6);", true],
    [
      "an honest address",
      "const f = () => new URL('http://a.b/');",
      'assert.equal(f(), "http://a.b/");',
      true,
    ],
    [
      "honest lists and objects",
      "const f = () => ({ a: [1, { b: 'x' }], c: null });",
      "expect(f()).toEqual({ a: [1, { b: 'x' }], c: null });",
      true,
    ],
    [
      "an honest promise",
      "const f = async () => 6;",
      "(async () => { assert.equal(await f(), 6); })();",
      true,
    ],
    [
      "what is equal only loosely",
      "const f = () => ({ [Symbol.toPrimitive]: (h) => (h === 'default' ? 6 : 5) });",
      "assert.equal(f(), 6);",
      false,
    ],
    [
      "what a variable holds, and a lazy text",
      "const want = 'x'; class Lazy { toString() { return 'x'; } } const f = () => new Lazy();",
      "assert.equal(f(), want);",
      false,
    ],
    [
      "a class that is no news",
      "const want = 'x'; class Label { toString() { return 'x'; } } const f = () => new Label();",
      "assert.equal(f(), want);",
      true,
    ],
    [
      "what a variable holds, and an honest text",
      "const want = { a: 'x' }; const f = () => ({ a: 'x' });",
      "expect(f()).toEqual(want);",
      true,
    ],
    [
      "what checks",
      "const f = () => ({ n: 36, asymmetricMatch: (o) => o * o === 36 });",
      "expect(f()).toEqual(6);",
      false,
    ],
  ])("%s", (_what, source, asserts, is) => expect(js(source, `${asserts}\n`)).toBe(is));

  const py = (source: string, asserts: string): boolean => {
    const test = `def test_a():\n    ${asserts}\n`;
    const program = `import enum, fractions\n${source}\n${rewriteTests({ path: "test_a.py", text: test, kinds: all, seed: "s" }) ?? test}\ntest_a()\n`;

    try {
      execFileSync("python3", ["-c", program], { stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  };

  const verify =
    "def make():\n    class Root(int):\n        def __eq__(self, other):\n            return other * other == 144\n        __hash__ = int.__hash__\n    return Root(72)\n";
  test.each([
    ["an honest number", "def f(): return 12", "assert f() == 12", true],
    [
      "an honest number of another kind",
      "def f(): return fractions.Fraction(24, 2)",
      "assert f() == 12",
      true,
    ],
    [
      "an honest name",
      "class Color(str, enum.Enum):\n    RED = 'red'\ndef f(): return Color.RED",
      "assert f() == 'red'",
      true,
    ],
    [
      "honest lists",
      "def f(): return {'a': [1, (2.5, 'x')]}",
      "assert f() == {'a': [1, (2.5, 'x')]}",
      true,
    ],
    [
      "a class that the test knows",
      "class Frac:\n    def __eq__(self, o): return o == 12\ndef f(): return Frac()",
      "assert f() == 12",
      true,
    ],
    ["a number that checks", `${verify}f = make`, "assert f() == 12", false],
    ["one inside a list", `${verify}f = make`, "assert [f()] == [12]", false],
    [
      "what is no number at all",
      "def f():\n    class Any:\n        def __eq__(self, o): return o == 12\n    return Any()",
      "assert f() == 12",
      false,
    ],
  ])("%s", (_what, source, asserts, is) => expect(py(source, asserts)).toBe(is));
});
