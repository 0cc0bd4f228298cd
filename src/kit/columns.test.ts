import { expect, test } from "vitest";
import { columnsOf, cutToColumns, paddedTo } from "./columns.ts";

test.each([
  ["plain", 5],
  ["潮位", 4],
  ["한국", 4],
  ["é", 1],
  ["e\u0301", 1],
  ["✓ ▸ · —", 7],
  ["🚀", 2],
  ["", 0],
])("%j takes %i columns", (text, columns) => expect(columnsOf(text)).toBe(columns));

test("what is too wide is cut, and never in the middle of a letter", () => {
  expect(cutToColumns("abcdef", 6)).toBe("abcdef");
  expect(cutToColumns("abcdefg", 6)).toBe("abcde…");
  expect(cutToColumns("潮位を学習する", 6)).toBe("潮位…");
  expect(cutToColumns("abc", 0)).toBe("");
  for (let columns = 0; columns < 20; columns += 1) expect(columnsOf(cutToColumns("a潮b位c🚀d", columns))).toBeLessThanOrEqual(columns);
});

test("padding counts columns, not letters", () => {
  expect(paddedTo("潮", 4)).toBe("潮  ");
  expect(paddedTo("7", 3, "right")).toBe("  7");
  expect(paddedTo("long", 2)).toBe("long");
});
