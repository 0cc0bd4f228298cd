// The quick questions against the schema that they are made from: both must say the same of
// everything.

import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { buildFieldCheck, unfit } from "./field-check.ts";
import { countStrings } from "./json-hazards.ts";

const schema = v.looseObject({
  text: v.string(),
  shape: v.pipe(v.string(), v.regex(/^a+$/)),
  short: v.pipe(v.string(), v.maxLength(3)),
  count: v.pipe(v.number(), v.integer(), v.minValue(0)),
  share: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  flag: v.boolean(),
  word: v.picklist(["x", "y"]),
  one: v.literal(1),
  list: v.array(v.string()),
  map: v.record(v.string(), v.nullable(v.number())),
  inner: v.looseObject({ clean: v.boolean() }),
  any: v.unknown(),
  maybe: v.optional(v.string()),
  maybeNull: v.optional(v.nullable(v.string())),
  other: v.union([v.number(), v.literal("n/a")]),
  odd: v.pipe(v.string(), v.startsWith("odd")),
});

const whole: Readonly<Record<string, unknown>> = {
  text: "",
  shape: "aaa",
  short: "abc",
  count: 0,
  share: 0.5,
  flag: false,
  word: "y",
  one: 1,
  list: [],
  map: { a: null, b: 1 },
  inner: { clean: true, more: 1 },
  any: null,
  maybe: "x",
  maybeNull: null,
  other: "n/a",
  odd: "oddly",
};

const values: readonly unknown[] = [
  undefined,
  null,
  "",
  "a",
  "x",
  "abcd",
  "n/a",
  "odd",
  0,
  1,
  -1,
  0.5,
  1.5,
  2,
  true,
  false,
  [],
  ["a"],
  [1],
  {},
  { a: 1 },
  { a: "1" },
  { clean: true },
  { clean: 1 },
];

describe("quick questions", () => {
  const check = buildFieldCheck(schema);

  test("say yes to a record that is in order, whatever else is in it", () => {
    for (const record of [whole, { ...whole, more: { than: "that" } }]) {
      expect(check.countStringsIn(record)).toBe(countStrings(record));
    }

    expect(check.findFaults(whole)).toEqual([]);
  });

  test.each(Object.keys(schema.entries))(
    "%s: the same answer as the schema for every value",
    (key) => {
      for (const value of values) {
        const record = { ...whole, [key]: value };
        // The library lets a list pass for a mapping; we do not, and a key that is there and
        // undefined cannot come out of JSON.
        const isList = Array.isArray(value) && (key === "map" || key === "inner");
        const plain = JSON.parse(JSON.stringify(record)) as Record<string, unknown>;
        const expected = !isList && v.safeParse(schema, plain).success;
        expect([key, value, check.countStringsIn(plain) !== unfit]).toEqual([key, value, expected]);
        expect([key, value, check.findFaults(record).length > 0]).toEqual([key, value, !expected]);
      }
    },
  );

  test("say what is missing, of the wrong kind, none of its words, or null", () => {
    const kinds = (record: object): string[] =>
      check.findFaults({ ...whole, ...record }).map(({ key, kind }) => `${key} ${kind}`);
    expect(kinds({ text: undefined, word: "z", one: 2, count: "1", maybe: null })).toEqual([
      "text missing",
      "count type",
      "word enum",
      "one enum",
      "maybe null",
    ]);

    expect(check.findFaults({ ...whole, word: "z" })[0]?.message).toBe(
      'word is "z", expected "x" or "y"',
    );

    expect(check.findFaults({ ...whole, inner: { clean: 1 } })[0]?.message).toContain(
      "inner.clean",
    );
  });

  test("leave out the fields that somebody else looks at", () => {
    expect(buildFieldCheck(schema, ["text"]).countStringsIn({ ...whole, text: 7 })).toBe(
      countStrings(whole) - 1,
    );
  });
});
