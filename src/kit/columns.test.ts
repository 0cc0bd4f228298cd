import * as fc from "fast-check";
import { expect, test } from "vitest";
import { countColumns, cutToColumns, padTo, wrapTo } from "./columns.ts";

test.each([
  ["plain", 5],
  ["潮位", 4],
  ["한국", 4],
  ["é", 1],
  ["e\u0301", 1],
  ["✓ ▸ · —", 7],
  ["🚀", 2],
  ["", 0],
])("%j takes %i columns", (text, columns) => expect(countColumns(text)).toBe(columns));

test("what is too wide is cut, and never in the middle of a letter", () => {
  expect(cutToColumns("abcdef", 6)).toBe("abcdef");
  expect(cutToColumns("abcdefg", 6)).toBe("abcde…");
  expect(cutToColumns("潮位を学習する", 6)).toBe("潮位…");
  expect(cutToColumns("abc", 0)).toBe("");

  for (let columns = 0; columns < 20; columns += 1) {
    expect(countColumns(cutToColumns("a潮b位c🚀d", columns))).toBeLessThanOrEqual(columns);
  }
});

test("padding counts columns, not letters", () => {
  expect(padTo("潮", 4)).toBe("潮  ");
  expect(padTo("7", 3, "right")).toBe("  7");
  expect(padTo("long", 2)).toBe("long");
});

test("a long line is broken between words, and goes on under where its text began", () => {
  expect(wrapTo("short", 20)).toEqual(["short"]);
  expect(wrapTo("  go     Begin, or take up what is open", 24)).toEqual([
    "  go     Begin, or take",
    "         up what is open",
  ]);

  expect(wrapTo("! this was not given, so assumed", 20)).toEqual([
    "! this was not",
    "  given, so assumed",
  ]);

  expect(wrapTo("see /a/path/that/is/longer/than/the/window now", 20)).toEqual([
    "see",
    "/a/path/that/is/longer/than/the/window",
    "now",
  ]);

  expect(wrapTo("  --a-head-that-is-wide  text behind it", 24)).toEqual([
    "  --a-head-that-is-wide",
    "  text behind it",
  ]);

  expect(wrapTo("too narrow to break at all", 5)).toEqual(["too narrow to break at all"]);
});

test("nothing of it is lost, and no piece but a single long word is too wide", () => {
  const words = fc.array(fc.stringMatching(/^[a-z✓潮]{1,30}$/), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(words, fc.integer({ min: 20, max: 60 }), (list, columns) => {
      const line = list.join(" ");
      const pieces = wrapTo(line, columns);
      expect(pieces.map((piece) => piece.trim()).join(" ")).toBe(line);

      for (const piece of pieces) {
        if (piece.trim().split(" ").length > 1) {
          expect(countColumns(piece)).toBeLessThanOrEqual(columns);
        }
      }
    }),
  );
});
