// flow-step: runs another flow as a child run and merges its work into this run's branch.

import type { Draft } from "../contracts/event.ts";
import { categoryFingerprint } from "../core/breaker.ts";
import type { CursorView } from "../core/state.ts";
import { Cancelled, type StepExecution, actionSetting } from "./step-execution.ts";
import { commitSubject, placeFor } from "./commit-subject.ts";
import { completeProved } from "./prove.ts";
import type { ChildAnswered, ChildEnded } from "./runtime.ts";

/**
 * Runs another flow as a child run with its own journal; after a crash it continues from there. Its work is merged into this run's branch.
 */
export async function flowStep(action: StepExecution): Promise<void> {
  const { step, cursor } = actionSetting(action);
  const { attempt, cancel } = action;
  const answered = childAnswer(cursor);
  const order = { attempt, flow: step.flow ?? "", options: step.with ?? {}, cancel: cancel.signal };
  const result = await action.runtime.children.run(answered === null ? order : { ...order, answered });
  if (cancel.isCancelled) throw new Cancelled();
  const { facts, detail, usage } = result;
  const ended = { facts, detail, ...(usage === undefined ? {} : { usage }) };
  const failed = (reason: string, why: string): Draft => ({
    event: "step_failed",
    attempt,
    ...ended,
    detail: why,
    fingerprint: categoryFingerprint("child_run", why),
    reason_code: reason,
  });
  if (result.asks !== undefined) return action.record({ event: "step_completed", attempt, ...ended, asks: result.asks });
  if (!result.ok) return action.record(failed("phase_failed", detail));
  const conflict = await takeWork(action, result);
  if (conflict.length > 0) return action.record(failed("merge_conflict", `this run changed ${conflict.join(", ")} meanwhile; ${detail}`));
  return completeProved(action, { attempt, ...ended });
}

function childAnswer({ child, answeredBy }: CursorView): ChildAnswered | null {
  if (child?.answer === undefined) return null;
  const { run, block, spent, answer, issues } = child;
  return { run, block, spent, answer, actor: answeredBy ?? "system", ...(issues === undefined ? {} : { issues }) };
}

/** Merges the child's work into this run's branch, once; returns the conflicting paths. */
async function takeWork(action: StepExecution, { work }: ChildEnded): Promise<readonly string[]> {
  const { run, cursor, step, open } = actionSetting(action);
  if (work === undefined || open.stage === "applied") return [];
  const { attempt, runtime } = action;
  const subject = commitSubject({
    ...placeFor(run, cursor.phase),
    step: cursor.task ?? step.id,
    paths: [],
    goal: run.drafted.objective.goal,
  });
  const taken = await runtime.workspace.takeIn({ attempt, ...work, subject });
  if (taken === null) return [];
  if ("conflict" in taken) return taken.conflict;
  const { commit, parent, tree, paths, notApplied } = taken;
  await action.record({ event: "changes_applied", attempt, commit, parent, tree, paths: [...paths], not_applied: notApplied });
  return [];
}
