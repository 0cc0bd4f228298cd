// overdraft: tracks a turn that exceeded a limit. Nothing continues, not even the proof of its
// work, until the limit is raised.
//
// Invariants:
//   O1. Every charge is compared with every limit, of the run and of its phase, in every dimension.
//   O2. Only a raised limit ends an overdraft; a resume alone doesn't.

import { dimensions, type Usage } from "../contracts/budget.ts";
import { chargeLedger, findLimit, type Shortfall } from "./budget.ts";
import { ownValue } from "./own-values.ts";
import { isClosing } from "./selectors.ts";
import type { Run, RunView } from "./state.ts";

/**
 * Charges usage to the run and its phase, and remembers the phase if a limit is exceeded by then.
 */
export function chargeRun(run: Run, phase: string, usage: Usage | undefined): void {
  if (usage === undefined) return;
  chargeLedger(run.ledger, phase, usage);
  if (findExceeded(run, phase) !== null) run.overdrawn = phase; // O1
}

/**
 * Called when a limit was raised. Phases run in parallel, so another one may still be over the same
 * limit. O2
 */
export function settleOverdraft(run: Run): void {
  if (run.overdrawn === undefined) return;
  const openPhases = run.phases
    .filter((phase) => phase.status === "open" || isClosing(run, phase))
    .map(({ id }) => id);
  const overdrawn = [run.overdrawn, ...openPhases].find(
    (phase) => findExceeded(run, phase) !== null,
  );
  if (overdrawn === undefined) delete run.overdrawn;
  else run.overdrawn = overdrawn;
}

/**
 * The limit that a turn exceeded and that has not been raised enough since; null if there is none.
 */
export const findOverdraft = (run: RunView): Shortfall | null =>
  run.overdrawn === undefined ? null : findExceeded(run, run.overdrawn);

/** A limit of the run or of this phase that is exceeded by what was spent, reservations aside. */
function findExceeded(run: RunView, phase: string): Shortfall | null {
  for (const scope of ["run", "phase"] as const) {
    const spent = scope === "run" ? run.ledger.run : ownValue(run.ledger.phase, phase);
    if (spent === undefined) continue;
    for (const dimension of dimensions) {
      const limit = findLimit(run, scope, phase, dimension);
      const used = spent[dimension];
      if (limit !== undefined && used > limit) {
        return { scope, dimension, limit, left: limit - used, need: 0 };
      }
    }
  }

  return null;
}
