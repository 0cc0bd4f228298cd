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
  applyRequestedChanges(run, event);

  if (event.cast !== undefined) run.turns = run.turns.filter(({ isOver }) => !isOver); // a new agent has had no turn yet
  forgetSessions(run);

  Object.assign(run, { asked: null, asker: null, now: false, hold: null, resting: null }); // K3
  delete run.heldBy;
  delete run.parked;
  delete run.overdrawn;
  run.breaker = initialBreaker(undefined);
}

/** The agents, prompts and limits that whoever forked the run asked for. */
function applyRequestedChanges(
  run: Run,
  { cast, prompts, limits, largest }: EventOf<"run_forked">,
): void {
  const promptsField =
    prompts === undefined ? {} : { prompts: { ...run.drafted.prompts, ...prompts } };
  run.drafted = {
    ...run.drafted,
    ...(cast === undefined ? {} : { cast }),
    ...promptsField,
  };

  Object.assign(run.limits.run, limits?.run);
  Object.assign(run.limits.phase, limits?.phase);
  run.ledger.largest = { ...largest };
}

/** K2 */
function forgetSessions(run: Run): void {
  for (const open of Object.values(run.open)) open.session = null;

  for (const cursor of Object.values(run.cursors)) {
    delete cursor.left;
    const outcomes = [...Object.values(cursor.last), ...Object.values(cursor.seen)];
    for (const outcome of outcomes) delete outcome.facts["session"];
  }
}
