// check-step: runs a check step's commands and proofs on the newest commit, with protected tests from the base.

import type { CheckResult } from "../contracts/evidence.ts";
import { describeExpectation } from "../kit/answer.ts";
import { checksFor, proofsAmong } from "./checks.ts";
import { categoryFingerprint, madeProgress } from "../core/breaker.ts";
import { baselineResult, type ChecksJudged, judgeChecks } from "../core/completion.ts";
import type { RunView } from "../core/state.ts";
import { Cancelled, type StepExecution, actionSetting } from "./step-execution.ts";
import { checkClaimsAgain } from "./check-claims.ts";
import { judgedProtected, describeRefused, testsBefore, underBase } from "./protected-files.ts";
import { lockedBy, type Proved, proveNamed } from "./prove.ts";

/**
 * Runs the commands a check step stands for on the branch's newest commit, then the proofs it names. It only reads, so a crash repeats it.
 * Protected files come from the base: the agent may not change them, unless the scope names them or a person approved.
 */
export async function checkStep(action: StepExecution): Promise<void> {
  const { run, cursor, step } = actionSetting(action);
  const { cancel, runtime, attempt } = action;
  const words = step.check ?? [];
  const proofs = proofsAmong(words, runtime.functions.proof);
  const checks = checksFor(run, cursor, proofs.length === 0 ? words : words.filter((word) => !proofs.includes(word)));
  const { refused, changes } = await judgedProtected(action);
  const results = await runtime.verifier.check({
    attempt,
    checks,
    commit: run.tip.commit,
    known: Object.fromEntries(Object.entries(run.checks).map(([id, { latest }]) => [id, latest.status])),
    recorded: Object.values(run.checks).flatMap(({ baseline, latest }) => [baseline, latest]),
    base: run.drafted.base.commit,
    goal: run.drafted.objective.goal,
    ...testsBefore(run, changes),
    ...underBase(run, refused),
    cancel: cancel.signal,
    onLiveEvent: runtime.onLiveEvent,
  });
  if (cancel.isCancelled) throw new Cancelled();
  const proof = proofs.length === 0 ? unasked : await proveNamed(action, proofs);
  const all = proof.checks.length === 0 ? results : [...results, ...proof.checks];
  const judged = judgeChecks(results, run.checks);
  const claimEvents = await checkClaimsAgain(action, all, judged.regressed);
  const progress = madeProgress(run, cursor.phase, { tree: run.tip.tree, checks: all, changed: false });
  const facts = {
    ...proof.facts,
    ran: results.length,
    passing: results.filter(({ status }) => status === "passed").length,
    failing: judged.failing.length,
    regressed: judged.regressed.length,
    red_before: judged.redBefore.length,
    flaky: results.filter(({ status }) => status === "flaky").length,
    quarantined: judged.quarantined.length,
    oracles: refused.length === 0 ? "kept" : "changed",
  };
  const common = { attempt, facts, checks: [...all], tree: run.tip.tree, progress };
  if (refused.length > 0) {
    const detail = describeRefused(refused);
    const fingerprint = categoryFingerprint("oracle_changed", detail);
    return action.record(...claimEvents, { event: "step_failed", ...common, fingerprint, detail, reason_code: "oracle_changed" });
  }
  if (judged.passed && proof.holds) return action.record(...claimEvents, { event: "step_completed", ...common, ...lockedBy(proof.locks) });
  const reported = (of: (result: CheckResult) => string): string =>
    [
      ...[...judged.regressed, ...judged.failing].map((result) => `${result.check.title}: ${of(result)}${describeRegression(run, result)}`),
      ...(proof.holds ? [] : [proof.detail]),
    ].join("; ");
  const reason_code = failureReason(judged, proof);
  // Which tests fail may vary from try to try while the failure stays the same.
  const fingerprint = categoryFingerprint(reason_code, reported(checkEnd));
  return action.record(...claimEvents, { event: "step_failed", ...common, fingerprint, detail: reported(endWithTests), reason_code });
}

function checkEnd({ check, status, exit_code, why }: CheckResult): string {
  if (why !== undefined) return `${status} (${why})`;
  if (check.expect !== undefined) return `${status} (expected ${describeExpectation(check.expect)})`;
  return exit_code === null ? status : `${status} (exit ${exit_code})`;
}

/** With the number of failed tests, and the name of the first; a holdout check names none. */
function endWithTests(result: CheckResult): string {
  const { check, tests, failed = "", why } = result;
  if (check.kind === "holdout" || why !== undefined || tests === undefined || tests.failed === 0) return checkEnd(result);
  const count = tests.ran >= tests.failed ? `${tests.failed} of ${tests.ran} tests failed` : `${tests.failed} failed`;
  return `${checkEnd(result)}, ${count}${failed === "" ? "" : `: ${failed}`}`;
}

const describeRegression = (run: RunView, { check, status }: CheckResult): string =>
  check.kind === "project" && status !== "flaky" && baselineResult(run.checks[check.id])?.status === "failed"
    ? ", worse than before the run"
    : "";

const unasked: Proved = { holds: true, detail: "", facts: {}, checks: [] };

function failureReason(judged: ChecksJudged, proof: Proved): string {
  if (judged.passed) return proof.reason ?? "proof_missing";
  if (judged.isOnlyFlaky) return "check_flaky";
  return judged.failing.length > 0 ? "criterion_failed" : "check_regressed";
}
