import { expect, test } from "vitest";
import type { Expectation } from "../../../contracts/evidence.ts";
import { listCodeSpans } from "../../../documents/code-spans.ts";
import { parseCriterion } from "./criterion.ts";

const least = (count: number): Expectation => ({ kind: "at_least", count });
const exactly = (count: number): Expectation => ({ kind: "exactly", count });
const words = (text: string): Expectation => ({ kind: "text", text });

test.each<[string, string, string | null, Expectation | null]>([
  ["plain words", "plain words", null, null],
  ["it works :: npm test", "it works", "npm test", null],
  ["it works :: `npm test`", "it works", "npm test", null],
  [":: npm test", "npm test", "npm test", null],
  ["a :: b :: c", "a", "b :: c", null],
  ["`std::vector` stays", "`std::vector` stays", null, null],
  ["a::b stays :: npm test", "a::b stays", "npm test", null],
  ["`f :: A` stays", "`f :: A` stays", null, null],
  ["two :: grep -c x f (returns 2)", "two", "grep -c x f", exactly(2)],
  ["two :: `grep -c x f` (returns at least 2 matches)", "two", "grep -c x f", least(2)],
  ["a :: echo '(returns 2)'", "a", "echo '(returns 2)'", null],
  ["a -- verified by: `x`", "a", "x", null],
  ["a — Verified by `x | y` (expect `EXIT:0`)", "a", "x | y", words("EXIT:0")],
  ["a, verified by: ``echo `id` ``", "a", "echo `id`", null],
  ["a -- verified by: `x` (on a good day)", "a", "x", null],
  ["a -- verified by: `x` (expect f(x), g(y)) and more", "a", "x", words("f(x), g(y)")],
  ["a is verified by hand", "a is verified by hand", null, null],
  ["a -- verified by: `b :: c`", "a", "b :: c", null],
])("%j", (written, text, command, expected) => {
  expect(parseCriterion(written)).toEqual({ text, command, expect: expected, faults: [] });
});

test.each([
  ["a ::", "check_empty"],
  ["it adds::npm test", "check_separator"],
  ["it adds ::npm test", "check_separator"],
  ["it adds:: npm test", "check_separator"],
  ["std::vector stays", "check_separator"],
  ["a -- verified by: ` `", "check_empty"],
  ["a verified by: npm test", "check_not_quoted"],
  ["a verified by: `x` and verified by: `y`", "two_checks"],
  ["a verified by: `x` (returns some)", "expectation_unknown"],
  ["a verified by: `x` (returns 1.5)", "expectation_unknown"],
  ["a".repeat(5_000), "criterion_too_long"],
])("%j has a fault", (written, rule) => {
  expect(parseCriterion(written).faults.map((fault) => fault.rule)).toEqual([rule]);
});

test("backticks pair as Markdown pairs them, in one pass", () => {
  expect(listCodeSpans("a `b` ``c ` d`` `e").map(({ code }) => code)).toEqual(["b", "c ` d"]);
  expect(listCodeSpans("```` ` ``` `` `")).toHaveLength(1);
  expect(
    listCodeSpans(Array.from({ length: 2_000 }, (_, n) => "`".repeat(n + 1)).join(" ")),
  ).toEqual([]);
});
