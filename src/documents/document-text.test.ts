import { expect, test } from "vitest";
import { decodeDocument } from "./document-text.ts";

const place = (bytes: Uint8Array): unknown => {
  const decoded = decodeDocument("a.md", bytes);
  return "text" in decoded
    ? decoded.text
    : decoded.findings.map(({ line, column, rule }) => [line, column, rule]);
};
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

test("a byte that is not UTF-8 is reported where it is, also behind a replacement character that was written", () => {
  expect(place(text("a \ufffd b"))).toBe("a \ufffd b");
  expect(place(Uint8Array.of(...text("a \ufffd\nbc"), 0xff, ...text("d")))).toEqual([
    [2, 3, "not_utf8"],
  ]);
});

test("behind a byte order mark, and where the text ends in the middle of a character", () => {
  expect(place(Uint8Array.of(0xef, 0xbb, 0xbf, ...text("a"), 0xff))).toEqual([[1, 2, "not_utf8"]]);
  expect(place(Uint8Array.of(...text("ab"), 0xe2, 0x82))).toEqual([[1, 3, "not_utf8"]]);
});
