import type { EventOf } from "../contracts/event.ts";
import type { Flow } from "../contracts/flow.ts";
import type { Objective } from "../contracts/objective.ts";

type Limits = EventOf<"run_drafted">["limits"];

const retriesMax = 10;

/** Which limit a tunable cap of the config bounds, by the cap's own name. */
const caps: Readonly<Record<string, readonly ["run" | "phase", string]>> = {
  cost_cap_tokens_total: ["run", "tokens"],
  cost_cap_tokens_per_phase: ["phase", "tokens"],
  wall_clock_timeout_minutes_total: ["run", "minutes"],
  wall_clock_timeout_minutes_per_phase: ["phase", "minutes"],
  max_total_retries_per_run: ["run", "retries"],
};

/** The limits in force: the objective's budget over the flow's own, and whatever the config caps lower. Thresholds keep their names. */
export function limitsOf(flow: Flow, objective: Objective, tuned: Readonly<Record<string, number>>): Limits {
  const limits: Limits = {
    run: { retries: retriesMax, ...numbers(flow.limits?.run), ...numbers(objective.max_budget.limits) },
    phase: numbers(flow.limits?.phase),
  };
  for (const [name, value] of Object.entries(tuned)) {
    const cap = Object.hasOwn(caps, name) ? caps[name] : undefined;
    if (cap === undefined) {
      limits.run[name] = value;
      continue;
    }
    const [scope, dimension] = cap;
    // Retries are set as asked for; of what costs, the smaller counts.
    limits[scope][dimension] = dimension === "retries" ? value : Math.min(value, limits[scope][dimension] ?? value);
  }
  return limits;
}

const numbers = (limits: object | undefined): Record<string, number> =>
  Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => typeof value === "number"));
