// fold-fork: the reducer of a fork: what changes in a run where it leaves its parent.
//
// Invariants:
//   K1. What was paid is charged once, in the journal of the run that paid (fork.ts).
//   K2. A conversation belongs to the run and the agent that had it: none is inherited.
//   K3. What held the other run up (a requested pause, the breaker, a provider, a limit) doesn't
//       hold up the new one.

import type { EventOf } from "../contracts/event.ts";
import { initialBreaker } from "./resumed.ts";
import type { Run } from "./state.ts";

export function applyFork(run: Run, event: EventOf<"run_forked">): void {
  const { actor: _actor, reason_code: _reason, event: _event, ...origin } = event;
  run.origins = [...(run.origins ?? []), { ...origin, tip: run.tip.commit }];
  run.drafted = {
    ...run.drafted,
    ...(event.cast === undefined ? {} : { cast: event.cast }),
    ...(event.prompts === undefined
      ? {}
      : { prompts: { ...run.drafted.prompts, ...event.prompts } }),
  };

  Object.assign(run.limits.run, event.limits?.run);
  Object.assign(run.limits.phase, event.limits?.phase);
  run.ledger.largest = { ...event.largest };
  if (event.cast !== undefined) run.turns = run.turns.filter(({ isOver }) => !isOver); // a new agent has had no turn yet
  for (const open of Object.values(run.open)) open.session = null; // K2
  for (const cursor of Object.values(run.cursors)) {
    delete cursor.left;
    for (const outcome of [...Object.values(cursor.last), ...Object.values(cursor.seen)]) {
      delete outcome.facts["session"];
    }
  }

  Object.assign(run, { asked: null, asker: null, now: false, hold: null, resting: null }); // K3
  delete run.heldBy;
  delete run.parked;
  delete run.overdrawn;
  run.breaker = initialBreaker(undefined);
}
