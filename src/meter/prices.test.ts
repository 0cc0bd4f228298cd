// Which price a model's name means, and which names have none.

import { expect, test } from "vitest";
import { createPriceLookup, composePriceLine } from "./prices.ts";

const priceOf = createPriceLookup({});

test.each([
  ["claude-opus-4-5", 5],
  ["claude-opus-4-5-20251101", 5],
  ["anthropic/claude-opus-4-5", 5],
  ["claude-opus-4-20250514", 15],
  ["claude-sonnet-4-5@20250929", 3],
  ["claude-opus-5[1m]", 5],
  ["gpt-5", 1.25],
  ["gpt-5-2025-08-07", 1.25],
  ["gpt-5-mini-2025-08-07", 0.25],
  ["gpt-5-pro", 15],
  ["GPT-5.5", 5],
  ["gemini-3-pro-preview", 2],
  ["models/gemini-2.5-flash", 0.3],
  ["gemini-2.5-flash-preview-09-2025", 0.3],
  ["gemini-3.1-pro-preview-customtools", 2],
  ["kimi-k2-0905-preview", 0.6],
  ["kimi-k2.6", 0.95],
])("%s costs %d for a million in", (model, input) => {
  expect(priceOf(model)?.input).toBe(input);
});

test.each([
  "",
  "gpt",
  "gpt-5-ultra",
  "gpt-5.9",
  "gpt-55",
  "claude-opus-4-9",
  "claude-opus",
  "gemini-3-pro-image",
  "scripted-1",
  "__proto__",
  "constructor",
])("%j has no price: a neighbour's would be a guess", (model) => {
  expect(priceOf(model)).toBeNull();
});

test("the config has the first word, also for editions", () => {
  const own = createPriceLookup({
    "gpt-5": { input: 99, output: 1 },
    "scripted-1": { input: 0, output: 0 },
  });
  expect(own("gpt-5")?.input).toBe(99);
  expect(own("gpt-5-2025-08-07")?.input).toBe(99);
  expect(own("gpt-5-mini")?.input).toBe(0.25);
  expect(own("scripted-1")).toEqual({ input: 0, output: 0 });
});

test("the line for the config can be pasted", () => {
  expect(composePriceLine("gpt-9")).toBe('prices: { "gpt-9": { input: …, output: … } }');
});
