// flow-limits: computes a run's limits from the flow, the budget and the config, and finds names that have no effect.

import { thresholdDefaults } from "../../contracts/limit-ranges.ts";
import type { EventOf } from "../../contracts/event.ts";
import type { Flow } from "../../contracts/flow.ts";
import type { Objective } from "../../contracts/objective.ts";
import { didYouMean } from "../../kit/suggest.ts";
import { limitDefaults } from "../../project/config/config-defaults.ts";
import { costNames } from "../../project/config/cost-constants.ts";

type Limits = EventOf<"run_drafted">["limits"];
type Tuned = Readonly<Record<string, number>>;

/** Which limit a tunable cap of the config bounds, by the cap's own name. */
const caps: Readonly<Record<string, readonly ["run" | "phase", string]>> = {
  cost_cap_tokens_total: ["run", "tokens"],
  cost_cap_tokens_per_phase: ["phase", "tokens"],
  wall_clock_timeout_minutes_total: ["run", "minutes"],
  wall_clock_timeout_minutes_per_phase: ["phase", "minutes"],
  max_total_retries_per_run: ["run", "retries"],
};

/** The limits in force: the objective's budget over the flow's own, and the config's tuning. Thresholds keep their names. */
export function flowLimits(flow: Flow, objective: Objective, tuned: Tuned, { isBudgetGiven = false } = {}): Limits {
  const limits: Limits = {
    run: { retries: thresholdDefaults.max_total_retries_per_run, ...numbers(flow.limits?.run), ...numbers(objective.max_budget.limits) },
    phase: numbers(flow.limits?.phase),
  };
  for (const [name, value] of Object.entries(tuned)) {
    if (costNames.includes(name)) continue; // an estimate limits nothing
    const cap = Object.hasOwn(caps, name) ? caps[name] : undefined;
    if (cap === undefined) {
      limits.run[name] = value;
      continue;
    }
    const [scope, dimension] = cap;
    const most = limits[scope][dimension];
    // Replaces the flow's standard cap by the tuned one; a cap chosen for the flow is only ever lowered.
    const isStandard = most === limitDefaults[name]?.value && !(scope === "run" && isBudgetGiven);
    limits[scope][dimension] = dimension === "retries" || most === undefined || isStandard ? value : Math.min(value, most);
  }
  return limits;
}

/** Tuned names that nothing in this flow uses: most likely typos, so they are reported. */
export function unusedLimitWarnings(flow: Flow, tuned: Tuned): readonly string[] {
  const known = [...Object.keys(limitDefaults), ...costNames, ...Object.keys(flow.options ?? {})];
  return Object.keys(tuned)
    .filter((name) => !known.includes(name))
    .map((name) => `limits.${name} in the config is not a known limit and has no effect.${didYouMean(name, known)}`);
}

const numbers = (limits: object | undefined): Record<string, number> =>
  Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => typeof value === "number"));
