// When a file counts as what its generator writes.

import { expect, test } from "vitest";
import { isAsMade } from "./generated-text.ts";

const text = "// made on 2026-11-18T10:00:00Z\nexport const a = { b: 'c', d: [1, 2] };\n";

test.each([
  ["the same", text],
  ["another day in the first lines", text.replace("2026-11-18T10:00:00Z", "2025-01-02")],
  [
    "as a formatter writes it",
    text.replace("{ b: 'c', d: [1, 2] };", '{\n  b: "c",\n  d: [1, 2],\n}'),
  ],
])("it is what was made: %s", (_, left) => {
  expect(isAsMade(left, [text])).toBe(true);
});

test.each([
  ["another value", text.replace("2]", "3]")],
  ["something more", `${text}export const e = 1;\n`],
  ["something less", text.replace(", d: [1, 2]", "")],
])("it isn't: %s", (_, left) => {
  expect(isAsMade(left, [text])).toBe(false);
});

test("what differs between two runs is not compared", () => {
  const stamp = (id: string): string => text.replace("'c'", `'${id}'`);
  expect(isAsMade(stamp("x1"), [stamp("x2"), stamp("x3")])).toBe(true);
  expect(isAsMade(stamp("x1").replace("2]", "3]"), [stamp("x2"), stamp("x3")])).toBe(false);
});
