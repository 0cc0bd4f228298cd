import { expect, test } from "vitest";
import { nothingUsed, computeNextBaseline, computeUsage } from "./reported-usage.ts";

const reported = { totalTokens: 1100, inputTokens: 800, outputTokens: 200, cachedReadTokens: 100 };
const report = (usage: unknown, updates = 1, costUsd: number | null = null) => ({
  response: { usage },
  chunks: [],
  updates,
  costUsd,
  tools: 0,
});

test("what counts the turn is taken as it is", () => {
  expect(computeUsage("turn", report(reported, 3), nothingUsed)).toEqual({
    tokens: 1100,
    input: 900,
    output: 200,
    cached: 100,
    calls: 3,
  });
});

test("what counts the last call is believed only where there was no other", () => {
  expect(computeUsage("lastCall", report(reported, 1), nothingUsed)).toMatchObject({
    tokens: 1100,
  });

  expect(computeUsage("lastCall", report(reported, 3), nothingUsed)).toBe(null);
  expect(computeUsage("lastCall", { ...report(reported, 1), tools: 1 }, nothingUsed)).toBe(null);
});

test("what counts the session is taken less what was before", () => {
  const first = report(reported);
  const second = report({
    totalTokens: 3000,
    inputTokens: 2000,
    outputTokens: 700,
    cachedReadTokens: 300,
  });

  const before = computeNextBaseline(first, nothingUsed);
  expect(computeUsage("cumulative", first, nothingUsed)).toMatchObject({ tokens: 1100 });
  expect(computeUsage("cumulative", second, before)).toMatchObject({
    tokens: 1900,
    input: 1400,
    output: 500,
    cached: 200,
  });

  expect(computeUsage("cumulative", second, null)).toBe(null);
  expect(computeUsage("cumulative", first, computeNextBaseline(second, before))).toBe(null);
});

test("the cost is the session's, less what was before", () => {
  const before = computeNextBaseline(report(reported, 1, 0.5), nothingUsed);
  expect(computeUsage("turn", report(reported, 1, 0.75), before)).toMatchObject({ usd: 0.25 });
  expect(computeUsage("turn", report(reported, 1, 0.25), before)).not.toHaveProperty("usd");
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
  expect(computeUsage("turn", report(raw), nothingUsed)).toBe(null);
});

test("an agent whose numbers mean nothing is not asked", () => {
  expect(computeUsage("none", report(reported), nothingUsed)).toBe(null);
});

// Written by hand after what each agent was seen to send for a turn of three model calls and two
// tools; recordings are in test/agents.
const frames = (
  response: object,
  more: { chunks?: readonly unknown[]; updates?: number; costUsd?: number | null } = {},
) => ({
  response: { stopReason: "end_turn", ...response },
  chunks: more.chunks ?? [],
  tools: 2,
  updates: more.updates ?? 3,
  costUsd: more.costUsd ?? null,
});
const chunk = (input: number, output: number, cached: number) => ({
  inputTokens: input,
  outputTokens: output,
  totalTokens: input + output,
  thoughtTokens: 0,
  cachedReadTokens: cached,
});

test.each<[string, Parameters<typeof computeUsage>, object | null]>([
  [
    "claude: this turn, the cache beside the input, the cost of the session",
    [
      "turn",
      frames(
        {
          usage: {
            inputTokens: 300,
            outputTokens: 90,
            cachedReadTokens: 2000,
            cachedWriteTokens: 110,
            totalTokens: 2500,
          },
        },
        { costUsd: 0.75 },
      ),
      { ...nothingUsed, tokens: { total: 9, input: 9, output: 0, cached: 0 }, costUsd: 0.5 },
    ],
    { tokens: 2500, input: 2410, output: 90, cached: 2110, usd: 0.25, calls: 3 },
  ],
  [
    "codex: this turn, the cache beside the input",
    [
      "turn",
      frames({
        usage: { inputTokens: 2400, outputTokens: 126, cachedReadTokens: 600, totalTokens: 3126 },
      }),
      nothingUsed,
    ],
    { tokens: 3126, input: 3000, output: 126, cached: 600, calls: 3 },
  ],
  [
    "codex: the model call failed",
    ["turn", frames({ usage: null }, { updates: 0 }), nothingUsed],
    null,
  ],
  [
    "one that counts the cache into the input",
    [
      "turn",
      frames({
        usage: { inputTokens: 3000, outputTokens: 126, cachedReadTokens: 600, totalTokens: 3126 },
      }),
      nothingUsed,
    ],
    { tokens: 3126, input: 3000, output: 126, cached: 600 },
  ],
  [
    "opencode: the last of three calls is not the turn",
    [
      "lastCall",
      frames({ usage: { inputTokens: 800, outputTokens: 42, totalTokens: 842 } }, { updates: 1 }),
      nothingUsed,
    ],
    null,
  ],
  [
    "copilot: the session, less the prompt before",
    [
      "cumulative",
      frames({ usage: { inputTokens: 4000, outputTokens: 200, totalTokens: 4200 } }),
      { tokens: { total: 2100, input: 2000, output: 100, cached: 0 }, costUsd: 0 },
    ],
    { tokens: 2100, input: 2000, output: 100 },
  ],
  [
    "copilot: nothing was added, so no model was asked",
    [
      "cumulative",
      frames({ usage: { inputTokens: 2000, outputTokens: 100, totalTokens: 2100 } }),
      { tokens: { total: 2100, input: 2000, output: 100, cached: 0 }, costUsd: 0 },
    ],
    null,
  ],
  [
    "gemini: beside the answer, for the turn",
    [
      "quotaMeta",
      frames({
        _meta: {
          quota: { token_count: { input_tokens: 2400, output_tokens: 126 }, model_usage: [] },
        },
      }),
      nothingUsed,
    ],
    { tokens: 2526, input: 2400, output: 126, cached: 0 },
  ],
  [
    "gemini: a side call of another model stands in the list only",
    [
      "quotaMeta",
      frames({
        _meta: {
          quota: {
            token_count: { input_tokens: 100, output_tokens: 10 },
            model_usage: [
              { model: "big", token_count: { input_tokens: 100, output_tokens: 10 } },
              { model: "small", token_count: { input_tokens: 20, output_tokens: 2 } },
            ],
          },
        },
      }),
      nothingUsed,
    ],
    { tokens: 132 },
  ],
  [
    "qwen: an empty chunk for each call",
    [
      "chunkMeta",
      frames({}, { chunks: [chunk(800, 40, 0), chunk(900, 50, 300), chunk(1000, 60, 400)] }),
      nothingUsed,
    ],
    { tokens: 2850, input: 2700, output: 150, cached: 700, calls: 3 },
  ],
  ["kimi, pi: only how full the window is", ["none", frames({}), nothingUsed], null],
  [
    "claude -p: this run, in its provider's words",
    [
      "turn",
      frames(
        {
          usage: {
            input_tokens: 12,
            cache_creation_input_tokens: 100,
            cache_read_input_tokens: 800,
            output_tokens: 88,
          },
        },
        { costUsd: 0.02 },
      ),
      nothingUsed,
    ],
    { tokens: 1000, input: 912, output: 88, cached: 900, usd: 0.02 },
  ],
  [
    "claude -p: a session taken up again has a cost nobody can tell apart",
    ["turn", frames({ usage: { input_tokens: 12, output_tokens: 88 } }, { costUsd: 5 }), null],
    { tokens: 100 },
  ],
  [
    "codex exec: the cache within the input, cumulative when the thread is taken up again",
    [
      "cumulative",
      frames(
        {
          usage: {
            input_tokens: 6000,
            cached_input_tokens: 1200,
            output_tokens: 252,
            reasoning_output_tokens: 0,
          },
        },
        { updates: 0 },
      ),
      { tokens: { total: 3126, input: 3000, output: 126, cached: 600 }, costUsd: 0 },
    ],
    { tokens: 3126, input: 3000, output: 126, cached: 600 },
  ],
])("%s", (_, given, expected) => {
  const usage = computeUsage(...given);
  if (expected === null) expect(usage).toBe(null);
  else expect(usage).toMatchObject(expected);

  if (given[2] === null) expect(usage).not.toHaveProperty("usd");
});
