import { describe, expect, test } from "vitest";
import { findDefinedTypes, createPartFlips } from "./expected-parts.ts";

const broken = (path: string, text: string): readonly (readonly string[])[] =>
  createPartFlips(path, text, new Set(["Money"]), "n1").map((flips) =>
    flips.map((flip) => flip.broken.trim()),
  );

describe("each part of what is expected", () => {
  test.each([
    [
      "a.test.js",
      "test('a', () => {\n  expect(pay('3 EUR')).toEqual(new Money(3, 'EUR'));\n});\n",
      /toEqual\(new Money\(/,
    ],
    ["test_a.py", "def test_a():\n    assert pay('3') == Money(3, currency='EUR')\n", /== Money\(/],
    [
      "tests/a.rs",
      '#[test]\nfn a() {\n    assert_eq!(pay("3"), Money { amount: 3, currency: "EUR".into() });\n}\n',
      /Money \{ amount: /,
    ],
    [
      "a_test.go",
      'func TestA(t *testing.T) {\n\tif got := Pay("3"); !got.Equal(Money{3, "EUR"}) {\n\t\tt.Fatal(got)\n\t}\n}\n',
      /Money\{/,
    ],
  ])("%s", (path, text, form) => {
    const [[first = "", second = "", ...more] = []] = broken(path, text);
    expect(more).toEqual([]);
    expect(first).toMatch(form);
    expect(first).toMatch(/(?<![\d'"])[24]\b.*EUR/);
    expect(second).toMatch(/(?<![\d'"])3\b/);
    expect(second).not.toMatch(/["']EUR["'](?!\))/);
    expect(second).not.toBe(first);
  });

  test.each([
    [
      "a class of somebody else",
      "test('a', () => {\n  expect(pay()).toEqual(new Date(3, 4));\n});\n",
    ],
    ["one part only", "test('a', () => {\n  expect(pay()).toEqual(new Money(3));\n});\n"],
    [
      "what is computed",
      "test('a', () => {\n  expect(pay()).toEqual(new Money(a(3), b(4)));\n});\n",
    ],
    [
      "what has to be refused",
      "test('a', () => {\n  assert.throws(() =>\n    compare(pay(), new Money(3, 'EUR')));\n});\n",
    ],
    [
      "what is compared with an object of the tests' own",
      "class Any {}\ntest('a', () => {\n  assert.deepEqual(new Any(), new Money(3, 'EUR'));\n});\n",
    ],
  ])("but not of %s", (_what, text) => expect(broken("a.test.js", text)).toEqual([]));

  test("nor in a block of Python in which an error is expected", () => {
    const text =
      "def test_a():\n    with pytest.raises(TypeError):\n        compare(pay(), Money(3, 'EUR'))\n    assert pay() == Money(3, 'EUR')\n";
    expect(broken("test_a.py", text)).toHaveLength(1);
  });

  test("classes of a source", () => {
    expect(findDefinedTypes("export class A {}\nclass b {}\n")).toEqual(["A"]);
    expect(findDefinedTypes("#[derive(Debug)]\npub struct Money {\n}\ntype T struct {\n")).toEqual([
      "Money",
      "T",
    ]);

    expect(findDefinedTypes("@dataclass\nclass Money:\n    pass\n")).toEqual(["Money"]);
  });
});
