// usage: what an agent reports having used, brought to one meaning. Agents mean four different things by the same field.

import { unreachable } from "../../kit/never.ts";
import type { ReportedUsage } from "../../ports/agent.ts";
import { amountOf, recordOf } from "./loose.ts";

/**
 * What the numbers beside an answer count.
 * `turn`: this turn. `lastCall`: the turn's last model call only. `cumulative`: the session so far. `none`: nothing that can be used.
 */
export type UsageMeaning = "turn" | "lastCall" | "cumulative" | "none";

/** What came in during one prompt. */
export type UsageReport = {
  /** The `usage` of the prompt's answer, as it came. */
  readonly raw: unknown;
  /** The session's cost so far in US dollars, where the agent told one. */
  readonly costUsd: number | null;
  /** How many times the agent told its usage while it worked; most tell it once a model call. */
  readonly updates: number;
};

/** What the session had used before this prompt; null where that is not known (a session taken up again). */
export type UsageBefore = { readonly tokens: Tokens; readonly costUsd: number } | null;
export const nothingUsed: UsageBefore = { tokens: { all: 0, input: 0, output: 0, cached: 0 }, costUsd: 0 };

type Tokens = { readonly all: number; readonly input: number; readonly output: number; readonly cached: number };

export function usageOf(meaning: UsageMeaning, report: UsageReport, before: UsageBefore): ReportedUsage {
  const told = tokensOf(report.raw);
  const tokens = told === null ? null : inThisTurn(meaning, told, report.updates, before);
  if (tokens === null) return null;
  const usd = report.costUsd === null || before === null ? null : report.costUsd - before.costUsd;
  return {
    tokens: tokens.all,
    input: tokens.input,
    output: tokens.output,
    cached: tokens.cached,
    ...(usd === null || usd < 0 ? {} : { usd }),
    calls: Math.max(1, report.updates),
  };
}

/** What the next prompt of the same session starts from. */
export function usageAfter(report: UsageReport, before: UsageBefore): UsageBefore {
  const tokens = tokensOf(report.raw) ?? before?.tokens;
  return tokens === undefined ? null : { tokens, costUsd: report.costUsd ?? before?.costUsd ?? 0 };
}

function inThisTurn(meaning: UsageMeaning, told: Tokens, updates: number, before: UsageBefore): Tokens | null {
  switch (meaning) {
    case "none":
      return null;
    case "turn":
      return told;
    case "lastCall":
      // The last call is the whole turn only where there was no other.
      return updates <= 1 ? told : null;
    case "cumulative":
      return before === null || told.all < before.tokens.all ? null : less(told, before.tokens);
    default:
      return unreachable(meaning);
  }
}

const less = (one: Tokens, other: Tokens): Tokens => ({
  all: one.all - other.all,
  input: Math.max(0, one.input - other.input),
  output: Math.max(0, one.output - other.output),
  cached: Math.max(0, one.cached - other.cached),
});

/** Null where nothing, or nothing believable, is told: a turn of no tokens at all did not ask a model. */
function tokensOf(raw: unknown): Tokens | null {
  const told = recordOf(raw);
  const input = amountOf(told["inputTokens"]);
  const output = amountOf(told["outputTokens"]);
  if (input === null || output === null) return null;
  const cached = (amountOf(told["cachedReadTokens"]) ?? 0) + (amountOf(told["cachedWriteTokens"]) ?? 0);
  const all = Math.max(amountOf(told["totalTokens"]) ?? 0, input + output);
  return all === 0 ? null : { all, input, output, cached };
}
