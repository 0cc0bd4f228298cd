// reported-usage: computes what one prompt used from what an agent reports. Agents mean different things by
// it; a profile says which (UsageMeaning).

import { unreachable } from "../../kit/unreachable.ts";
import type { ReportedUsage } from "../../ports/agent.ts";
import type { UsageMeaning } from "../profiles/profile.ts";
import { asNonNegativeNumber, asArray, asRecord } from "./untrusted-json.ts";

export type UsageReport = {
  /** The prompt's answer, as it came. */
  readonly response: unknown;
  /** The `_meta.usage` of each message chunk that had one. */
  readonly chunks: readonly unknown[];
  /** The session's cost so far in US dollars, if reported. */
  readonly costUsd: number | null;
  /**
   * How many times the agent reported its usage while it worked; most do it once per model call.
   */
  readonly updates: number;
  /** How many tool calls there were; each is followed by another model call. */
  readonly tools: number;
};

/**
 * What a session had used before a prompt; null for a resumed session, whose earlier usage is
 * unknown.
 */
export type UsageBaseline = { readonly tokens: Tokens; readonly costUsd: number } | null;
const noTokens: Tokens = { total: 0, input: 0, output: 0, cached: 0 };
export const nothingUsed: UsageBaseline = { tokens: noTokens, costUsd: 0 };

/**
 * `input`: all that was read; `cached`: the part of it that came from or went to a cache; `all`:
 * input and output. The meter counts alike.
 */
type Tokens = {
  readonly total: number;
  readonly input: number;
  readonly output: number;
  readonly cached: number;
};

/** What a prompt used; null if the agent's report does not say. */
export function computeUsage(
  meaning: UsageMeaning,
  report: UsageReport,
  baseline: UsageBaseline,
): ReportedUsage {
  const reported = readReportedTokens(meaning, report, baseline);
  if (reported === null) return null;
  const { tokens, calls } = reported;
  if (tokens.total === 0) return null; // a prompt of no tokens at all did not ask a model
  const usd =
    report.costUsd === null || baseline === null ? null : report.costUsd - baseline.costUsd;

  return {
    tokens: tokens.total,
    input: tokens.input,
    output: tokens.output,
    cached: tokens.cached,
    ...(usd === null || usd < 0 ? {} : { usd }),
    calls: Math.max(1, calls),
  };
}

/** The next prompt's starting point in the same session. */
export function computeNextBaseline(report: UsageReport, baseline: UsageBaseline): UsageBaseline {
  const tokens = parseTokens(asRecord(report.response)["usage"]) ?? baseline?.tokens;
  return tokens === undefined
    ? null
    : { tokens, costUsd: report.costUsd ?? baseline?.costUsd ?? 0 };
}

type TokensAndCalls = { readonly tokens: Tokens; readonly calls: number } | null;

function readReportedTokens(
  meaning: UsageMeaning,
  report: UsageReport,
  baseline: UsageBaseline,
): TokensAndCalls {
  const responseTokens = parseTokens(asRecord(report.response)["usage"]);
  const { updates } = report;

  switch (meaning) {
    case "none":
      return null;
    case "turn":
      return responseTokens === null ? null : { tokens: responseTokens, calls: updates };
    case "lastCall":
      // The last call is the whole turn only if there was no other.
      return responseTokens === null || updates > 1 || report.tools > 0
        ? null
        : { tokens: responseTokens, calls: updates };
    case "cumulative":
      if (
        responseTokens === null ||
        baseline === null ||
        responseTokens.total < baseline.tokens.total
      ) {
        return null;
      }
      return { tokens: subtract(responseTokens, baseline.tokens), calls: updates };
    case "quotaMeta":
      return sumQuotaTokens(
        asRecord(asRecord(asRecord(report.response)["_meta"])["quota"]),
        updates,
      );
    case "chunkMeta": {
      const chunks = report.chunks.flatMap((chunk) => parseTokens(chunk) ?? []);
      return chunks.length === 0
        ? null
        : { tokens: chunks.reduce(add, noTokens), calls: chunks.length };
    }
    default:
      return unreachable(meaning);
  }
}

/** Side calls are in `model_usage` only, so that sum is taken if it is larger. */
function sumQuotaTokens(
  reported: Readonly<Record<string, unknown>>,
  updates: number,
): TokensAndCalls {
  const total = parseTokens(reported["token_count"]);
  const models = asArray(reported["model_usage"]).flatMap(
    (model) => parseTokens(asRecord(model)["token_count"]) ?? parseTokens(model) ?? [],
  );
  const modelSum = models.reduce(add, noTokens);
  if (total === null && modelSum.total === 0) return null;

  return {
    tokens: total === null || modelSum.total > total.total ? modelSum : total,
    calls: updates,
  };
}

const subtract = (a: Tokens, b: Tokens): Tokens => ({
  total: a.total - b.total,
  input: Math.max(0, a.input - b.input),
  output: Math.max(0, a.output - b.output),
  cached: Math.max(0, a.cached - b.cached),
});

const add = (a: Tokens, b: Tokens): Tokens => ({
  total: a.total + b.total,
  input: a.input + b.input,
  output: a.output + b.output,
  cached: a.cached + b.cached,
});

/**
 * The tokens in a usage object; null if it has no believable numbers. Some agents count cached
 * tokens as part of the input, some beside it.
 */
export function parseTokens(raw: unknown): Tokens | null {
  const reported = asRecord(raw);
  const readFirstNumber = (...names: readonly string[]): number | null =>
    names.map((name) => asNonNegativeNumber(reported[name])).find((value) => value !== null) ??
    null;
  const input = readFirstNumber("inputTokens", "input_tokens");
  const output = readFirstNumber("outputTokens", "output_tokens");
  if (input === null || output === null) return null;
  const cachedBesideInput =
    (readFirstNumber("cachedReadTokens", "cache_read_input_tokens") ?? 0) +
    (readFirstNumber("cachedWriteTokens", "cache_creation_input_tokens") ?? 0);

  const cachedWithinInput =
    (readFirstNumber("cached_input_tokens") ?? 0) +
    (readFirstNumber("cache_write_input_tokens") ?? 0);

  const reportedTotal = readFirstNumber("totalTokens", "total_tokens");
  const isIncluded =
    cachedWithinInput > 0 ||
    (cachedBesideInput > 0 && cachedBesideInput <= input && reportedTotal === input + output);
  const inputTokens = isIncluded ? input : input + cachedBesideInput;
  const total = Math.max(reportedTotal ?? 0, inputTokens + output);

  return total === 0
    ? null
    : {
        total,
        input: inputTokens,
        output,
        cached: Math.min(cachedBesideInput + cachedWithinInput, inputTokens),
      };
}
