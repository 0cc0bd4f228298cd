// step-execution: one step execution: its context, how it records events, and how it is cancelled.
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

/** One attempt under way: what it needs, how it records what happened, and how it is cancelled. */
export type StepExecution = {
  readonly attempt: AttemptId;
  readonly cancel: Cancel;
  readonly runtime: Runtime;
  /** The run as it is now. */
  readonly run: () => RunView;
  /** Writes events of this attempt, acknowledged together; throws Cancelled if the attempt is no longer wanted. */
  readonly record: (...events: readonly Draft[]) => Promise<void>;
  /** The same for an effect that cannot be undone: it is recorded either way. */
  readonly recordDone: (...events: readonly Draft[]) => Promise<void>;
  /** As `record`, and its layer is removed before the next decision. */
  readonly recordAndQuarantine: (...events: readonly Draft[]) => Promise<void>;
  /** Null if its changes may be applied now; else it resolves when their place in the wave has come, or the attempt is cancelled. */
  readonly waitForPlace: () => Promise<void> | null;
  /** Usage at the cancellation. */
  interruption: Usage | null;
};

/** The attempt was cancelled: the canceller records it. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** The attempt's context, read from the state. */
export type ExecutionContext = { readonly run: RunView; readonly open: OpenAttemptView; readonly cursor: CursorView; readonly step: Step };

export function getOpenAttempt(action: StepExecution): OpenAttemptView {
  const open = action.run().open[action.attempt];
  // Not `invariant`: its message would be built several times a step.
  if (open === undefined) throw new InvariantBroken(`E1: ${action.attempt} is open while its action is done`);
  return open;
}

export function readContext(action: StepExecution): ExecutionContext {
  const run = action.run();
  const open = getOpenAttempt(action);
  const cursor = run.cursors[open.cursor];
  if (cursor === undefined) throw new InvariantBroken(`F2: ${open.cursor} is a cursor of the run`);
  return { run, open, cursor, step: findStep(run, cursor, open.step) };
}

/** A runner function sees its own last outcome, and those of the steps in its `sees`. */
export function pastOutcomes(
  cursor: CursorView,
  step: Step,
): { readonly previous: Outcome | null; readonly sees: Record<string, Outcome> } {
  const seen = cursor.seen as Record<string, Outcome>;
  const sees = Object.fromEntries((step.sees ?? []).flatMap((id) => (seen[id] === undefined ? [] : [[id, seen[id]]])));
  return { previous: seen[step.id] ?? null, sees };
}
