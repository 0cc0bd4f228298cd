import { expect, test } from "vitest";
import { listReplacedLines } from "./replaced-lines.ts";

test("lines that are gone come in groups", () => {
  const before = "a\nb\nc\nd\ne\nf";
  expect(listReplacedLines(before, "a\nB\nC\nd\nmore\ne")).toEqual([["b", "c"], ["f"]]);
  expect(listReplacedLines(before, before)).toEqual([]);
  expect(listReplacedLines(before, `x\n${before}`)).toEqual([]);
  expect(listReplacedLines(before, "")).toEqual([["a", "b", "c", "d", "e", "f"]]);
});

test("texts that are too long are not compared", () => {
  const text = (word: string): string =>
    Array.from({ length: 3000 }, (_, n) => `${word}${n}`).join("\n");
  expect(listReplacedLines(text("a"), text("b"))).toBeNull();
});
