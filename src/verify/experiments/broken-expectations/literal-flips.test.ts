import { describe, expect, test } from "vitest";
import { applyFlips } from "./flip.ts";
import { flipLine, createLiteralFlips } from "./literal-flips.ts";

describe("a flip changes what is expected", () => {
  test.each([
    ["assert.equal(sum([40, 2]), 42);", "assert.equal(sum([40, 2]), 43);"],
    ["expect(shout('a')).toBe('A!');", "expect(shout('a')).toBe('B!');"],
    ["    assert total == 3.5", "    assert total == 4.5"],
    ["assert_eq!(add(2, 2), 4);", "assert_eq!(add(2, 2), 5);"],
    ["expect(isReady()).toBe(true)", "expect(isReady()).toBe(false)"],
    ["    self.assertTrue(True)", "    self.assertTrue(False)"],
    ['assert.equal(a, 1, "one it is");', 'assert.equal(a, 2, "one it is");'],
    ["expect(name).toBe('')", "expect(name).toBe('x')"],
    ["if got != 'c' {", "if got != 'd' {"],
    ["assert.ok(close(sum, 0.3, 1e-9));", "assert.ok(close(sum, 1.3, 1e-9));"],
    ["expect(-1).toBe(-1)", "expect(-1).toBe(0)"],
    [
      "if (n !== 10007 || ms > 60) process.exit(1);",
      "if (n !== 10008 || ms > 60) process.exit(1);",
    ],
    ['raise "no" if count != 3', 'raise "no" if count != 4'],
    ['print "ok 1\\n" if name() eq "two"', 'print "ok 1\\n" if name() eq "twp"'],
    ["assert elapsed < 60", "assert elapsed >= 60"],
    ["for (let i = 0; i < 3; i++) assert(f(i))", "for (let i = 0; i < 4; i++) assert(f(i))"],
  ])("%s", (line, wanted) => expect(flipLine(line)).toBe(wanted));

  test.each([
    "assert.equal(a, b);",
    'assert false : "no exception";',
    "        assert False, 'not reached'",
    "assert.ok(false);",
    'assert_eq!(page(), include_str!("page.html"));',
    "test('adds numbers', () => {",
    "const x = y;",
    '} else System.out.println("ok " + want);',
    'print(f"{len(found)} primes in 12 ms")',
    'if (!got.equals(want)) throw new AssertionError("got " + got + ", want " + want);',
    'if bin/greet -x 2>/dev/null; then echo "-x was taken"; exit 1; fi',
  ])("there is nothing to change in %s", (line) => expect(flipLine(line)).toBeNull());
});

describe("where flips are looked for", () => {
  test("beside assertions first, then near a report of failure, and nowhere else", () => {
    const text = [
      "const port = 8080;",
      "",
      "",
      "",
      "if got := Add(1, 2); got != 3 {",
      '  t.Fatalf("got %d", got)',
      "}",
      "assert(x == 5)",
    ].join("\n");
    expect(createLiteralFlips("a_test.go", text).map(({ line, score }) => [line, score])).toEqual([
      [5, 1],
      [8, 3],
    ]);
  });

  test.each([
    "// assert.equal(1, 1)",
    "# assert x == 1",
    'import { test } from "node:test"; // assert',
    'const a = require("assert")',
  ])("not in %s", (line) => expect(createLiteralFlips("a.js", line)).toEqual([]));
});

describe("a text is broken", () => {
  const [flip] = createLiteralFlips("a.py", "x = f()\nassert x == 1\n");
  test("in a shell's own comparisons", () =>
    expect(
      createLiteralFlips(
        "test/run.sh",
        'set -e\n. ./lib/add.sh\n[ "$(add 1 2)" = 3 ]\ntest "$x" -eq 4\n',
      ).map(({ line, broken: text }) => [line, text]),
    ).toEqual([
      [3, '[ "$(add 1 2)" = 4 ]'],
      [4, 'test "$x" -eq 5'],
    ]));

  test("not in a shell's helpers, which compare variables", () =>
    expect(
      createLiteralFlips(
        "t.sh",
        'if [ "$1" != "$2" ]; then failed=1; fi\n[[ "$(slug One)" == "one" ]] || { echo no; exit 1; }\n',
      ).map(({ line }) => line),
    ).toEqual([2]));

  test("nor in a shell's strings, which are filled in", () =>
    expect(
      createLiteralFlips(
        "t.sh",
        'check() {\n  local got; got=$(slug "$1")\n  if [[ $2 == $got ]]; then echo "ok $1"; else exit 1; fi\n}\n',
      ),
    ).toEqual([]));

  test("nor in what is put into a variable or ends a program", () => {
    expect(flipLine("  if (got != want) { bad = 1; ok(); }")).toBeNull();
    expect(flipLine("assert(x) || exit(1)")).toBeNull();
  });

  test("at the line it was found", () =>
    expect(applyFlips("x = f()\nassert x == 1\n", flip === undefined ? [] : [flip])).toBe(
      "x = f()\nassert x == 2\n",
    ));

  test("or where that line has moved to", () =>
    expect(applyFlips("#\nx = f()\nassert x == 1", flip === undefined ? [] : [flip])).toBe(
      "#\nx = f()\nassert x == 2",
    ));

  test("but not where it is gone, or there twice", () => {
    expect(applyFlips("x = f()", flip === undefined ? [] : [flip])).toBeNull();
    expect(
      applyFlips("#\n#\nassert x == 1\nassert x == 1", flip === undefined ? [] : [flip]),
    ).toBeNull();
  });
});

test("what a helper of the file is given is an expectation, if the helper reports a failure", () => {
  const text = `class T {
  static void check(Object got, Object want) {
    if (!got.equals(want)) throw new AssertionError("got " + got);
  }
  static void show(Object one) { System.out.println(one); }
  public static void main(String[] a) {
    show(of(1, 2));
    check(of(1, 2).plus(of(1, 3)), of(5, 6));
  }
}
`;
  const flips = createLiteralFlips("test/T.java", text).filter(({ score }) => score === 3);
  expect(flips.map(({ broken }) => broken.trim())).toEqual([
    "check(of(1, 2).plus(of(1, 3)), of(5, 7));",
  ]);
});

test("what is said when something is not true is no expectation", () => {
  expect(flipLine('assert longest("a b").equals(other) : "longest";')).toContain('"longest"');
  expect(flipLine("t.notOk(equal(a, b), 'they are the same');")).toBeNull();
  expect(flipLine("t.equal(name(a), 'b');")).toBe("t.equal(name(a), 'c');");
});

test("what a failure says is no expectation, whatever its words; a comparison in the same line is", () => {
  const broken = (path: string, ...lines: readonly string[]): readonly number[] =>
    createLiteralFlips(path, lines.join("\n")).map(({ line }) => line);
  const go = [
    '\t\t{"two", 5, 2, 10},',
    "\tif got != c.want {",
    '\t\tt.Errorf("Total is %d and should be %d", got, c.want)',
    "\t}",
  ];
  expect(broken("a_test.go", ...go)).toEqual([1]);
  expect(
    broken("test_a.py", "        if got != 3:", '            self.fail("it should be 3")'),
  ).toEqual([1]);

  expect(broken("t/a.t", 'die "should be 3" if total(1) != 3;')).toEqual([1]);
});

test("calls of a helper that counts failures far down in its body are assertions", () => {
  const helper =
    'static void check_int(const char *what, int expected, int got) {\n  if (expected == got) {\n    passed++;\n    printf("ok %s\\n", what);\n  } else {\n    failed++;\n  }\n}\n';
  const flips = createLiteralFlips(
    "tests/a.c",
    `${helper}\n  check_int("length", 2, decode(a));\n`,
  );
  expect(flips.map(({ line, score, broken }) => [line, score, broken])).toEqual([
    [10, 3, '  check_int("length", 3, decode(a));'],
  ]);
});
