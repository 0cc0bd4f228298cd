import { expect, test } from "vitest";
import { wholeHead, wholeTail } from "./whole-words.ts";

test("a text is cut between two words, so that no half of a secret is left that nobody would know", () => {
  const text = "one two three";
  expect([3, 4, 5, 6, 7, 8, 13].map((max) => wholeHead(text, max))).toEqual([
    "one",
    "one ",
    "one ",
    "one ",
    "one two",
    "one two ",
    text,
  ]);

  expect([5, 6, 7, 9, 10, 13].map((max) => wholeTail(text, max))).toEqual([
    "three",
    " three",
    " three",
    "two three",
    " two three",
    text,
  ]);

  expect(wholeHead("x".repeat(3_000), 2_000)).toHaveLength(2_000);
  expect(wholeTail("x".repeat(3_000), 2_000)).toBe("");
});
