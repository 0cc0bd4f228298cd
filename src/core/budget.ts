// budget: computes what has been used, what the next turn may need, and whether there is room for
// it.
//
// Invariants:
//   B1. The ledger only grows.
//   B2. No turn begins unless spent + reserved by open attempts + its own need fits every limit, of
//       the run and of its phase.
//   B3. Unknown usage is charged at the estimate, never at zero. (A meter that saw no call knows
//       that nothing was used.)
//   B4. An agent's own usage figure is not accepted below a floor: the bytes it sent us, at more
//       bytes per token than any model has.

import { type Dimension, dimensions, type Usage } from "../contracts/budget.ts";
import type { Step } from "../contracts/flow.ts";
import { invariant } from "../kit/invariant.ts";
import { phaseRule } from "./selectors.ts";
import { ownValue, setValue, recordValues } from "./own-values.ts";
import type { Ledger, OpenAttemptView, RunView, SpentAmounts } from "./state.ts";

/** Tokens a turn is assumed to need while its role has no history. */
export const estimateTokens = 15_000;

type Amount = number | undefined;
export type ReportedUsage = {
  readonly tokens: number;
  readonly input?: Amount;
  readonly output?: Amount;
  readonly cached?: Amount;
  readonly usd?: Amount;
  readonly estimated?: Amount;
  readonly calls: number;
};
export type Shortfall = {
  readonly scope: "run" | "phase";
  readonly dimension: Dimension;
  readonly limit: number;
  readonly left: number;
  readonly need: number;
};

/** Charges usage to the run and to its phase. Minutes are not charged: they are measured. */
export function chargeLedger(ledger: Ledger, phase: string, usage: Usage | undefined): void {
  if (usage === undefined) return;
  const { tokens, calls, usd = 0, source } = usage;
  invariant(
    isAmount(tokens) && isAmount(calls) && isAmount(usd),
    "F3 (core/fold.ts): what is charged is an amount",
  ); // B1

  const estimated = source === "estimated" ? tokens : Math.min(tokens, usage.estimated ?? 0);
  const amounts = { tokens, calls, usd, estimated };
  addAmounts(ledger.run, amounts);
  const phaseSpent = ownValue(ledger.phase, phase);
  if (phaseSpent !== undefined) addAmounts(phaseSpent, amounts);
}

function addAmounts(
  spent: SpentAmounts,
  { tokens, calls, usd, estimated }: Omit<SpentAmounts, "minutes">,
): void {
  spent.tokens += tokens;
  spent.calls += calls;
  spent.usd += usd;
  spent.estimated += estimated;
}

/** The largest turn of a role, dimension by dimension: what its next one is expected to need. */
export function recordLargestTurn(ledger: Ledger, role: string, usage: Usage): void {
  const previous = ownValue(ledger.largest, role);
  const larger = (dimension: Dimension): number =>
    Math.max(previous?.[dimension] ?? 0, usage[dimension] ?? 0);
  setValue(ledger.largest, role, {
    tokens: larger("tokens"),
    minutes: larger("minutes"),
    calls: larger("calls"),
    usd: larger("usd"),
    source: usage.source,
  });
}

/**
 * What the next turn of this step may need: the largest turn of its role so far, else the smaller
 * of the estimate and the rest of the budget.
 */
export function estimateNeed(
  run: RunView,
  phase: string,
  step: Pick<Step, "agent" | "estimate" | "continues">,
): Usage {
  const largest = ownValue(run.ledger.largest, step.agent ?? "");
  // A step that only continues another's session needs what it declares, whatever the role has used
  // before.
  const isSmall =
    step.continues !== undefined &&
    step.estimate !== undefined &&
    step.estimate < (largest?.tokens ?? 0);
  if (largest !== undefined && largest.tokens > 0 && !isSmall) {
    return { ...largest, source: "estimated" };
  }

  const available = Math.max(1, tokensLeft(run, phase));
  return {
    tokens: Math.min(step.estimate ?? estimateTokens, available),
    minutes: 0,
    calls: 1,
    usd: 0,
    source: "estimated",
  };
}

/** The first limit without room for this need; null if all have room. */
export function findShortfall(run: RunView, phase: string, need: Usage): Shortfall | null {
  return firstShortfall(run, phase, (dimension) => need[dimension] ?? 0);
}

/**
 * The first limit without room to repeat a turn that a crash cut short; null if all have room. The
 * lost turn is charged, and the new one needs as much again.
 */
export function shortfallOfRepeat(
  run: RunView,
  phase: string,
  open: OpenAttemptView,
): Shortfall | null {
  const { need, role } = open;
  if (need === null) return null;
  const isKnown = role !== null && ownValue(run.ledger.largest, role) !== undefined;

  // Its own reservation already exists; without history of the role its tokens are a guess, so one
  // token of room is enough for both.
  return firstShortfall(run, phase, (dimension) =>
    isKnown || dimension !== "tokens" ? (need[dimension] ?? 0) : 1 - Math.min(1, need.tokens),
  );
}

const scopes = ["run", "phase"] as const;

function firstShortfall(
  run: RunView,
  phase: string,
  needOf: (dimension: Dimension) => number,
): Shortfall | null {
  const open = recordValues(run.open);
  const phaseLimits = phaseRule(run.drafted.flow, phase).limits;

  for (const scope of scopes) {
    for (const dimension of dimensions) {
      const limit =
        scope === "run"
          ? ownValue(run.limits.run, dimension)
          : findPhaseLimit(run, phaseLimits, dimension);
      if (limit === undefined) continue;
      const left = limit - usedAmount(run, scope, phase, dimension, open);
      const need = needOf(dimension);
      if (left <= 0 || need > left) {
        return { scope, dimension, limit, left: Math.max(0, left), need };
      } // B2
    }
  }

  return null;
}

/** The limit in force for the run or a phase; undefined if there is none. */
export function findLimit(
  run: RunView,
  scope: "run" | "phase",
  phase: string,
  dimension: Dimension,
): number | undefined {
  if (scope === "run") return ownValue(run.limits.run, dimension);
  return findPhaseLimit(run, phaseRule(run.drafted.flow, phase).limits, dimension);
}

/** A phase's own limit overrides the general one until the general one is raised above it. */
function findPhaseLimit(
  run: RunView,
  phaseLimits: ReturnType<typeof phaseRule>["limits"],
  dimension: Dimension,
): number | undefined {
  const general = ownValue(run.limits.phase, dimension);
  const specific = phaseLimits?.[dimension];
  if (specific === undefined) return general;
  const isRaised =
    general !== undefined && general !== ownValue(run.drafted.limits.phase, dimension);

  return isRaised ? Math.max(specific, general) : specific;
}

/** What is spent, and what is reserved for attempts whose turn has not ended. */
export function usedAmount(
  run: RunView,
  scope: "run" | "phase",
  phase: string,
  dimension: Dimension,
  open: readonly OpenAttemptView[] = recordValues(run.open),
): number {
  const spent: SpentAmounts | undefined =
    scope === "run" ? run.ledger.run : ownValue(run.ledger.phase, phase);
  let used = spent?.[dimension] ?? 0;

  for (const { need, cursor } of open) {
    if (need !== null && (scope === "run" || ownValue(run.cursors, cursor)?.phase === phase)) {
      used += need[dimension] ?? 0;
    }
  }

  return used;
}

/** What is left after all reservations; Infinity without a limit. */
export function remainingAmount(run: RunView, phase: string, dimension: Dimension): number {
  let left = Infinity;
  for (const scope of scopes) {
    const limit = findLimit(run, scope, phase, dimension);
    if (limit !== undefined) {
      left = Math.min(left, limit - usedAmount(run, scope, phase, dimension));
    }
  }

  return Math.max(0, left);
}

/** What is left after paid usage, ignoring reservations: the most that a meter may let through. */
export function meterAllowance(
  run: RunView,
  phase: string,
): { readonly tokens: number; readonly usd: number; readonly calls: number } {
  const left = (dimension: Dimension): number => {
    const leftInRun =
      (findLimit(run, "run", phase, dimension) ?? Infinity) - run.ledger.run[dimension];
    const leftInPhase =
      (findLimit(run, "phase", phase, dimension) ?? Infinity) -
      (ownValue(run.ledger.phase, phase)?.[dimension] ?? 0);
    return Math.max(0, Math.min(leftInRun, leftInPhase));
  };

  return { tokens: left("tokens"), usd: left("usd"), calls: left("calls") };
}

export const tokensLeft = (run: RunView, phase: string): number =>
  remainingAmount(run, phase, "tokens");

/**
 * Minutes a turn may take. Reservations do not shorten it, because parallel turns share the clock.
 */
export function minutesLeft(run: RunView, phase: string): number {
  const leftInRun = (findLimit(run, "run", phase, "minutes") ?? Infinity) - run.ledger.run.minutes;
  const leftInPhase =
    (findLimit(run, "phase", phase, "minutes") ?? Infinity) -
    (ownValue(run.ledger.phase, phase)?.minutes ?? 0);
  return Math.max(0, Math.min(leftInRun, leftInPhase));
}

/** How many more retries the run may take. */
export const retriesLeft = (run: RunView): number =>
  Math.max(0, (ownValue(run.limits.run, "retries") ?? Infinity) - run.retries);

export type ChargeBasis = {
  /** What the turn was expected to need; null if nothing was reserved. */
  readonly expectedUsage: Usage | null;
  readonly minutes: number;
  readonly source?: Usage["source"] | undefined;
  /**
   * The share of the estimate that counts if no usage is known: 1 unless the turn was cut short.
   */
  readonly share?: number;
  readonly receivedBytes?: number;
};

/**
 * The reported usage if it is plausible, raised to the floor if it is below; else the estimate, or
 * the elapsed share of it. B3, B4
 */
export function reportedCharge(reported: ReportedUsage | null, basis: ChargeBasis): Usage {
  const { expectedUsage, minutes, source = "reported", share = 1, receivedBytes = 0 } = basis;
  const minutesUsed = isAmount(minutes) ? minutes : 0;
  const tokensFloor = Math.floor(receivedBytes / bytesOfTokenMax); // B4
  if (
    reported !== null &&
    source === "reported" &&
    isBelievable(reported) &&
    reported.tokens < tokensFloor
  ) {
    return {
      tokens: tokensFloor,
      calls: Math.max(1, reported.calls),
      minutes: minutesUsed,
      source: "estimated",
      ...(reported.usd === undefined ? {} : { usd: reported.usd }),
    };
  }

  if (
    reported !== null &&
    (isBelievable(reported) || (source !== "reported" && isMeasured(reported)))
  ) {
    return Object.assign({}, reported, { minutes: minutesUsed, source });
  }

  const usd = (expectedUsage?.usd ?? 0) * share;
  return {
    tokens: Math.max(1, Math.ceil((expectedUsage?.tokens ?? estimateTokens) * share)),
    calls: Math.max(1, Math.ceil((expectedUsage?.calls ?? 1) * share)),
    minutes: minutesUsed,
    source: "estimated",
    ...(usd > 0 ? { usd } : {}),
  };
}

/**
 * The share of its time that a cut turn had: of what such turns took so far, else of what it was
 * given.
 */
export function elapsedShare(minutes: number, need: Usage | null, minutesMax: number): number {
  const whole = need !== null && need.minutes > 0 ? need.minutes : minutesMax;
  return Number.isFinite(whole) && whole > 0 ? Math.min(1, Math.max(0, minutes / whole)) : 1;
}

/** The meter may report that nothing was used: no call came through. */
const isMeasured = ({ tokens, calls, usd = 0 }: ReportedUsage): boolean =>
  [tokens, calls, usd].every(isAmount);

/** A turn of an agent uses something: a report of no tokens isn't believed. */
function isBelievable({
  tokens,
  calls,
  input = 0,
  output = 0,
  cached = 0,
  usd = 0,
}: ReportedUsage): boolean {
  return (
    tokens > 0 &&
    isAmount(tokens) &&
    isAmount(calls) &&
    isAmount(input) &&
    isAmount(output) &&
    isAmount(cached) &&
    isAmount(usd)
  );
}

/** Text has about four bytes a token; no model's vocabulary exceeds this for ordinary prose. */
const bytesOfTokenMax = 16;

const isAmount = (value: number): boolean =>
  Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
