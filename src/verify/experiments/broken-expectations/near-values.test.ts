import { describe, expect, test } from "vitest";
import { createDraw, toFarValue, toNearValue } from "./near-values.ts";
import { toNearCondition } from "./near-conditions.ts";

const seeds = Array.from({ length: 40 }, (_, index) => `seed ${index}`);

describe("another value of the same kind and shape", () => {
  test.each([
    ["6", /^[1-9]$/],
    ["-5", /^-[1-9]$/],
    ["56", /^\d{2}$/],
    ["3.14159265", /^[1-9]\.14159265$/],
    ["1e-6", /^[1-9]e-6$/],
    ["200u8", /^\d{2}u8$/],
    ["0xff", /^0xf[\da-f]$/],
    ["12n", /^\dn$/],
    ["True", /^False$/],
    ['"hello-world"', /^"[a-z]{5}-[a-z]{5}"$/],
    ["'A1'", /^'[A-Z]\d'$/],
    ["''", /^'x'$/],
    ['"\\n"', /^"\\nx"$/],
    ["[1, 2]", /^\[\d, \d\]$/],
    ['{"a": 1}', /^\{"a": \d\}$/],
    ["{ a: [1, { b: 'c' }] }", /^\{ a: \[\d, \{ b: '[a-z]' \}\] \}$/],
    ['Money(3, "EUR")', /^Money\(\d, "EUR"\)$/],
    ["new Vec(4, 6)", /^new Vec\(\d, 6\)$/],
    ['"x".to_string()', /^"[a-z]"\.to_string\(\)$/],
    ["vec![1, 2]", /^vec!\[\d, \d\]$/],
    ["pytest.approx(3.14)", /^pytest\.approx\(\d\.14\)$/],
    ["[f(1), 2]", /^\[f\(1\), \d\]$/],
  ])("%s", (was, shape) => {
    for (const seed of seeds) {
      const near = toNearValue(was, createDraw(seed));
      expect(near).toMatch(shape);
      expect(near).not.toBe(was);
    }
  });

  test.each([
    ["6", /^[57]$/],
    ["0", /^1$/],
    ["56", /^5[57]$/],
    ["-5", /^-[46]$/],
    ["3.14", /^3\.1[35]$/],
    ["1.5e3", /^1\.[46]e3$/],
    ["255u8", /^25[46]u8$/],
    ['"ab"', /^"(?:[A-Za-z]b|a[A-Za-z])"$/],
    ["new Vec(4, 6)", /^new Vec\([35], 6\)$/],
  ])("the nearest, where a test compares exactly: %s", (was, shape) => {
    for (const seed of seeds) {
      expect(toNearValue(was, createDraw(seed), true)).toMatch(shape);
      expect(toNearValue(was, createDraw(seed), true)).not.toBe(was);
    }

    if (was === '"ab"') {
      expect(
        seeds.some((seed) => /[AB]/.test(toNearValue(was, createDraw(seed), true) ?? "")),
      ).toBe(true);
    }
  });

  test.each([
    "f(3)",
    "x * 2",
    "table[0]",
    "a ? 1 : 2",
    "null",
    "[]",
    "`a${b}`",
    "n => n + 1",
    "a || 3",
    "x",
  ])("not where it is uncertain what becomes of it: %s", (was) =>
    expect(toNearValue(was, createDraw("seed"))).toBeNull(),
  );

  test("what is looked for inside something is not there by accident", () => {
    for (const seed of seeds) {
      expect(toFarValue('"a"', createDraw(seed))).toMatch(/^"[a-z]{7}"$/);
      expect(toFarValue("7", createDraw(seed))).toMatch(/^[1-9]\d{4}$/);
    }
  });
});

describe("what is said to be true is said of another value", () => {
  test.each([
    ["a === 6", /^a === [1-9]$/],
    ["6 == a", /^[57] == a$/],
    ["abs(area(1) - 3.14) < 1e-6", /^abs\(area\(1\) - 3\.1400030\) < 1e-6$/],
    ["v > 1.25 && v < 1.27", /^v > [89]\.\d\d && v < [89]\.\d\d$/],
    ["1.2 < v < 1.3", /^\d\.\d < v < \d\.\d$/],
    ["primes(10).includes(7)", /^primes\(10\)\.includes\(\d{5}\)$/],
    ["a.add(b).equals(new Vec(4, 6))", /^a\.add\(b\)\.equals\(new Vec\(\d, 6\)\)$/],
    ['"a" in text', /^"[a-z]{7}" in text$/],
  ])("%s", (was, shape) => {
    for (const seed of seeds) {
      expect(toNearCondition(was, createDraw(seed))).toMatch(shape);
      expect(toNearCondition(was, createDraw(seed))).not.toBe(was);
    }
  });

  test.each([
    "!a.includes(3)",
    "not a == 3",
    "x >= 3",
    "isEven(2)",
    "a === b",
    "a == 3 and b",
    "a.equals(b)",
    "x > 1 || x < 3",
  ])("and left alone where it may be true of that too: %s", (was) =>
    expect(toNearCondition(was, createDraw("seed"))).toBeNull(),
  );
});
