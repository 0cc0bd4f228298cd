import { expect, test } from "vitest";
import type { Batch } from "./batch.ts";
import { putNumber } from "./batch.ts";
import { unsupported, putValue } from "./json-bytes.ts";

function put(value: unknown): { readonly text: string; readonly copy: unknown } {
  const batch: Batch = { bytes: Buffer.alloc(1), used: 0 };
  const copy = putValue(batch, value, 0);
  return { text: batch.bytes.toString("utf8", 0, batch.used), copy };
}

const everyChar = Array.from({ length: 0x300 }, (_, code) => String.fromCharCode(code)).join("");
const numbers = [
  0,
  7,
  10,
  99,
  100,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53,
  -1,
  0.1,
  1e21,
  1e-7,
  5e-324,
  Number.MAX_VALUE,
];
const strings = [
  "",
  "a",
  '"',
  "\\",
  "\n",
  "\u007f",
  "ü",
  "\u2028",
  "😀",
  "\ud800",
  "x".repeat(128),
  "x".repeat(129),
  everyChar,
];
const nested = [
  [],
  {},
  [[]],
  { a: {} },
  { "": [null, true, false] },
  { "1": 1, b: [{ ü: "\t" }], "0": 0 },
  [numbers, strings],
];

test("the bytes are those of JSON.stringify, and the copy is what JSON.parse makes of them", () => {
  for (const value of [
    null,
    true,
    false,
    ...numbers,
    ...strings,
    ...nested,
    ...strings.map((name) => ({ [name]: name })),
  ]) {
    const { text, copy } = put(value);
    expect(text).toBe(JSON.stringify(value));
    expect(copy).toStrictEqual(JSON.parse(text));
  }
});

test("the copy shares nothing that could change", () => {
  const value = { list: [{ a: 1 }] };
  const { copy } = put(value);
  value.list[0] = { a: 2 };
  value.list.push({ a: 3 });
  expect(copy).toEqual({ list: [{ a: 1 }] });
});

test("a value that JSON would change, or that it would ask first, is odd", () => {
  const deep = (depth: number): unknown => (depth === 0 ? {} : { a: deep(depth - 1) });
  class Made {
    a = 1;
  }

  const values: readonly unknown[] = [
    undefined,
    Number.NaN,
    Number.NEGATIVE_INFINITY,
    -0,
    1n,
    () => 1,
    Symbol("a"),
    new Date(0),
    new Map(),
    new Made(),
    Object.create(null),
    { toJSON: 1 },
    JSON.parse('{"__proto__":1}'),
    deep(20),
  ];
  for (const value of values) {
    expect(put(value).copy).toBe(unsupported);
    expect(put([value]).copy).toBe(unsupported);
    expect(put({ a: { b: value } }).copy).toBe(unsupported);
  }

  expect(put([, 1]).copy).toBe(unsupported); // oxlint-disable-line no-sparse-arrays
});

test("a number's digits are JSON's, at every length", () => {
  for (let digits = 1; digits <= 16; digits++) {
    for (const value of [10 ** digits - 1, 10 ** digits]) {
      const batch: Batch = { bytes: Buffer.alloc(1), used: 0 };
      putNumber(batch, value);
      expect(batch.bytes.toString("latin1", 0, batch.used)).toBe(JSON.stringify(value));
    }
  }
});
