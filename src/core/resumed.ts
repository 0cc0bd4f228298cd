// resumed: continues a run of another tool: takes over its ledger, counts and breaker at the start,
// and its position when a phase is entered.

import type { Resumed } from "../contracts/resumed.ts";
import { beginProbe } from "./breaker.ts";
import { cursorSteps } from "./selectors.ts";
import { ownValue, setValue } from "./own-values.ts";
import type { Breaker, Run, StepCursor } from "./state.ts";

const closedBreaker = (): Breaker => ({
  state: "closed",
  no_progress: 0,
  same: 0,
  last_error: null,
  probed: null,
  because: null,
  cooldown_until: null,
  opened: 0,
});

/**
 * The breaker at a run's start. One that was open in the other tool's run goes half open then: the
 * person who starts the run has looked.
 */
export function initialBreaker(resumed: Resumed | undefined): Breaker {
  if (resumed === undefined) return closedBreaker();
  const { is_open, no_progress, same, last_error } = resumed.breaker;
  if (is_open) return { ...closedBreaker(), state: "open", opened: 1 };

  return { ...closedBreaker(), no_progress, same, last_error };
}

/** An open breaker of another tool's run goes half open when this run starts. */
export function halfOpenBreaker({ breaker, drafted }: Run): void {
  if (drafted.resumes === undefined || breaker.state !== "open") return;
  breaker.state = "half_open";
  beginProbe(breaker);
}

/** The tokens that a phase had used before. */
export const tokensUsedBefore = ({ drafted }: Run, phase: string): number =>
  drafted.resumes?.phases.find(({ id }) => id === phase)?.tokens ?? 0;

/**
 * Puts the first visit of a phase at the step it had reached, with its counts and what is known of
 * the steps before.
 */
export function restoreCursorPosition(run: Run, cursor: StepCursor): void {
  const resumedPhase = run.drafted.resumes?.phases.find(({ id }) => id === cursor.phase);
  if (resumedPhase === undefined) return;
  cursor.taken = { ...resumedPhase.counts };
  if (resumedPhase.checks !== undefined) cursor.checks = [...resumedPhase.checks];
  const steps = cursorSteps(run, cursor);
  const index = steps.findIndex(({ id }) => id === resumedPhase.step);
  if (index < 0) return; // a flow that no longer has the step starts the phase over
  cursor.at = index;

  for (const { id } of steps.slice(0, index)) {
    const facts = ownValue(resumedPhase.facts ?? {}, id);
    if (facts === undefined) continue;

    const outcome = {
      kind: "passed",
      facts,
      says: {},
      reason: "run_resumed",
      detail: null,
      checks: [],
    } as const;

    setValue(cursor.last, id, { ...outcome, checks: [] });
    setValue(cursor.seen, id, { ...outcome, checks: [] });
  }
}
