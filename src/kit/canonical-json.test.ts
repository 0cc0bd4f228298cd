import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json.ts";

test("two orders of the same keys are one text", () => {
  expect(canonicalJson({ b: [1, { d: null, c: "x" }], a: undefined })).toBe(
    '{"b":[1,{"c":"x","d":null}]}',
  );
});

test("it is JSON, and reads back as what it was", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
