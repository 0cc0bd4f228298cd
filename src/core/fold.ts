// fold: reads the journal into a state. Decides nothing.
//
// Invariants:
//   F1. An event that does not fit is corruption: it breaks the fold, naming what did not fit.
//   F2. A cursor has at most one open attempt, or one open question, never both.
//   F3. The ledger never shrinks, and time never runs back.
//   F4. Only the fold holds the mutable state: it is changed in place, because copying it per event
//       is quadratic.

import type { Entry } from "../contracts/event.ts";
import { InvariantBroken, invariant } from "../kit/invariant.ts";
import { initialState, minutesAt } from "./initial-state.ts";
import { blockReducers } from "./fold-blocks.ts";
import { phaseReducers } from "./fold-phase.ts";
import { proofReducers } from "./fold-proof.ts";
import { pullRequestReducers } from "./fold-pull-request.ts";
import { runReducers } from "./fold-run.ts";
import { stepReducers } from "./fold-step.ts";
import { taskReducers } from "./fold-tasks.ts";
import { turnReducers } from "./fold-turn.ts";
import type { Reducers } from "./reducers.ts";
import { ownValue } from "./own-values.ts";
import type { Run, RunState } from "./state.ts";

export type Fold = {
  /** Applies the next entry, in place. */
  apply(entry: Entry): void;
  /** The run's state. Read it, never change it. */
  readonly state: RunState;
};

/** One reducer per event, spread over the files named; a missing one does not compile. */
const reducers: Reducers = {
  run_drafted: () => {
    throw new InvariantBroken("F1: a run is drafted once");
  },
  ...runReducers,
  ...phaseReducers,
  ...stepReducers,
  ...turnReducers,
  ...taskReducers,
  ...blockReducers,
  ...proofReducers,
  ...pullRequestReducers,
};

/** The same by name, for any string: a journal may hold unknown names. */
const reducerByName: ReadonlyMap<string, (run: Run, event: Entry) => void> = new Map(
  Object.entries(reducers as Readonly<Record<string, (run: Run, event: Entry) => void>>),
);

/** A new fold, from the beginning or from a snapshot of a fold. */
export function openFold(snapshot?: Run): Fold {
  let state: RunState = snapshot === undefined ? { status: "unborn" } : structuredClone(snapshot); // F4
  return {
    get state() {
      return state;
    },
    apply(entry) {
      state = evolve(state, entry);
    },
  };
}

export function fold(entries: Iterable<Entry>, snapshot?: Run): RunState {
  const runFold = openFold(snapshot);
  for (const entry of entries) runFold.apply(entry);
  return runFold.state;
}

/** Applies one entry in place. Only for the owner of the state; everyone else opens a fold. */
export function evolve(state: RunState, entry: Entry): RunState {
  if (state.status === "unborn") {
    invariant(
      entry.event === "run_drafted",
      `F1: a journal begins with run_drafted, not ${entry.event}`,
    );

    return initialState(entry);
  }

  const reducer = reducerByName.get(entry.event);
  // Not `invariant`: building messages for a million numbers would cost more than checking them.
  if (reducer === undefined)
    throw new InvariantBroken(`F1: the fold knows the event ${entry.event}`);
  if (entry.seq !== state.seq + 1) {
    throw new InvariantBroken(`F1: entry ${entry.seq} comes right after ${state.seq}`);
  }

  passTime(state, entry);
  reducer(state, entry);
  return state;
}

/**
 * Worked time: the run's, and that of each open phase that does not wait for a person. A paused run
 * accrues none, though a process may wait with it.
 */
function passTime(run: Run, entry: Entry): void {
  const workedMs = entry.active_ms - run.activeMs;
  if (!(workedMs >= 0)) {
    throw new InvariantBroken(`F3: worked time never runs back (entry ${entry.seq})`);
  }

  run.seq = entry.seq;
  run.updatedAt = entry.ts;
  if (workedMs === 0) return;
  run.activeMs = entry.active_ms;

  if (run.status === "paused") {
    run.pausedMs = (run.pausedMs ?? 0) + workedMs;
    return;
  }

  run.ledger.run.minutes = minutesAt(run.drafted, entry.active_ms - (run.pausedMs ?? 0));
  for (const phase of run.phases) {
    if (phase.status !== "open" || ownValue(run.cursors, phase.id)?.block !== null) continue;
    const spent = ownValue(run.ledger.phase, phase.id);
    if (spent !== undefined) spent.minutes += workedMs / 60_000;
  }
}
