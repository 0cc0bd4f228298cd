// step-execution: one step execution (an attempt while a process works on it): its context, how it
// records events, and how it is cancelled.
// Invariants E1 and on: engine/drive.ts; F1 and on: core/fold.ts.

import type { Usage } from "../contracts/budget.ts";
import type { Draft } from "../contracts/event.ts";
import type { Step } from "../contracts/flow.ts";
import type { AttemptId } from "../contracts/ids.ts";
import { findStep } from "../core/selectors.ts";
import type { Outcome } from "../contracts/outcome.ts";
import type { OpenAttemptView, RunView, CursorView } from "../core/state.ts";
import { InvariantBroken } from "../kit/invariant.ts";
import type { Cancel } from "./cancel.ts";
import type { Runtime } from "./runtime.ts";

export type StepExecution = {
  readonly attempt: AttemptId;
  readonly cancel: Cancel;
  readonly runtime: Runtime;
  /** The run as it is now. */
  readonly run: () => RunView;
  /**
   * Writes events of this attempt, acknowledged together; throws Cancelled if the attempt is no
   * longer wanted.
   */
  readonly record: (...events: readonly Draft[]) => Promise<void>;
  /**
   * The same for an effect that cannot be undone: it is recorded even if the attempt was cancelled
   * meanwhile, unless that was recorded already.
   */
  readonly recordDone: (...events: readonly Draft[]) => Promise<void>;
  /**
   * As `record`; then its layer (the agent's folder) is set aside as a patch, before the next
   * decision.
   */
  readonly recordAndQuarantine: (...events: readonly Draft[]) => Promise<void>;
  /**
   * Null if its changes may be applied now; else it resolves when their place in the wave has come,
   * or the attempt is cancelled.
   */
  readonly waitForPlace: () => Promise<void> | null;
  /** What its turn had used when it was cancelled; null if it was not, or nothing is known. */
  usageWhenCancelled: Usage | null;
};

/** The attempt was cancelled: the canceller records it. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** The attempt's context, read from the state. */
export type ExecutionContext = {
  readonly run: RunView;
  readonly openAttempt: OpenAttemptView;
  readonly cursor: CursorView;
  readonly step: Step;
};

export function getOpenAttempt(execution: StepExecution): OpenAttemptView {
  const open = execution.run().open[execution.attempt];
  // Not `invariant`: its message would be built several times a step.
  if (open === undefined) {
    throw new InvariantBroken(`E1: ${execution.attempt} stays open until its execution ends`);
  }

  return open;
}

export function readContext(execution: StepExecution): ExecutionContext {
  const run = execution.run();
  const openAttempt = getOpenAttempt(execution);
  const cursor = run.cursors[openAttempt.cursor];
  if (cursor === undefined)
    throw new InvariantBroken(`F2: ${openAttempt.cursor} is a cursor of the run`);

  return { run, openAttempt, cursor, step: findStep(run, cursor, openAttempt.step) };
}

/**
 * The past outcomes that a runner function is given: its own last one, and those of the steps that
 * the flow lists under `sees`.
 */
export function selectPastOutcomes(
  cursor: CursorView,
  step: Step,
): { readonly previous: Outcome | null; readonly sees: Record<string, Outcome> } {
  const outcomes = cursor.seen as Record<string, Outcome>;
  const sees = Object.fromEntries(
    (step.sees ?? []).flatMap((id) => (outcomes[id] === undefined ? [] : [[id, outcomes[id]]])),
  );

  return { previous: outcomes[step.id] ?? null, sees };
}
