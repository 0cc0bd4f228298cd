// metering: what a turn learns from its account at the meter: usage, whether the provider is alive
// or failing, and that the budget is used up. Without a meter there is no account, and nothing is
// learned.
//
// Invariants:
//   M1. Usage is reported once: each call returns what came since the one before.
//   M2. Answers of a provider that only fails are no sign of life; a long stream after a failure is
//       one.
//   M3. The turn is not given up while a call is open.

import type { ReportedUsage } from "../ports/agent.ts";
import type { Account, AccountRequest, Meter, ModelCall } from "../ports/meter.ts";
import { findFailingCall } from "./turn/provider-fault.ts";

type MeteredUsage = Exclude<ReportedUsage, null>;

export type Metering = {
  readonly account: Account | null;
  readonly calls: () => readonly ModelCall[];
  /** Aborted when the budget is used up; its reason is the meter's message. */
  readonly usedUp: AbortSignal;
  /** Called when the provider sends. */
  readonly onLife: (listener: () => void) => void;
  /** Whether the last call failed, so that what the provider sends is no sign of life. M2 */
  readonly isFailing: () => boolean;
  /** Usage since the last call; null if the meter saw nothing. */
  readonly takeUsed: () => ReportedUsage;
  /**
   * Whether waiting is pointless: the provider says it will not answer for long, or has failed too
   * often in a row. M3
   */
  readonly isHopeless: () => boolean;
  readonly close: () => void;
};

/**
 * Fewer signs of life than this may come from a failing call, which gives one with its first line;
 * a streaming answer gives many.
 */
const lifeSignsMin = 3;
/** So many failures in a row: agents that stop by themselves have stopped by then. */
const failuresMax = 8;
/** If the provider wants a longer wait, the run waits outside the turn. */
const waitMsMax = 60_000;

/** Opens the turn's account, if there is a meter. */
export function openMetering(
  meter: Meter | null,
  request: Omit<AccountRequest, "onCut" | "onLife">,
): Metering {
  const cut = new AbortController();
  let onLife: () => void = () => undefined;
  let lastCallCount = 0;
  let lifeSigns = 0;
  let reported: MeteredUsage | null = null;

  const noteLife = (): void => {
    lifeSigns += 1;
    onLife();
  };
  const onCut = (sentence: string): void => cut.abort(sentence);
  const account = meter === null ? null : meter.open({ ...request, onCut, onLife: noteLife });

  return {
    account,
    calls: () => account?.calls() ?? [],
    usedUp: cut.signal,
    onLife: (listener) => (onLife = listener),
    isFailing: () => {
      const calls = account?.calls() ?? [];
      if (calls.length !== lastCallCount) lifeSigns = 0;
      lastCallCount = calls.length;

      return lifeSigns < lifeSignsMin && findFailingCall(calls) !== null; // M2
    },
    isHopeless: () => {
      const endedCalls = (account?.calls() ?? []).filter(({ ended }) => ended !== "refused");
      const hasOpenCall = (account?.used()?.calls ?? 0) > endedCalls.length;
      return !hasOpenCall && isWaitingPointless(endedCalls); // M3
    },
    takeUsed: () => {
      const used = account?.used() ?? null;
      if (used === null) return null;
      const sinceLast = reported === null ? used : subtractUsage(used, reported); // M1
      reported = used;
      const isAllEstimated = sinceLast.tokens > 0 && (sinceLast.estimated ?? 0) >= sinceLast.tokens;

      return { ...sinceLast, source: isAllEstimated ? "estimated" : "metered" };
    },
    close: () => account?.close(),
  };
}

function isWaitingPointless(calls: readonly ModelCall[]): boolean {
  const failing = findFailingCall(calls);
  if (failing === null) return false;
  const { retryAt } = failing.call;
  if (retryAt !== null && Date.parse(retryAt) - Date.now() > waitMsMax) return true;

  const lastCalls = calls.slice(-failuresMax);
  return (
    lastCalls.length === failuresMax && lastCalls.every((call) => findFailingCall([call]) !== null)
  );
}

function subtractUsage(total: MeteredUsage, before: MeteredUsage): MeteredUsage {
  const subtractField = (
    name: "input" | "output" | "cached" | "usd" | "estimated",
  ): Partial<Record<typeof name, number>> =>
    total[name] === undefined ? {} : { [name]: Math.max(0, total[name] - (before[name] ?? 0)) };

  return {
    tokens: Math.max(0, total.tokens - before.tokens),
    calls: Math.max(0, total.calls - before.calls),
    ...subtractField("input"),
    ...subtractField("output"),
    ...subtractField("cached"),
    ...subtractField("usd"),
    ...subtractField("estimated"),
  };
}
