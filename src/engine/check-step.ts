// check-step: runs a check step's commands and proofs on the newest commit, with protected tests
// from the base.

import type { Check, CheckResult, ProtectedChange } from "../contracts/evidence.ts";
import type { Facts } from "../contracts/outcome.ts";
import { isSecretFromAgent } from "../contracts/secret-checks.ts";
import { describeExpectation } from "../kit/answer.ts";
import type { CheckRequest } from "../ports/verifier.ts";
import { resolveChecks, filterNamedProofs } from "./checks.ts";
import { errorFingerprint, madeProgress } from "../core/breaker.ts";
import { findBaseline, type ChecksJudgement, judgeChecks } from "../core/completion.ts";
import type { RunView } from "../core/state.ts";
import { Cancelled, type StepExecution, readContext } from "./step-execution.ts";
import { decideWaitingClaims } from "./check-claims.ts";
import {
  type ProtectedState,
  recordProtectedChanges,
  describeRefused,
  baseTestFields,
  fromBaseField,
} from "./protected-files.ts";
import { locksField, type ProofOutcome, proveNamed } from "./prove.ts";

/**
 * Runs the commands a check step stands for on the branch's newest commit, then the proofs it
 * names. It only reads, so a crash repeats it. Protected files come from the base: the agent may
 * not change them, unless the scope names them or a person approved.
 */
export async function runCheckStep(execution: StepExecution): Promise<void> {
  const { run, cursor, step } = readContext(execution);
  const { runtime, attempt } = execution;
  const checkWords = step.check ?? [];
  const proofs = filterNamedProofs(checkWords, runtime.functions.proof);

  const checks = resolveChecks(
    run,
    cursor,
    proofs.length === 0 ? checkWords : checkWords.filter((word) => !proofs.includes(word)),
  );

  const contentBefore = run.oracles?.content;
  const protectedState = await recordProtectedChanges(execution);
  const { refused } = protectedState;
  const checked = await checkWithBase(execution, {
    checks,
    proofs,
    protectedState,
    wasTold: contentBefore === protectedState.content,
  });
  const { results, proof, areChangesBlocking } = checked;
  const allResults = proof.checks.length === 0 ? results : [...results, ...proof.checks];
  const judgement = judgeChecks(results, run.checks);
  // What the agent says is about its own tests: the results of others don't make it false.
  const claimEvents = areChangesBlocking
    ? []
    : await decideWaitingClaims(execution, allResults, judgement.regressed);

  const progress = madeProgress(run, cursor.phase, {
    tree: run.tip.tree,
    checks: allResults,
    changed: false,
  });

  const facts = buildFacts({ ...checked, judgement });
  const common = { attempt, facts, checks: [...allResults], tree: run.tip.tree, progress };

  if (areChangesBlocking) {
    const detail = describeRefused(refused);
    const fingerprint = errorFingerprint("oracle_changed", detail);
    return execution.record(...claimEvents, {
      event: "step_failed",
      ...common,
      fingerprint,
      detail,
      reason_code: "oracle_changed",
    });
  }

  if (judgement.passed && proof.holds) {
    return execution.record(...claimEvents, {
      event: "step_completed",
      ...common,
      ...locksField(proof.locks),
    });
  }

  const describeFailures = (describe: (result: CheckResult) => string): string =>
    [
      ...[...judgement.regressed, ...judgement.failing].map(
        (result) => `${result.check.title}: ${describe(result)}${describeRegression(run, result)}`,
      ),
      ...(proof.holds ? [] : [proof.detail]),
    ].join("; ");

  const reason_code = failureReason(judgement, proof);
  // Which tests fail may vary from try to try while the failure stays the same.
  const fingerprint = errorFingerprint(reason_code, describeFailures(describeEnd));
  return execution.record(...claimEvents, {
    event: "step_failed",
    ...common,
    fingerprint,
    detail: describeFailures(describeEndWithTests),
    reason_code,
  });
}

type Checked = {
  readonly results: readonly CheckResult[];
  readonly proof: ProofOutcome;
  /** Whether changes of protected files keep the step from passing. */
  readonly areChangesBlocking: boolean;
  /** Whether everything passes with the changed files. */
  readonly passesChanged?: true;
};

type StepChecks = {
  readonly checks: readonly Check[];
  readonly proofs: readonly string[];
  readonly protectedState: ProtectedState;
  /** Whether the agent was told of these changes before, and left them. */
  readonly wasTold: boolean;
};

/** Results with the base's protected files; with the changed ones if nothing needs the change. */
async function checkWithBase(
  execution: StepExecution,
  { checks, proofs, protectedState, wasTold }: StepChecks,
): Promise<Checked> {
  const { refused, changes, newChecks, changesOtherFiles } = protectedState;
  const { run } = readContext(execution);
  const { cancel, runtime, attempt } = execution;
  const stopIfCancelled = (): void => {
    if (cancel.isCancelled) throw new Cancelled();
  };

  const runChecks = async (more: Partial<CheckRequest>): Promise<readonly CheckResult[]> => {
    const results = await runtime.verifier.check({
      attempt,
      checks,
      commit: run.tip.commit,
      known: Object.fromEntries(
        Object.entries(run.checks).map(([id, { latest }]) => [id, latest.status]),
      ),
      recorded: Object.values(run.checks).flatMap(({ baseline, latest }) => [baseline, latest]),
      ...baseTestFields(run, changes),
      ...more,
      cancel: cancel.signal,
      onLiveEvent: runtime.onLiveEvent,
    });
    stopIfCancelled();
    return results;
  };

  const tryOut = { base: run.drafted.base.commit, goal: run.drafted.objective.goal };
  const results = await runChecks(refused.length === 0 ? tryOut : fromBaseField(run, refused));
  const proof = proofs.length === 0 ? noProof : await proveNamed(execution, proofs);
  if (refused.length === 0) return { results, proof, areChangesBlocking: false };
  const blocked = { results, proof, areChangesBlocking: true };
  const judged = results.filter(({ check }) => !newChecks.includes(check.id));
  const isUnneeded =
    judged.length > 0 &&
    judgeChecks(judged, run.checks).passed &&
    refused.every(({ how }) => plainChanges.has(how));
  if (!proof.holds) return blocked;
  if (!isUnneeded) {
    // An agent that was told left them so: whether they go with the rest of its work is worth a run.
    const mayHold =
      run.drafted.policy?.changed_tests === "hold" &&
      changesOtherFiles &&
      refused.every(({ how }) => how !== "skipped" && how !== "focused");
    if (!mayHold || !wasTold) return blocked;
    const changedResults = await runChecks({});
    return judgeChecks(changedResults, run.checks).passed
      ? { ...blocked, passesChanged: true }
      : blocked;
  }

  // It has judged nothing: a gap names it, and nobody has to be asked. What lands has it, so
  // everything must pass with it as well, and is tried out with it.
  const withChanges = await runChecks(tryOut);
  return judgeChecks(withChanges, run.checks).passed
    ? { results: withChanges, proof, areChangesBlocking: false }
    : { results, proof, areChangesBlocking: true };
}

/** Changes of which nothing says that they keep a test from judging. */
const plainChanges: ReadonlySet<ProtectedChange["how"]> = new Set(["added", "changed", "extended"]);

type CheckStepResult = Checked & { readonly judgement: ChecksJudgement };

/** The facts that flow rows may read of a check step. */
const buildFacts = ({
  results,
  judgement,
  proof,
  areChangesBlocking,
  passesChanged,
}: CheckStepResult): Facts => ({
  ...proof.facts,
  ran: results.length,
  passing: results.filter(({ status }) => status === "passed").length,
  failing: judgement.failing.length,
  regressed: judgement.regressed.length,
  red_before: judgement.redBefore.length,
  flaky: results.filter(({ status }) => status === "flaky").length,
  quarantined: judgement.quarantined.length,
  oracles: areChangesBlocking ? "changed" : "kept",
  ...(passesChanged === true ? { passes_changed: true } : {}),
  ...(areOnlyPackagesMissing(judgement) ? { uninstalled: true } : {}),
});

/** Whether every failure is due to packages that the tree names and that are not installed here. */
function areOnlyPackagesMissing({ failing, regressed }: ChecksJudgement): boolean {
  const failed = [...failing, ...regressed];
  return failed.length > 0 && failed.every(({ uninstalled }) => uninstalled !== undefined);
}

function describeEnd({ check, status, exit_code, why }: CheckResult): string {
  if (why !== undefined) return `${status} (${why})`;
  if (check.expect !== undefined) {
    return `${status} (expected ${describeExpectation(check.expect)})`;
  }

  return exit_code === null ? status : `${status} (exit ${exit_code})`;
}

/** With the number of failed tests, and the name of the first; a holdout check names none. */
function describeEndWithTests(result: CheckResult): string {
  const { check, tests, failed = "", why } = result;
  if (isSecretFromAgent(check) || why !== undefined || tests === undefined || tests.failed === 0) {
    return describeEnd(result);
  }

  const count =
    tests.ran >= tests.failed
      ? `${tests.failed} of ${tests.ran} tests failed`
      : `${tests.failed} failed`;

  return `${describeEnd(result)}, ${count}${failed === "" ? "" : `: ${failed}`}`;
}

const describeRegression = (run: RunView, { check, status }: CheckResult): string =>
  check.kind === "project" &&
  status !== "flaky" &&
  findBaseline(run.checks[check.id])?.status === "failed"
    ? ", worse than before the run"
    : "";

const noProof: ProofOutcome = { holds: true, detail: "", facts: {}, checks: [] };

function failureReason(judgement: ChecksJudgement, proof: ProofOutcome): string {
  if (judgement.passed) return proof.reason ?? "proof_missing";
  if (judgement.isOnlyFlaky) return "check_flaky";
  return judgement.failing.length > 0 ? "criterion_failed" : "check_regressed";
}
