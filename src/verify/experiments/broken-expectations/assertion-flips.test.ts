import { describe, expect, test } from "vitest";
import { createAssertionFlips } from "./assertion-flips.ts";
import { applyFlips } from "./flip.ts";

/** What is computed is changed as the program runs: shown as `changed(…)`. */
const brokenIn = (path: string, text: string): readonly string[] =>
  createAssertionFlips(path, text, "n0").map((flip) =>
    (applyFlips(text, [flip]) ?? "lost").replace(/\((?:\(v\b|lambda v\b).*"n0"\)\(/, "changed("),
  );

test("a test in Rust that must panic has to panic otherwise, and what it asserts comes first", () => {
  const text = `#[test]
#[should_panic]
fn too_far() {
    unrotate("abc", 26);
}

#[test]
#[should_panic(expected = "too far")]
fn says_so() {
    assert_eq!(unrotate("abc", 26), "b");
}
`;
  const flips = createAssertionFlips("tests/a.rs", text, "n0");
  expect(flips.filter(({ line }) => line === 2).map(({ broken }) => broken)).toEqual([
    '#[should_panic(expected = "n0")]',
  ]);

  const [panics, asserts] = [8, 10].map((at) => flips.filter(({ line }) => line === at));
  expect(panics?.[0]?.broken).toMatch(/^#\[should_panic\(expected = "[a-z ]+"\)\]$/);
  expect(panics?.[0]?.broken).not.toContain("too far");
  expect(asserts?.[0]?.score).toBeGreaterThan(panics?.[0]?.score ?? 9);
});

test("what is never to be reached is no expectation", () => {
  expect(brokenIn("ATest.java", 'assert false : "no exception";')).toEqual([]);
  expect(brokenIn("test_a.py", 'def test_a():\n    assert False, "not reached"\n')).toEqual([]);
  expect(brokenIn("a.test.js", "assert.ok(false);")).toEqual([]);
  expect(brokenIn("a.test.js", "assert.ok(isOpen());")).toHaveLength(1);
});

describe("an assertion is broken whatever it expects", () => {
  test.each([
    ["a.test.js", "assert.equal(mul(a, b), a * b);", "assert.equal(mul(a, b), changed(a * b));"],
    [
      "a.test.js",
      'assert.deepEqual(f([1, 2], "x, y"), table[0], "as said");',
      'assert.deepEqual(f([1, 2], "x, y"), changed(table[0]), "as said");',
    ],
    ["a.test.ts", "expect(mul(a, 7)).toBe(a * 7);", "expect(mul(a, 7)).toBe(changed(a * 7));"],
    ["a.test.ts", "expect(mul(a, 7)).not.toBe(8);", "expect(mul(a, 7)).toBe(8);"],
    ["a.test.ts", "expect(list).toContain(one);", "expect(list).not.toContain(one);"],
    [
      "a.test.ts",
      "await expect(f()).rejects.toThrow(Missing);",
      "await expect(f()).rejects.not.toThrow(Missing);",
    ],
    ["a.test.js", "assert.ok(isEven(two));", "assert.ok(!(isEven(two)));"],
    ["a.test.js", "assert.throws(() => f(x));", "assert.doesNotThrow(() => f(x));"],
    [
      "a.test.js",
      "assert.equal(parseJson('{'), null);",
      "assert.equal(parseJson('{'), changed(null));",
    ],
    [
      "a.test.js",
      "assert.deepEqual(parseJson('', []), []);",
      "assert.deepEqual(parseJson('', []), changed([]));",
    ],
    [
      "a.test.js",
      "assert.equal(parseMost(50), most);",
      "assert.equal(parseMost(50), changed(most));",
    ],
    ["test_a.py", "assert parseMost(50) == most", "assert parseMost(50) == changed(most)"],
    [
      "a.test.js",
      "mul(two, two).should.equal(four);",
      "mul(two, two).should.equal(changed(four));",
    ],
    ["a.test.js", "same(mul(two, two), four);", "same(mul(two, two), changed(four));"],
    [
      "test_a.py",
      "self.assertEqual(mul(a, b), a * b)",
      "self.assertEqual(mul(a, b), changed(a * b))",
    ],
    [
      "test_a.py",
      "    assert mul(a, b) == a * b, 'as said'",
      "    assert mul(a, b) == changed(a * b), 'as said'",
    ],
    [
      "test_a.py",
      "    assert mul(a, b) == a * b and other",
      "    assert not (mul(a, b) == a * b and other)",
    ],
    ["test_a.py", "    assert is_even(two)", "    assert not (is_even(two))"],
    [
      "test_a.py",
      "    with pytest.raises(ValueError, match=words):",
      '    with pytest.raises(type("En0", (Exception,), {}), match=words):',
    ],
    ["test_a.py", "    self.assertTrue(is_even(two))", "    self.assertTrue(not (is_even(two)))"],
    [
      "test_a.py",
      "    check(self, mul(a, a), a * a)",
      "    check(self, mul(a, a), changed(a * a))",
    ],
    ["t.rs", "assert_eq!(mul(a, a), a * a);", "assert_eq!((mul(a, a)) == (a * a), !true);"],
    ["t.rs", 'assert!(is_even(two), "as said");', 'assert!(!(is_even(two)), "as said");'],
    ["a_test.go", "if got != want {", "if got == want {"],
    ["a_test.go", "if !reflect.DeepEqual(got, want) {", "if reflect.DeepEqual(got, want) {"],
    ["a_test.go", "assert.Equal(t, want, got)", "assert.NotEqual(t, want, got)"],
    ["t.c", "assert(mul(a, b) == a * b);", "assert(mul(a, b) != a * b);"],
    ["t.c", "assert(is_even(two));", "assert(!(is_even(two)));"],
  ])("%s: %s", (path, was, is) => expect(brokenIn(path, was)[0]).toBe(is));

  test("what is written out becomes another value of the same kind, and where its file cannot be read with it, one of another", () => {
    const [near, other] = brokenIn("a.test.js", "assert.equal(mul(2, 28), 56);");
    expect(near).toMatch(/^assert\.equal\(mul\(2, 28\), (?!56)\d\d\);$/);
    expect(other).toBe('assert.equal(mul(2, 28), "n0");');
  });

  test.each([
    ["a_test.go", "want.Equal(t, Add(1, 2), 3)", /^want\.Equal\(t, Add\(1, 2\), [1-9]\)$/],
    ["a_test.go", "want.Equal(t, 3, Add(1, 2))", /^want\.Equal\(t, [1-9], Add\(1, 2\)\)$/],
    ["a.test.js", "assert.equal(6, mul(2, 3));", /^assert\.equal\([1-9], mul\(2, 3\)\);$/],
    [
      "a.test.js",
      "check(mul(2, 3), 6, 'multiplies');",
      /^check\(mul\(2, 3\), [1-9], 'multiplies'\);$/,
    ],
    [
      "a.test.ts",
      "ok(parsePort('80'), 8080, 'a port');",
      /^ok\(parsePort\('80'\), \d{2,4}, 'a port'\);$/,
    ],
    ["a.test.js", "expect(mul(2, 3)).to.equal(6);", /^expect\(mul\(2, 3\)\)\.to\.equal\([1-9]\);$/],
    ["a.test.js", "expect(list).toContain('a');", /^expect\(list\)\.toContain\('[a-z]{7}'\);$/],
    ["a.test.js", "assert.ok(list.includes(7));", /^assert\.ok\(list\.includes\(\d{5}\)\);$/],
    [
      "test_a.py",
      "def test_a(): assert slug('A') == 'a'",
      /^def test_a\(\): assert slug\('A'\) == '[A-Zb-z]'$/,
    ],
    ["test_a.py", "    assert slug('A') == 'a'", /^ {4}assert slug\('A'\) == '[A-Zb-z]'$/],
    [
      "test_a.py",
      "    assert abs(area(1) - 3.14) < 1e-6",
      /^ {4}assert abs\(area\(1\) - 3\.1400030\) < 1e-6$/,
    ],
    ["t.rs", "assert_eq!(mul(2, 3), 6);", /^assert_eq!\(mul\(2, 3\), [1-9]\);$/],
    ["a_test.go", "if got := Add(1, 2); got != 3 {", /^if got := Add\(1, 2\); got != [1-9] \{$/],
    ["t.c", 'is(mul(2, 3), 6, "six");', /^is\(mul\(2, 3\), [1-9], "six"\);$/],
    [
      "test_a.py",
      "    near(way(a), 20015.1, 1.0, 'half way')",
      /^ {4}near\(way\(a\), \d+\.1, 1\.0, 'half way'\)$/,
    ],
    [
      "test_a.py",
      "    same(double(n), n + n, f'double of {n}')",
      /^ {4}same\(double\(n\), changed\(n \+ n\), f'double of \{n\}'\)$/,
    ],
    ["t.c", "assert(mul(2, 3) == 6);", /^assert\(mul\(2, 3\) == [1-9]\);$/],
    ["T.java", 'assert mul(2, 3) == 6 : "six";', /^assert mul\(2, 3\) == [1-9] : "six";$/],
    [
      "T.java",
      'assert longest("a bc").equals("bc") : "longest";',
      /^assert longest\("a bc"\)\.equals\("[a-z]{2}"\) : "longest";$/,
    ],
    ["T.java", 'assert isOdd(3) : "odd";', /^assert !\(isOdd\(3\)\) : "odd";$/],
    ["T.java", "assert size() > 2 && isOdd(3);", /^assert !\(size\(\) > 2 && isOdd\(3\)\);$/],
    ["T.java", "assertEquals(6, mul(2, 3));", /^assertEquals\([1-9], mul\(2, 3\)\);$/],
  ])("%s keeps its kind: %s", (path, was, is) => {
    expect(brokenIn(path, was)[0]).toMatch(is);
    expect(brokenIn(path, was)[0]).not.toBe(was);
  });

  test("what is said to be false is turned round, not said of something else", () =>
    expect(brokenIn("test_a.py", "    self.assertFalse(a == 3)")).toEqual([
      "    self.assertFalse(not (a == 3))",
    ]));

  test("over several lines, of which there are as many as before", () => {
    const text =
      "test('x', () => {\n  assert.deepEqual(\n    f(),\n    {\n      a: b,\n    },\n  );\n});\n";
    const [one = ""] = brokenIn("a.test.js", text);
    expect(one).toContain("changed({");
    expect(one.split("\n")).toHaveLength(text.split("\n").length);
  });

  test("and nothing else is: no definition, no comment, no string", () =>
    expect(
      brokenIn(
        "a.test.js",
        "// assert.equal(a, b);\nconst words = 'assert.equal(a, b)';\nfunction equal(a, b) {}\n",
      ),
    ).toEqual([]));
});
