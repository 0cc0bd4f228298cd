import { expect, test } from "vitest";
import { didYouMean, editDistance, suggest } from "./suggest.ts";

test.each([
  ["chekcs", ["checks", "verify"], "checks"],
  ["isolaton", ["isolation", "network"], "isolation"],
  ["done_criteria", ["done-criteria", "scope"], "done-criteria"],
  ["xyz", ["checks", "verify"], null],
  ["", ["a"], null],
  ["a".repeat(100), ["a"], null],
])("%s of %j means %s", (word, candidates, meant) => {
  expect(suggest(word, candidates)).toBe(meant);
});

test("two neighbours swapped are one mistake", () => {
  expect(editDistance("chekcs", "checks")).toBe(1);
  expect(editDistance("", "abc")).toBe(3);
});

test("the sentence is empty where nothing is near", () => {
  expect(didYouMean("gaol", ["goal"])).toBe(" Did you mean goal?");
  expect(didYouMean("zzz", ["goal"])).toBe("");
});
