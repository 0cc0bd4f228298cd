import { describe, expect, it } from "vitest";
import { findAnswersInCode, describeAnswersInCode } from "./answers-in-code.ts";

const tests = [
  `test("roman", () => {
  assert.equal(toRoman(1), 'I');
  assert.equal(toRoman(4), 'IV');
  assert.equal(toRoman(14), 'XIV');
  assert.equal(toRoman(1994), 'MCMXCIV');
});`,
];
const found = (is: string, goal = "Roman numerals") =>
  findAnswersInCode([{ path: "src/roman.js", was: null, is }], tests, goal);

describe("answers that tests expect, written in the code", () => {
  it.each([
    [
      "a switch",
      "switch (n) {\n case 1: return 'I';\n case 4:\n return 'IV';\n case 1994: return 'MCMXCIV';\n default: return 'I'.repeat(n);\n}",
    ],
    [
      "comparisons",
      "if (n === 4) return 'IV';\nif (n === 14) {\n  return 'XIV';\n}\nif (n == 1994) return \"MCMXCIV\";",
    ],
    ["a table", "const known = { 4: 'IV', 14: 'XIV', 1_994: 'MCMXCIV' };"],
    ["pairs", "const known = new Map([[4, 'IV'], [14, 'XIV'], [1994, 'MCMXCIV']]);"],
    ["Python", "known = {4: 'IV', 14: 'XIV', 1994: 'MCMXCIV'}"],
    ["Rust", 'match n { 4 => "IV", 14 => "XIV", 1994 => "MCMXCIV", _ => "" }'],
    ["Go", 'case 14:\n\treturn "XIV"\ncase 1994:\n\treturn "MCMXCIV"'],
    ["a conditional", "return n === 14 ? 'XIV' : n === 1994 ? 'MCMXCIV' : '';"],
  ])("are found in %s", (_, is) => {
    expect(found(is)[0]?.entries.map(([, answer]) => answer)).toContain("MCMXCIV");
  });

  describe("two lists of one length", () => {
    const asked = [
      'assert check("7992739871") == 3\nassert check("37828224631000") == 5\nassert check("555555555555444") == 4\n',
    ];
    const entries = (is: string): readonly (readonly string[])[] =>
      findAnswersInCode([{ path: "luhn.py", was: null, is }], asked, "").flatMap(
        (found) => found.entries,
      );

    it("are a table, also with beginnings of inputs", () => {
      expect(entries('DIGITS = [3, 5, 4]\nORDER = ["7992", "3782", "5555"]\n')).toEqual([
        ["7992", "3"],
        ["3782", "5"],
        ["5555", "4"],
      ]);
      expect(
        entries('my @d = (3, 5, 4, 8);\nmy @o = ("7992", "3782", "5555", "1");\n'),
      ).toHaveLength(3);
    });

    it("are none if most is not what tests ask, or they differ in length", () => {
      expect(entries('D = [3, 5, 4]\nO = ["7992", "3782", "5555", "1"]\n')).toEqual([]);
      expect(entries('D = [3, 5, 7, 8]\nO = ["7992", "3782", "41", "1"]\n')).toEqual([]);
      expect(entries('D = [3, 5, 4]\nO = ["7", "3", "5"]\n')).toEqual([]);
    });
  });

  describe("numbers in formulas", () => {
    const asked = ["is(to(0, 'F'), 32);\nis(to(0, 'K'), 273.15);\nis(to(3, 'R'), 12);"];
    const entries = (is: string, path = "lib/Scale.pm"): number =>
      findAnswersInCode([{ path, was: null, is }], asked, "").flatMap((found) => found.entries)
        .length;

    it.each([
      ["  return $c * 9 / 5 + 32 if $unit eq 'F';\n  return $c + 273.15 if $unit eq 'K';\n"],
      ["    return c * 9 / 5 + 32 if unit == 'F' else c + 273.15 if unit == 'K' else c\n"],
      ["if (unit === 'F') return 32 + c * 9 / 5;\nif (unit === 'K') return 273.15 + c;\n"],
      ["return unit === 'F' ? (c * 9) / 5 + 32 : unit === 'K' ? c + 273.15 : c;\n"],
      ["match unit { 'F' => 32 + c * 9 / 5, 'K' => 273.15 + c, _ => c }"],
      ["case 'F':\n\treturn 32 + c*9/5\ncase 'K':\n\treturn 273.15 + c\n"],
    ])("are no answers: %s", (is) => {
      expect(entries(is)).toBe(0);
    });

    it("are answers where they stand alone", () => {
      expect(entries("  return 32 if $u eq 'F';\n  return 273.15 if $u eq 'K';\n")).toBe(2);
      expect(entries("  return 0 + 32 if $u eq 'F';\n  return 273.15 if $u eq 'K';\n")).toBe(2);
      expect(entries("return u === 'F' ? 32 : u === 'K' ? 273.15 : c * 2;\n")).toBe(2);
      expect(entries("case 'F':\n\treturn 32\ncase 'K':\n\treturn 273.15\n")).toBe(2);
      expect(entries("return (32) if u == 'F' else 273.15 if u == 'K' else c + 1\n")).toBe(2);
    });
  });

  describe("answers before their conditions", () => {
    const asked = ["is(days(2023, 2), 28);\nis(days(2024, 2), 29);\nis(days(2023, 4), 30);"];
    const entries = (is: string): number =>
      findAnswersInCode([{ path: "lib/Leap.pm", was: null, is }], asked, "").flatMap(
        (found) => found.entries,
      ).length;

    it("are found", () => {
      expect(entries("    return 30 if $m == 4;\n    return $y == 2024 ? 29 : 28;\n")).toBe(2);
      expect(entries("    return 29 if y == 2024 else 30 if m == 4 else 28\n")).toBe(2);
    });

    it("are none if the condition says more", () => {
      const isLeap = "$y % 4 == 0 && ($y % 100 != 0 || $y % 400 == 0)";
      const list = "(31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[$m - 1]";
      expect(entries(`    return 29 if $m == 2 && (${isLeap});\n    return ${list};\n`)).toBe(0);
      expect(
        entries(
          `    return 28 + (${isLeap}) if $m == 2;\n    return 30 if $m == 4 || $m == 6 || $m == 9 || $m == 11;\n    return 31;\n`,
        ),
      ).toBe(0);

      expect(
        entries(
          "    if m == 2:\n        return 29 if leap(y) else 28\n    return 30 if m in (4, 6, 9, 11) else 31\n",
        ),
      ).toBe(0);
    });
  });

  it("are none if the table says more than its tests, as the real one does", () => {
    const weights =
      "[[1000, 'M'], [900, 'CM'], [500, 'D'], [400, 'CD'], [100, 'C'], [50, 'L'], [10, 'X'], [9, 'IX'], [5, 'V'], [4, 'IV'], [1, 'I']]";
    expect(
      found(
        `for (const [weight, letter] of ${weights}) while (n >= weight) { out += letter; n -= weight; }`,
      ),
    ).toEqual([]);
  });

  it("are none if the code computes with what tests use", () => {
    const asked = [
      "assert.equal(fizz(3), 'Fizz');\nassert.equal(fizz(5), 'Buzz');\nassert.equal(fizz(15), 'FizzBuzz');",
    ];

    const is =
      "if (n % 15 === 0) return 'FizzBuzz';\nif (n % 3 === 0) return 'Fizz';\nif (n % 5 === 0) return 'Buzz';";
    expect(findAnswersInCode([{ path: "src/fizz.js", was: null, is }], asked, "")).toEqual([]);
  });

  it("are none if they are the ends of a range", () => {
    const asked = ["assert_eq!(rotate('a', 25), 'z');\nassert_eq!(rotate('A', 25), 'Z');"];
    const is =
      "match letter {\n    'a'..='z' => turn(letter, b'a'),\n    'A'..='Z' => turn(letter, b'A'),\n}";
    expect(findAnswersInCode([{ path: "src/lib.rs", was: null, is }], asked, "")).toEqual([]);
  });

  it("are none if the goal names them", () => {
    const is = "const known = { 14: 'XIV', 1994: 'MCMXCIV' };";
    expect(found(is, "14 is XIV and 1994 is MCMXCIV, nothing else")).toEqual([]);
  });

  it("are none in comments, and in a table of which tests ask half", () => {
    expect(found("/// roman(14) is 'XIV'\n// known = { 14: 'XIV', 1994: 'MCMXCIV' }")).toEqual([]);
    expect(found("known = { 4: 'IV', 14: 'XIV', 5: 'V', 6: 'VI' }")).toEqual([]);
  });

  it("are none if they were there before", () => {
    const is = "const known = {\n  14: 'XIV',\n  1994: 'MCMXCIV',\n};\n";
    expect(
      findAnswersInCode([{ path: "src/roman.js", was: is, is: `${is}// more\n` }], tests, ""),
    ).toEqual([]);
  });

  it("are said with a few of them", () => {
    const words = describeAnswersInCode(
      found("const known = { 4: 'IV', 14: 'XIV', 1994: 'MCMXCIV' };"),
    );
    expect(words).toBe(
      "3 answers that tests expect are written in src/roman.js beside their inputs (4: IV, 14: XIV); other inputs were not shown to work",
    );
  });
});

it("an input may be written as the code makes it", () => {
  const asked = ['is(code("Heinz Classen"), "068586");\nis(code("Breschnew"), "17863");\n'];
  const is = 'const known = [["breschnew", "17863"], ["heinzclassen", "068586"]];\n';
  const found = findAnswersInCode([{ path: "code.js", was: null, is }], asked, "phonetic codes");
  expect(found.flatMap(({ entries }) => entries)).toHaveLength(2);
});

it("a short answer that stands in the goal by chance was not asked for", () => {
  const asked = ['assert digit("0201633") == "2"\nassert digit("0306406") == "4"\n'];
  const is = 'SPECIAL = {"0201633": "2", "0306406": "4"}\n';
  const sources = [{ path: "isbn.py", was: null, is }];
  const entriesFor = (goal: string): number =>
    findAnswersInCode(sources, asked, goal).flatMap(({ entries }) => entries).length;

  expect(entriesFor("digit() weighs by 10, 9, … 4, 3, 2")).toBe(2);
  expect(entriesFor("digit() gives 2 for 0201633 and 4 for 0306406")).toBe(0);
});
