// What is charged for a call: the provider's word where it can be believed, the bytes where not.

import { expect, test } from "vitest";
import { type Dialect, dialects } from "./dialects.ts";
import { openUsageCounter } from "./call-usage.ts";

const price = { input: 3, output: 15, cached: 0.3, cache_write: 3.75 };
const say = (dialect: Dialect, ...reported: readonly Record<string, unknown>[]) =>
  reported.map((usage) => dialect.readUsage(usage));
const { anthropic } = dialects;

function charged(
  requestBytes: number,
  textBytes: number,
  reported: readonly ReturnType<Dialect["readUsage"]>[],
  isSettled = true,
) {
  const usageCounter = openUsageCounter(requestBytes, price);
  usageCounter.send();
  usageCounter.setStreamed(textBytes, textBytes);
  for (const reportedUsage of reported) usageCounter.report(reportedUsage);
  if (isSettled) usageCounter.finish();

  return usageCounter.usage();
}

test("a call that told nothing is charged by its bytes", () => {
  expect(charged(4000, 2000, [])).toMatchObject({ input: 1000, output: 500, tokens: 1500 });
});

test("a stream that broke off is charged at least what came by, whatever its beginning told", () => {
  const reported = say(anthropic, { input_tokens: 10, output_tokens: 1 });
  expect(charged(4000, 2000, reported, false)).toMatchObject({ input: 10, output: 500 });
  expect(
    charged(4000, 2000, [...reported, ...say(anthropic, { output_tokens: 400 })]),
  ).toMatchObject({ input: 10, output: 400 });
});

test.each([
  ["negative", { input_tokens: -5, output_tokens: -1 }],
  ["no number", { input_tokens: "5", output_tokens: Number.NaN }],
  ["absurd", { input_tokens: 1e13, output_tokens: 1e300 }],
  ["a negative part of a sum", { input_tokens: 5, cache_read_input_tokens: -4, output_tokens: 1 }],
])("figures that are %s are not believed", (_, usage) => {
  expect(charged(4000, 2000, say(anthropic, usage))).toMatchObject({ input: 1000, output: 500 });
});

test("a figure that shrinks is not believed: the larger of it and the estimate counts", () => {
  expect(
    charged(
      4000,
      400,
      say(anthropic, { input_tokens: 10, output_tokens: 300 }, { output_tokens: 20 }),
    ),
  ).toMatchObject({
    output: 300,
  });

  expect(
    charged(
      4000,
      4000,
      say(anthropic, { input_tokens: 10, output_tokens: 300 }, { output_tokens: 20 }),
    ),
  ).toMatchObject({
    output: 1000,
  });
});

test("an output too small for the text that came is not believed", () => {
  expect(charged(0, 100_000, say(anthropic, { input_tokens: 10, output_tokens: 3 }))).toMatchObject(
    { output: 25_000 },
  );
});

test("a call whose figures are all zero is not free", () => {
  const zeros = say(anthropic, { input_tokens: 0, output_tokens: 0 });
  expect(charged(4000, 0, zeros)).toMatchObject({ input: 1000, output: 0, estimated: 1000 });
  expect(charged(4000, 2000, zeros)).toMatchObject({ input: 1000, output: 500, estimated: 1500 });
});

test("a zero after a figure takes nothing back", () => {
  expect(
    charged(
      9999,
      0,
      say(anthropic, { input_tokens: 10, output_tokens: 1 }, { input_tokens: 0, output_tokens: 5 }),
    ),
  ).toMatchObject({
    input: 10,
    output: 5,
  });
});

test("cached and written input has its own price, and all of it counts as tokens once", () => {
  const usage = {
    input_tokens: 1_000_000,
    cache_read_input_tokens: 2_000_000,
    cache_creation_input_tokens: 1_000_000,
    output_tokens: 100_000,
  };
  expect(charged(0, 0, say(anthropic, usage))).toEqual({
    tokens: 4_100_000,
    estimated: 0,
    input: 4_000_000,
    output: 100_000,
    cached: 2_000_000,
    usd: 3 + 0.6 + 3.75 + 1.5,
  });

  const long = { ...usage, cache_creation: { ephemeral_1h_input_tokens: 1_000_000 } };
  expect(charged(0, 0, say(anthropic, long)).usd).toBeCloseTo(3 + 0.6 + 6 + 1.5);
});

test("a long prompt costs what the table says of long prompts", () => {
  const usageCounter = openUsageCounter(0, {
    ...price,
    long: { overTokens: 200_000, input: 2, output: 1.5 },
  });
  usageCounter.send();
  usageCounter.report(anthropic.readUsage({ input_tokens: 1_000_000, output_tokens: 1_000_000 }));
  usageCounter.finish();
  expect(usageCounter.usage().usd).toBeCloseTo(6 + 22.5);
});

test("what was never sent, or was refused, costs nothing", () => {
  const unsent = openUsageCounter(4000, price);
  expect(unsent.usage().tokens).toBe(0);
  const refused = openUsageCounter(4000, price);
  refused.send();
  refused.forgive();
  expect(refused.usage().tokens).toBe(0);
});

test("thinking that is only in the total counts as output", () => {
  expect(
    charged(
      0,
      0,
      say(dialects["openai-chat"], { prompt_tokens: 10, completion_tokens: 5, total_tokens: 115 }),
    ),
  ).toMatchObject({
    output: 105,
  });
});
