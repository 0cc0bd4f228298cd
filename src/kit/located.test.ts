import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { findingText, type Finding } from "./finding.ts";
import { documentBytesMax, isRefused, parseLocated, readLocated } from "./located.ts";
import { tries } from "../../test/support/sampled.ts";

const Pet = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[a-z]+$/, "expected a lower-case name")),
  legs: v.optional(v.pipe(v.number(), v.minValue(0))),
  food: v.optional(
    v.array(v.union([v.string(), v.strictObject({ kind: v.string(), grams: v.number() })])),
  ),
  home: v.optional(v.strictObject({ street: v.optional(v.string()) })),
});

const yamlLetters = "a:-[]{},&*!|>'\"#%@`\n\t ?0<".split("");

const findingsOf = (text: string | Uint8Array, file = "pet.yaml"): readonly Finding[] => {
  const result = readLocated(file, text, Pet);
  return isRefused(result) ? result.findings : [];
};
const only = (text: string | Uint8Array, file?: string) => {
  const findings = findingsOf(text, file);
  expect(findings).toHaveLength(1);
  const [
    { line, column, path, rule, message } = { line: 0, column: 0, path: "", rule: "", message: "" },
  ] = findings;

  return { line, column, path, rule, message };
};

describe("a good document", () => {
  test("gives its value, and remembers where everything stood", () => {
    const result = readLocated(
      "pet.yaml",
      "# a pet\nname: rex\nfood:\n  - bones\n  - { kind: meat, grams: 200 }\n",
      Pet,
    );
    if (isRefused(result)) throw new Error(result.findings.map(findingText).join("\n"));
    expect(result.value).toEqual({ name: "rex", food: ["bones", { kind: "meat", grams: 200 }] });
    expect(result.positions.placeOf(["food", 1, "grams"])).toEqual({ line: 5, column: 26 });
    expect(result.positions.keyPlaceOf(["food", 1, "grams"])).toEqual({ line: 5, column: 19 });
    expect(result.positions.placeOf(["food", 1, "colour"])).toEqual({ line: 5, column: 5 });
  });

  test("may be JSON, with tabs and escapes", () => {
    expect(
      parseLocated(
        "a.json",
        '{\n\t"name": "a\\/\\ud83d\\ude00",\n\t"list": [\n\t\t1,\n\t\t2\n\t]\n}',
      ),
    ).toMatchObject({
      value: { name: "a/😀", list: [1, 2] },
    });
  });

  test("may use an anchor again; its lines are the anchor's", () => {
    const parsed = parseLocated("a.yaml", "a: &x\n  b: 1\nc: *x\n");
    if (isRefused(parsed)) throw new Error("refused");
    expect(parsed.value).toEqual({ a: { b: 1 }, c: { b: 1 } });
    expect(parsed.positions.placeOf(["c", "b"])).toEqual({ line: 2, column: 6 });
  });

  test("may be empty", () => {
    expect(parseLocated("a.yaml", "# nothing\n")).toMatchObject({ value: null });
  });
});

describe("what does not fit is told with its line", () => {
  test.each([
    [
      "an unknown key, on the key's own line",
      "name: rex\nleg: 4\n",
      { line: 2, column: 1, path: "leg", rule: "unknown_key" },
      /"leg".*Did you mean legs\?/,
    ],
    [
      "a missing key",
      "legs: 4\n",
      { line: 1, column: 1, path: "name", rule: "missing_key" },
      /found no name/,
    ],
    [
      "a wrong type",
      "name: rex\nlegs: four\n",
      { line: 2, column: 7, path: "legs", rule: "wrong_type" },
      /found "four", expected a number/,
    ],
    [
      "a wrong value, in the schema's own words",
      "name: Rex\n",
      { line: 1, column: 7, path: "name", rule: "wrong_value" },
      /found "Rex", expected a lower-case name/,
    ],
    [
      "a value out of range",
      "name: rex\nlegs: -1\n",
      { line: 2, column: 7, path: "legs", rule: "wrong_value" },
      /found -1, expected >=0/,
    ],
    [
      "a key inside a union",
      "name: rex\nfood:\n  - { kind: meat, gramms: 2 }\n",
      { line: 3, column: 19, path: "food[0].gramms", rule: "unknown_key" },
      /Did you mean grams\?/,
    ],
    [
      "a value inside a union",
      "name: rex\nfood:\n  - { kind: meat, grams: x }\n",
      { line: 3, column: 26, path: "food[0].grams", rule: "wrong_type" },
      /expected a number/,
    ],
    [
      "no member of a union",
      "name: rex\nfood: [7]\n",
      { line: 2, column: 8, path: "food[0]", rule: "wrong_type" },
      /found 7, expected text or a mapping/,
    ],
    [
      "a list where a mapping belongs",
      "name: rex\nhome: []\n",
      { line: 2, column: 7, path: "home", rule: "wrong_type" },
      /found a list, expected a mapping/,
    ],
  ])("%s", (_title, text, place, message) => {
    const found = only(text);
    expect(found).toMatchObject(place);
    expect(found.message).toMatch(message);
  });

  test("every unknown key is told, not only the first", () => {
    expect(
      findingsOf("name: rex\nleg: 4\nhouse: {}\n").map((finding) => [finding.line, finding.path]),
    ).toEqual([
      [2, "leg"],
      [3, "house"],
    ]);
  });
});

describe("what is no document at all is a finding, never a crash", () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
    .split("")
    .map(
      (name, n) =>
        `${name}: &${name} [${Array.from({ length: 10 }, () => `*${"abcdefgh"[n]}`).join(",")}]`,
    )
    .join("\n")}\n`;

  test.each([
    ["a NUL", "name: rex\nlegs: \0\n", "not_text", 2],
    ["not UTF-8", Uint8Array.of(0x6e, 0xff, 0xfe), "not_utf8", 1],
    ["a lone surrogate", "name: \ud800", "not_utf8", 1],
    ["a huge file", "x".repeat(documentBytesMax + 1), "too_large", 1],
    ["deep lists", "[".repeat(100_000), "too_deep", 1],
    ["lists closed but deep", `${"[".repeat(60)}${"]".repeat(60)}`, "too_deep", 1],
    ["aliases that multiply", bomb, "too_many_nodes", 1],
    ["an alias inside itself", "a: &x [*x]\n", "endless_alias", 1],
    ["an alias of nothing", "a: 1\nb: *x\n", "unknown_anchor", 2],
    ["a key twice", "name: a\nlegs: 1\nname: b\n", "duplicate_key", 3],
    ["a prototype", "name: a\n__proto__: { legs: 4 }\n", "reserved_key", 2],
    ["an inherited member", "name: a\ntoString: x\n", "reserved_key", 2],
    ["a list as a key", "? [a]\n: 1\n", "key_not_text", 1],
    ["two documents", "name: a\n---\nname: b\n", "syntax", 2],
    ["a tag", "name: !foo a\n", "syntax", 1],
    ["a tab as indentation", "home:\n\tstreet: a\n", "syntax", 2],
    ["a quotation left open", "name: 'a\n", "syntax", 1],
    ["infinity", "name: a\nlegs: .inf\n", "not_finite", 2],
  ])("%s", (_title, text, rule, line) => {
    expect(only(text)).toMatchObject({ rule });
    expect(only(text).line).toBeGreaterThanOrEqual(line);
  });

  test("YAML in a .json file is told as what it is", () => {
    expect(only('{\n  "name": "rex",\n}', "pet.json")).toMatchObject({ rule: "syntax", line: 3 });
  });

  test("any text at all", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom(...yamlLetters) })),
        (text) => {
          const result = readLocated("any.yaml", text, Pet);
          return isRefused(result) ? result.findings.length > 0 : "value" in result;
        },
      ),
      { numRuns: tries(500) },
    );
  });

  test("any bytes at all", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const result = parseLocated("any.yaml", bytes);
        return isRefused(result) ? result.findings.length > 0 : "value" in result;
      }),
      { numRuns: tries(300) },
    );
  });
});
