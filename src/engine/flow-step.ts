// flow-step: runs another flow as a child run and merges its work into this run's branch.

import type { Draft } from "../contracts/event.ts";
import { errorFingerprint } from "../core/breaker.ts";
import type { CursorView } from "../core/state.ts";
import { Cancelled, type StepExecution, readContext } from "./step-execution.ts";
import { buildCommitSubject, describePhase } from "./attempt-commit-subject.ts";
import { recordIfProved } from "./prove.ts";
import type { ChildAnswer, ChildResult } from "./runtime.ts";

/**
 * Runs another flow as a child run with its own journal; after a crash it continues from there. Its
 * work is merged into this run's branch.
 */
export async function runFlowStep(execution: StepExecution): Promise<void> {
  const { step, cursor } = readContext(execution);
  const { attempt, cancel } = execution;
  const answer = childAnswer(cursor);

  const request = {
    attempt,
    flow: step.flow ?? "",
    options: step.with ?? {},
    cancel: cancel.signal,
  };
  const result = await execution.runtime.children.run(
    answer === null ? request : { ...request, answered: answer },
  );

  if (cancel.isCancelled) throw new Cancelled();
  const { facts, detail, usage } = result;
  const outcome = { facts, detail, ...(usage === undefined ? {} : { usage }) };

  const failedEvent = (reason: string, why: string): Draft => ({
    event: "step_failed",
    attempt,
    ...outcome,
    detail: why,
    fingerprint: errorFingerprint("child_run", why),
    reason_code: reason,
  });

  if (result.asks !== undefined) {
    return execution.record({ event: "step_completed", attempt, ...outcome, asks: result.asks });
  }

  if (!result.ok) return execution.record(failedEvent("phase_failed", detail));
  const conflict = await mergeWork(execution, result);
  if (conflict.length > 0) {
    return execution.record(
      failedEvent("merge_conflict", `this run changed ${conflict.join(", ")} meanwhile; ${detail}`),
    );
  }

  return recordIfProved(execution, { attempt, ...outcome });
}

function childAnswer({ child, answeredBy }: CursorView): ChildAnswer | null {
  if (child?.answer === undefined) return null;
  const { run, block, spent, answer, issues } = child;
  return {
    run,
    block,
    spent,
    answer,
    actor: answeredBy ?? "system",
    ...(issues === undefined ? {} : { issues }),
  };
}

/** Merges the child's work into this run's branch, once; returns the conflicting paths. */
async function mergeWork(
  execution: StepExecution,
  { work }: ChildResult,
): Promise<readonly string[]> {
  const { run, cursor, step, openAttempt } = readContext(execution);
  if (work === undefined || openAttempt.stage === "applied") return [];
  const { attempt, runtime } = execution;

  const subject = buildCommitSubject({
    ...describePhase(run, cursor.phase),
    step: cursor.task ?? step.id,
    paths: [],
    goal: run.drafted.objective.goal,
  });

  const merge = await runtime.workspace.mergeChild({ attempt, ...work, subject });
  if (merge === null) return [];
  if ("conflict" in merge) return merge.conflict;
  const { commit, parent, tree, paths, notApplied } = merge;
  await execution.record({
    event: "changes_applied",
    attempt,
    commit,
    parent,
    tree,
    paths: [...paths],
    not_applied: notApplied,
  });

  return [];
}
