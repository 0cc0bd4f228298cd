// react-to-limit: decides what happens when a budget or a cap leaves no room for another turn. (A
// provider's limit: recordParking in fold-step.ts, and runner/wait-for-provider.ts. What a flow
// counts by itself, such as `--max-cycles`: `counts` in its flow.yaml, affordableRow in
// decide-cursor.ts.)
//
// Invariants:
//   L1. A budget set for this run pauses it until the budget is raised: `budget_threshold_reached`.
//   L2. A cap of the flow or of the config on one phase halts that phase and opens the breaker,
//       once: `phase_cap_reached`.
//   L3. A cap on the whole run halts it at once: `run_cap_reached`. It continues only after a
//       person has raised the cap.

import { dimensions, type Dimension, type Usage } from "../contracts/budget.ts";
import { cooldownUntil } from "./breaker.ts";
import { estimateTokens, findLimit, type Shortfall, usedAmount } from "./budget.ts";
import { pauseRun, record } from "./drafts.ts";
import type { NextAction } from "./next-action.ts";
import { isClosing } from "./selectors.ts";
import { ownValue, recordValues } from "./own-values.ts";
import type { RunView, ShortLimit } from "./state.ts";

/**
 * What to do about a limit without room. Callers ask only when nothing is under way, because it
 * halts the whole run.
 */
export function reactToLimit(
  run: RunView,
  phase: string,
  short: Shortfall,
  need: Usage,
  detail = describeShortfall(short),
): NextAction {
  const fields = { detail, short: shortLimits(run, phase, need) };
  if (short.scope === "run") {
    return pauseRun(
      run,
      isCap(run, short.dimension) ? "run_cap_reached" : "budget_threshold_reached",
      fields,
    );
  } // L1, L3

  if (run.breaker.state === "open") return pauseRun(run, "phase_cap_reached", fields);
  const cooldown_until = cooldownUntil(run);
  return record({
    event: "circuit_breaker_opened",
    because: "phase_cap",
    cooldown_until,
    ...fields,
    reason_code: "phase_cap_reached",
  }); // L2
}

/**
 * What to do after a turn that exceeded a limit: its work is kept, and checked once the limit is
 * raised.
 */
export function reactToOverdraft(run: RunView, phase: string, over: Shortfall): NextAction {
  const { scope, dimension, limit, left } = over;
  const used = `${dimension} of this ${scope}: ${round(limit - left)} of ${round(limit)} are used`;
  return reactToLimit(
    run,
    phase,
    over,
    findLargestTurn(run),
    `${used}; the last turn's work is kept and not checked yet`,
  );
}

/**
 * What to do after a turn that was cut short for lack of budget: reacts to the limit that is
 * nearest to being used up.
 */
export function reactToCutTurn(run: RunView): NextAction | null {
  let tightest: {
    readonly short: Shortfall;
    readonly share: number;
    readonly phase: string;
  } | null = null;

  for (const scope of ["run", "phase"] as const) {
    for (const { id } of run.phases.filter(
      (phase) => phase.status === "open" || isClosing(run, phase),
    )) {
      for (const dimension of dimensions) {
        const limit = findLimit(run, scope, id, dimension);
        if (limit === undefined) continue;
        const used = usedAmount(run, scope, id, dimension);
        const share = limit === 0 ? Infinity : used / limit;
        if (tightest !== null && share <= tightest.share) continue;
        tightest = {
          share,
          phase: id,
          short: { scope, dimension, limit, left: Math.max(0, limit - used), need: 0 },
        };
      }
    }
  }

  if (tightest === null) return null;
  const { scope, dimension, limit, left } = tightest.short;
  const detail = `${dimension} of this ${scope}: a turn was cut short, with ${round(left)} of ${round(limit)} left`;

  // How much the turn would still have needed is unknown: as much as the whole limit is offered.
  return reactToLimit(
    run,
    tightest.phase,
    tightest.short,
    { ...findLargestTurn(run), [dimension]: limit },
    detail,
  );
}

/**
 * The least a turn needs when nothing larger is known: raising a limit by less would only pause
 * again.
 */
export const smallestTurn: Readonly<Record<Dimension, number>> = {
  tokens: estimateTokens,
  minutes: 5,
  calls: 1,
  usd: 0.5,
};

/** The least by which a limit is raised. */
const raiseMin: Readonly<Record<Dimension, number>> = {
  tokens: 1,
  minutes: 0.1,
  calls: 1,
  usd: 0.01,
};

/** Every limit without room for this need, with the value it must be raised to. */
function shortLimits(run: RunView, phase: string, need: Usage): ShortLimit[] {
  const short: ShortLimit[] = [];
  for (const scope of ["run", "phase"] as const) {
    for (const dimension of dimensions) {
      const limit = findLimit(run, scope, phase, dimension);
      if (limit === undefined) continue;
      const used = usedAmount(run, scope, phase, dimension);
      // Time passes by itself: less than a minute would be gone before a turn has begun.
      const needed = dimension === "minutes" ? Math.max(1, need.minutes) : (need[dimension] ?? 0);
      if (limit > used && limit - used >= needed) continue;
      // Sums of cents are not exact: a shortfall from rounding still raises the limit by something.
      const raiseTo = Math.max(
        used + Math.max(needed, smallestTurn[dimension]),
        limit + raiseMin[dimension],
      );

      short.push({ scope, dimension, limit, to: raiseTo });
    }
  }

  return short;
}

/** Of the limits that caused the pause, those that nobody has raised since. */
export function listUnraisedLimits(run: RunView): readonly ShortLimit[] {
  const phase = run.phases.find(({ status }) => status === "open")?.id;
  const current = ({ scope, dimension }: ShortLimit): number =>
    (scope === "phase" && phase !== undefined
      ? findLimit(run, scope, phase, dimension)
      : ownValue(run.limits[scope], dimension)) ?? Infinity;
  return (run.short ?? []).filter((short) => current(short) <= short.limit);
}

/** The largest turn of any role so far, dimension by dimension. */
export function findLargestTurn(run: RunView): Usage {
  const turns = recordValues(run.ledger.largest);
  const largest = (dimension: Dimension): number =>
    Math.max(0, ...turns.map((turn) => turn[dimension] ?? 0));
  return {
    tokens: largest("tokens"),
    minutes: largest("minutes"),
    calls: largest("calls"),
    usd: largest("usd"),
    source: "estimated",
  };
}

/**
 * Whether a limit of the run is a cap set by the flow or the config, and not a budget for this one
 * run.
 */
function isCap(run: RunView, dimension: Dimension): boolean {
  const { budget, limits, flow } = run.drafted;
  const budgetLimit = budget.limits[dimension];
  const activeLimit = ownValue(limits.run, dimension);
  const flowLimit = flow.limits?.run?.[dimension];
  // The config replaces or lowers the budget's number (runner/draft/flow-limits.ts); a number that
  // is the flow's own is the flow's cap.
  if (flowLimit === undefined) {
    return budgetLimit !== undefined && activeLimit !== undefined && activeLimit !== budgetLimit;
  }

  return budgetLimit === undefined || budgetLimit === flowLimit || activeLimit !== budgetLimit;
}

/** The sentence that the pause records, and that a person reads as its cause. */
const describeShortfall = ({ scope, dimension, limit, left, need }: Shortfall): string =>
  `${dimension} of this ${scope}: the next turn may need ${round(need)}, and ${round(left)} of ${round(limit)} are left`;

const round = (value: number): number => Math.round(value * 1000) / 1000;
