import { expect, test } from "vitest";
import { nothingUsed, usageAfter, usageOf } from "./usage.ts";

const told = { totalTokens: 1100, inputTokens: 800, outputTokens: 200, cachedReadTokens: 100 };
const report = (raw: unknown, updates = 1, costUsd: number | null = null) => ({ raw, updates, costUsd });

test("what counts the turn is taken as it is", () => {
  expect(usageOf("turn", report(told, 3), nothingUsed)).toEqual({ tokens: 1100, input: 800, output: 200, cached: 100, calls: 3 });
});

test("what counts the last call is believed only where there was no other", () => {
  expect(usageOf("lastCall", report(told, 1), nothingUsed)).toMatchObject({ tokens: 1100 });
  expect(usageOf("lastCall", report(told, 3), nothingUsed)).toBe(null);
});

test("what counts the session is taken less what was before", () => {
  const first = report(told);
  const second = report({ totalTokens: 3000, inputTokens: 2000, outputTokens: 700, cachedReadTokens: 300 });
  const before = usageAfter(first, nothingUsed);
  expect(usageOf("cumulative", first, nothingUsed)).toMatchObject({ tokens: 1100 });
  expect(usageOf("cumulative", second, before)).toMatchObject({ tokens: 1900, input: 1200, output: 500, cached: 200 });
  expect(usageOf("cumulative", second, null)).toBe(null);
  expect(usageOf("cumulative", first, usageAfter(second, before))).toBe(null);
});

test("the cost is the session's, less what was before", () => {
  const before = usageAfter(report(told, 1, 0.5), nothingUsed);
  expect(usageOf("turn", report(told, 1, 0.75), before)).toMatchObject({ usd: 0.25 });
  expect(usageOf("turn", report(told, 1, 0.25), before)).not.toHaveProperty("usd");
});

test.each([
  ["nothing", undefined],
  ["null", null],
  ["a word", "many"],
  ["numbers below zero", { inputTokens: -1, outputTokens: 5 }],
  ["what is no number", { inputTokens: "800", outputTokens: 200 }],
  ["endless numbers", { inputTokens: Number.POSITIVE_INFINITY, outputTokens: 1 }],
  ["zero", { inputTokens: 0, outputTokens: 0, totalTokens: 0 }],
])("%s is not believed", (_, raw) => {
  expect(usageOf("turn", report(raw), nothingUsed)).toBe(null);
});

test("an agent whose numbers mean nothing is not asked", () => {
  expect(usageOf("none", report(told), nothingUsed)).toBe(null);
});
