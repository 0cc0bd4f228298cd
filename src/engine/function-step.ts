// function-step: runs a registered function as a step and records what it found.

import { errorFingerprint } from "../core/breaker.ts";
import { invariant } from "../kit/invariant.ts";
import { Cancelled, type StepExecution, pastOutcomes, readContext } from "./step-execution.ts";
import { recordIfProved, locksField } from "./prove.ts";

/** Runs a runner function by name. What it found on disk enters the run as its recorded outcome. */
export async function runFunctionStep(action: StepExecution): Promise<void> {
  const { run, cursor, step } = readContext(action);
  const name = step.run ?? "";
  const registered = action.runtime.functions.run[name];
  invariant(registered !== undefined, `a function is in the registry: ${name}`);
  const { attempt, cancel, runtime } = action;
  const result = await registered.perform({
    attempt,
    state: run,
    cursor,
    commit: run.tip.commit,
    changed: [],
    ...pastOutcomes(cursor, step),
    cancel: cancel.signal,
    onLiveEvent: runtime.onLiveEvent,
  });
  const isIrrevocable = result.stands === true && (step.proof ?? []).length === 0;
  if (cancel.isCancelled && !isIrrevocable) throw new Cancelled();
  if (result.applied !== undefined) {
    const { commit, parent, tree, paths, notApplied } = result.applied;
    await action.record({ event: "changes_applied", attempt, commit, parent, tree, paths: [...paths], not_applied: notApplied });
  }
  for (const difference of result.differed ?? []) await action.record({ event: "document_differed", ...difference });
  const common = {
    attempt,
    facts: result.facts,
    ...(result.checks === undefined ? {} : { checks: [...result.checks] }),
    ...(result.detail === undefined ? {} : { detail: result.detail }),
    reason_code: result.reason ?? "ok",
  };
  if (isIrrevocable) return action.recordDone({ event: "step_completed", ...common });
  if (result.ok) return recordIfProved(action, { ...common, ...locksField(result.locks) });
  return action.record({ event: "step_failed", ...common, fingerprint: errorFingerprint(result.reason ?? name, result.detail ?? "") });
}
