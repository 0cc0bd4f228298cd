import { describe, expect, test } from "vitest";
import { findHazards, isTooDeep, jsonDepthMax, countStrings } from "./json-hazards.ts";

const found = (text: string): string[] =>
  findHazards(text).map(({ offset, message }) => `${offset} ${message}`);
const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;

describe("hazards of a JSON text", () => {
  test.each([
    "{}",
    "[]",
    '{"a":1,"b":[{"a":2},{"a":3}],"c":{"a":{"a":"a"}}}',
    '{"a":"\\"b\\":1","b":"}{][,:"}',
    '"\\ud83d\\ude00"',
    nested(64),
  ])("none in %s", (text) => {
    expect(found(text)).toEqual([]);
  });

  test.each([
    ['{"a":1,"a":2}', ['7 holds the key "a" twice, expected it once']],
    ['{"a" : 1, "\\u0061" : 2}', ['10 holds the key "a" twice, expected it once']],
    ['{"x":[{"b":1,"c":{},"b":[]}]}', ['20 holds the key "b" twice, expected it once']],
    [
      '{"__proto__":{"admin":true}}',
      ["1 holds the key __proto__, which no reader can take for plain data"],
    ],
    [
      '{"\\u005f_proto__":1}',
      ["1 holds the key __proto__, which no reader can take for plain data"],
    ],
    ['{"a":"\\ud800"}', ['5 holds half a character ("\\ud800"), expected whole ones']],
    ['{"\\udfff":1}', ['1 holds half a character ("\\udfff"), expected whole ones']],
  ])("in %s", (text, expected) => {
    expect(() => JSON.parse(text) as unknown).not.toThrow();
    expect(found(text)).toEqual(expected);
  });

  test("nesting without end is told where it goes too far, and nothing runs out of stack", () => {
    const text = nested(100_000);
    expect(findHazards(text)).toMatchObject([{ offset: jsonDepthMax, kind: "deep" }]);
    expect(countStrings(JSON.parse(text) as object)).toBe(Number.NEGATIVE_INFINITY);
    expect([
      isTooDeep(JSON.parse(text)),
      isTooDeep(JSON.parse(nested(64))),
      isTooDeep({ a: [{}] }),
      isTooDeep("x"),
    ]).toEqual([true, false, false, false]);
  });

  test("whatever the text is, nothing is thrown", () => {
    for (const text of ["", "{", '{"a', '{"a":"\\', '"\\u', "}}}}", '{"a":1}{"a":2}']) {
      expect(() => findHazards(text)).not.toThrow();
    }
  });
});

describe("the names and texts of a value", () => {
  test("are as many as half the quotes that begin or end one, as long as no key stands twice", () => {
    const quotes = (text: string): number => text.replaceAll(/\\./g, "").split('"').length - 1;
    for (const text of [
      "{}",
      "[]",
      '{"a":"b","c":["d",{"e":null}],"f":3}',
      '{"say":"\\"hi\\"","\\\\":"\\\\"}',
      '[["a"],[],{"":""}]',
    ]) {
      expect([text, countStrings(JSON.parse(text) as object) * 2]).toEqual([text, quotes(text)]);
    }

    for (const text of ['{"a":1,"a":1}', '{"a":{"b":"c"},"a":{}}', '[{"a":"x","a":"y"}]']) {
      expect(countStrings(JSON.parse(text) as object) * 2).toBeLessThan(quotes(text));
    }
  });

  test("are not counted where a key is __proto__", () => {
    expect(countStrings(JSON.parse('{"a":{"__proto__":"x"}}') as object)).toBe(
      Number.NEGATIVE_INFINITY,
    );
  });
});
