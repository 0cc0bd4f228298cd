import { describe, expect, test } from "vitest";
import { breaksIn } from "./expectations.ts";
import { broken } from "./flips.ts";

const brokenIn = (path: string, text: string): readonly string[] =>
  breaksIn(path, text, "n0").map((flip) => broken(text, [flip]) ?? "lost");

describe("an assertion is broken whatever it expects", () => {
  test.each([
    ["a.test.js", "assert.equal(mul(a, b), a * b);", 'assert.equal(mul(a, b), "n0");'],
    ["a.test.js", 'assert.deepEqual(f([1, 2], "x, y"), table[0], "as said");', 'assert.deepEqual(f([1, 2], "x, y"), "n0", "as said");'],
    ["a.test.ts", "expect(mul(a, 7)).toBe(a * 7);", 'expect(mul(a, 7)).toBe("n0");'],
    ["a.test.ts", "expect(mul(a, 7)).not.toBe(8);", "expect(mul(a, 7)).toBe(8);"],
    ["a.test.ts", "expect(list).toContain(one);", "expect(list).not.toContain(one);"],
    ["a.test.ts", "await expect(f()).rejects.toThrow(Missing);", "await expect(f()).rejects.not.toThrow(Missing);"],
    ["a.test.js", "assert.ok(isEven(two));", "assert.ok(!(isEven(two)));"],
    ["a.test.js", "assert.throws(() => f(x));", "assert.doesNotThrow(() => f(x));"],
    ["a.test.js", "mul(two, two).should.equal(four);", 'mul(two, two).should.equal("n0");'],
    ["a.test.js", "same(mul(two, two), four);", 'same(mul(two, two), "n0");'],
    ["test_a.py", "self.assertEqual(mul(a, b), a * b)", 'self.assertEqual(mul(a, b), "n0")'],
    ["test_a.py", "    assert mul(a, b) == a * b, 'as said'", "    assert mul(a, b) == \"n0\", 'as said'"],
    ["test_a.py", "    assert mul(a, b) == a * b and other", "    assert not (mul(a, b) == a * b and other)"],
    ["test_a.py", "    assert is_even(two)", "    assert not (is_even(two))"],
    [
      "test_a.py",
      "    with pytest.raises(ValueError, match=words):",
      '    with pytest.raises(type("En0", (Exception,), {}), match=words):',
    ],
    ["test_a.py", "    self.assertTrue(is_even(two))", "    self.assertTrue(not (is_even(two)))"],
    ["test_a.py", "    check(self, mul(a, a), a * a)", '    check(self, mul(a, a), "n0")'],
    ["t.rs", "assert_eq!(mul(a, a), a * a);", "assert_eq!((mul(a, a)) == (a * a), !true);"],
    ["t.rs", 'assert!(is_even(two), "as said");', 'assert!(!(is_even(two)), "as said");'],
    ["a_test.go", "if got != want {", "if got == want {"],
    ["a_test.go", "if !reflect.DeepEqual(got, want) {", "if reflect.DeepEqual(got, want) {"],
    ["a_test.go", "assert.Equal(t, want, got)", "assert.NotEqual(t, want, got)"],
    ["t.c", "assert(mul(a, b) == a * b);", "assert(mul(a, b) != a * b);"],
    ["t.c", "assert(is_even(two));", "assert(!(is_even(two)));"],
  ])("%s: %s", (path, was, is) => expect(brokenIn(path, was)).toEqual([is]));

  test("over several lines, of which there are as many as before", () => {
    const text = "test('x', () => {\n  assert.deepEqual(\n    f(),\n    {\n      a: b,\n    },\n  );\n});\n";
    const [one = ""] = brokenIn("a.test.js", text);
    expect(one).toContain('"n0"');
    expect(one).not.toContain("a: b");
    expect(one.split("\n")).toHaveLength(text.split("\n").length);
  });

  test("and nothing else is: no definition, no comment, no string", () =>
    expect(brokenIn("a.test.js", "// assert.equal(a, b);\nconst words = 'assert.equal(a, b)';\nfunction equal(a, b) {}\n")).toEqual([]));
});
