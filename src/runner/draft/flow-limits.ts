// flow-limits: computes a run's limits from the flow, the budget and the config, and finds names
// that have no effect.

import type { EventOf } from "../../contracts/event.ts";
import type { Flow } from "../../contracts/flow.ts";
import type { Objective } from "../../contracts/objective.ts";
import { isThreshold, thresholdDefaults } from "../../contracts/tunable-limits.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { costConstantNames } from "../../project/config/cost-constants.ts";

type Limits = EventOf<"run_drafted">["limits"];
type TunedLimits = Readonly<Record<string, number>>;

/** The limit that each cap of the config sets. */
const limitsByCap: Readonly<Record<string, readonly ["run" | "phase", string]>> = {
  cost_cap_tokens_total: ["run", "tokens"],
  cost_cap_tokens_per_phase: ["phase", "tokens"],
  wall_clock_timeout_minutes_total: ["run", "minutes"],
  wall_clock_timeout_minutes_per_phase: ["phase", "minutes"],
  max_total_retries_per_run: ["run", "retries"],
};

/**
 * Computes the limits in force: the objective's budget over the flow's own, and the config's
 * tuning. Thresholds keep their names.
 */
export function computeFlowLimits(
  flow: Flow,
  objective: Objective,
  tuned: TunedLimits,
  { isBudgetGiven = false } = {},
): Limits {
  const limits: Limits = {
    run: {
      retries: thresholdDefaults.max_total_retries_per_run,
      ...pickNumericLimits(flow.limits?.run),
      ...pickNumericLimits(objective.max_budget.limits),
    },
    phase: pickNumericLimits(flow.limits?.phase),
  };

  for (const [name, value] of Object.entries(tuned)) {
    if (costConstantNames.includes(name)) continue; // an estimate limits nothing
    const cap = Object.hasOwn(limitsByCap, name) ? limitsByCap[name] : undefined;
    if (cap === undefined) {
      limits.run[name] = value;
      continue;
    }

    const [scope, dimension] = cap;
    const flowCap = limits[scope][dimension];
    // Replaces the flow's standard cap by the tuned one; a cap chosen for the flow is only ever
    // lowered.
    const isStandard =
      isThreshold(name) &&
      flowCap === thresholdDefaults[name] &&
      !(scope === "run" && isBudgetGiven);
    limits[scope][dimension] =
      dimension === "retries" || flowCap === undefined || isStandard
        ? value
        : Math.min(value, flowCap);
  }

  return limits;
}

/** Warns of tuned names that nothing in this flow uses: most likely typos. */
export function listUnusedLimitWarnings(flow: Flow, tuned: TunedLimits): readonly string[] {
  const knownNames = [
    ...Object.keys(thresholdDefaults),
    ...costConstantNames,
    ...Object.keys(flow.options ?? {}),
  ];
  return Object.keys(tuned)
    .filter((name) => !knownNames.includes(name))
    .map(
      (name) =>
        `limits.${name} in the config is not a known limit and has no effect.${didYouMean(name, knownNames)}`,
    );
}

const pickNumericLimits = (limits: object | undefined): Record<string, number> =>
  Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => typeof value === "number"));
