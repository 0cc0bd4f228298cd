// function-step: runs a registered function as a step and records what it found.

import { errorFingerprint } from "../core/breaker.ts";
import { invariant } from "../kit/invariant.ts";
import {
  Cancelled,
  type StepExecution,
  selectPastOutcomes,
  readContext,
} from "./step-execution.ts";
import { recordIfProved, locksField } from "./prove.ts";

/** Runs a runner function by name. What it found on disk enters the run as its recorded outcome. */
export async function runFunctionStep(execution: StepExecution): Promise<void> {
  const { run, cursor, step } = readContext(execution);
  const name = step.run ?? "";
  const registered = execution.runtime.functions.run[name];
  invariant(registered !== undefined, `a function is in the registry: ${name}`);
  const { attempt, cancel, runtime } = execution;

  const result = await registered.perform({
    attempt,
    state: run,
    cursor,
    commit: run.tip.commit,
    changed: [],
    ...selectPastOutcomes(cursor, step),
    cancel: cancel.signal,
    onLiveEvent: runtime.onLiveEvent,
  });
  const isIrrevocable = result.stands === true && (step.proof ?? []).length === 0;
  if (cancel.isCancelled && !isIrrevocable) throw new Cancelled();
  const record = isIrrevocable ? execution.recordDone : execution.record;

  if (result.applied !== undefined) {
    const { commit, parent, tree, paths, notApplied } = result.applied;
    await record({
      event: "changes_applied",
      attempt,
      commit,
      parent,
      tree,
      paths: [...paths],
      not_applied: notApplied,
    });
  }

  for (const difference of result.differed ?? []) {
    await record({ event: "document_differed", ...difference });
  }

  const common = {
    attempt,
    facts: result.facts,
    ...(result.checks === undefined ? {} : { checks: [...result.checks] }),
    ...(result.detail === undefined ? {} : { detail: result.detail }),
    reason_code: result.reason ?? "ok",
  };

  if (isIrrevocable) return record({ event: "step_completed", ...common });
  if (result.ok) return recordIfProved(execution, { ...common, ...locksField(result.locks) });
  return execution.record({
    event: "step_failed",
    ...common,
    fingerprint: errorFingerprint(result.reason ?? name, result.detail ?? ""),
  });
}
