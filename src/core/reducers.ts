// reducers: the reducer type, one function per event, with the state lookups that reducers share.
// Invariants F1 and on: core/fold.ts.

import type { Envelope, EventName, EventOf } from "../contracts/event.ts";
import type { Outcome } from "../contracts/outcome.ts";
import { InvariantBroken, invariant } from "../kit/invariant.ts";
import { ownValue } from "./own-values.ts";
import type { OpenAttempt, PhaseState, Run, StepCursor } from "./state.ts";

/** One reducer per event. */
export type Reducers = {
  readonly [N in EventName]: (run: Run, event: EventOf<N> & Envelope) => void;
};
export type ReducersOf<N extends EventName> = Pick<Reducers, N>;

export function createCursor(
  place: Pick<StepCursor, "path" | "kind" | "phase" | "visit"> & Partial<StepCursor>,
): StepCursor {
  return {
    of: null,
    inside: null,
    task: null,
    at: 0,
    open: null,
    block: null,
    last: {},
    seen: {},
    ended: {},
    tries: {},
    streak: {},
    taken: {},
    because: null,
    reply: null,
    result: null,
    ...place,
  };
}

export function requireCursor(run: Run, path: string): StepCursor {
  const cursor = ownValue(run.cursors, path);
  if (cursor === undefined) throw new InvariantBroken(`F1: ${path} is a cursor of the run`);
  return cursor;
}

/** A cursor where something may begin or be decided: not over, nothing open, nothing asked. */
export function requireIdleCursor(run: Run, path: string): StepCursor {
  const cursor = requireCursor(run, path);
  if (cursor.result !== null) throw new InvariantBroken(`F1: ${path} is not over`);
  if (cursor.open !== null || cursor.block !== null) {
    throw new InvariantBroken(`F2: ${path} has nothing open`);
  }

  return cursor;
}

export function requirePhase(run: Run, id: string): PhaseState {
  const phase = run.phases.find((candidate) => candidate.id === id);
  invariant(phase !== undefined, `F1: the run has a phase ${id}`);
  return phase;
}

export function requireOpenAttempt(run: Run, attempt: string): OpenAttempt {
  const open = ownValue(run.open, attempt);
  if (open === undefined) throw new InvariantBroken(`F1: ${attempt} is open`);
  return open;
}

/**
 * Records that a request of another process was journaled; the same request twice is corruption.
 */
export function recordRequestOnce(run: Run, request: string): void {
  invariant(
    ownValue(run.requests, request) === undefined,
    `F1: the request ${request} is journaled once`,
  );

  run.requests[request] = true;
}

export const skippedOutcome = (): Outcome => ({
  kind: "skipped",
  facts: {},
  says: {},
  reason: null,
  detail: null,
  checks: [],
});
