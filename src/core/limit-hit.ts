// limit-hit: what follows where a limit leaves no room for another turn.
//
// Invariants:
//   L1. A budget that somebody gave for this run waits for more of it: `budget_threshold_reached`.
//   L2. A cap of the flow or of the config on one phase halts that phase and opens the breaker, once: `phase_cap_reached`.
//   L3. A cap on the whole run ends it at once: `run_cap_reached`. Only a person who raises it makes it go on.

import { dimensions, type Dimension } from "../contracts/budget.ts";
import { cooldownUntil } from "./breaker.ts";
import { limitOf, type Shortfall, usedOf } from "./budget.ts";
import { paused, record, unaffordable } from "./drafts.ts";
import type { Next } from "./next.ts";
import { isClosing } from "./reading.ts";
import { own } from "./record.ts";
import type { RunView } from "./state.ts";

/** What is to be done about a limit without room; said where nothing is under way. */
export function hit(run: RunView, short: Shortfall, detail = unaffordable(short)): Next {
  if (short.scope === "run") return paused(run, isCap(run, short.dimension) ? "run_cap_reached" : "budget_threshold_reached", { detail }); // L1, L3
  if (run.breaker.state === "open") return paused(run, "phase_cap_reached", { detail });
  const cooldown_until = cooldownUntil(run);
  return record({ event: "circuit_breaker_opened", because: "phase_cap", cooldown_until, detail, reason_code: "phase_cap_reached" }); // L2
}

/** The same for a turn that was cut short by what was left: of all limits the one that is nearest to being used up. */
export function hitInTurn(run: RunView): Next | null {
  let tightest: { readonly short: Shortfall; readonly share: number } | null = null;
  for (const scope of ["run", "phase"] as const) {
    for (const { id } of run.phases.filter((phase) => phase.status === "open" || isClosing(run, phase))) {
      for (const dimension of dimensions) {
        const limit = limitOf(run, scope, id, dimension);
        if (limit === undefined) continue;
        const used = usedOf(run, scope, id, dimension);
        const share = limit === 0 ? Infinity : used / limit;
        if (tightest !== null && share <= tightest.share) continue;
        tightest = { share, short: { scope, dimension, limit, left: Math.max(0, limit - used), need: 0 } };
      }
    }
  }
  if (tightest === null) return null;
  const { scope, dimension, limit, left } = tightest.short;
  return hit(run, tightest.short, `${dimension} of this ${scope}: a turn was cut short, with ${rounded(left)} of ${rounded(limit)} left`);
}

/** Whether a limit of the run is a cap that the flow or the config sets, and not what somebody gave this one run. */
function isCap(run: RunView, dimension: Dimension): boolean {
  const { budget, limits, flow } = run.drafted;
  const given = budget.limits[dimension];
  const inForce = own(limits.run, dimension);
  const ofFlow = flow.limits?.run?.[dimension];
  if (ofFlow === undefined) return given !== undefined && inForce !== undefined && inForce !== given;
  return given === undefined || given === ofFlow || inForce !== given;
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
