// agent-step: runs an agent attempt as three actions, each with its journal line: the turn (paid),
// the apply (committed under a key), the proof.
//
// Invariants:
//   A1. A paid turn is recorded before anything else is done with it. If the attempt ends with its
//       turn (the turn failed, left its scope, or left nothing to apply and nothing to prove), both
//       lines are written together.
//   A2. Nothing of an attempt that left its scope, or wrote a secret into a file, is applied
//       (judged in turn-events.ts).
//   A3. The agent's claims decide nothing here: `passed` means that the step's own proof holds.
//   A4. Tasks of one wave are applied in the wave's order, each once those before it are over,
//       whichever turn ends first.
//   A5. The work of a turn that used more than a limit allows is kept, and proved once the limit is
//       raised.
//   A6. Disk space for a turn's outcome is reserved before the turn is paid for, and the outcome is
//       kept there (its receipt) as soon as the turn ends. If anything fails before it is recorded,
//       the next process that opens the run records it.

import type { GitSha } from "../contracts/ids.ts";
import { errorFingerprint, madeProgress } from "../core/breaker.ts";
import { findOverdraft } from "../core/overdraft.ts";
import type { ChangeSet } from "../ports/workspace.ts";
import {
  Cancelled,
  type ExecutionContext,
  type StepExecution,
  readContext,
} from "./step-execution.ts";
import { type CompletedTurn, progressField, questionFact, runTurn } from "./agent-turn.ts";
import { checkClaims } from "./check-claims.ts";
import { placeholderField } from "./placeholder-facts.ts";
import { locksField, proveStep } from "./prove.ts";
import { buildCommitSubject, describePhase } from "./attempt-commit-subject.ts";
import { buildStepFailed, buildViolation } from "./turn-events.ts";

export async function runAgentStep(execution: StepExecution): Promise<void> {
  const { stage } = readContext(execution).openAttempt;
  const turn = stage === "started" ? await runTurn(execution) : null;
  if (turn === "over") return;

  const turnToApply = execution.waitForPlace();
  if (turnToApply !== null) await waitUncancelled(execution, turnToApply); // A4
  const applied =
    stage === "applied" ? { parent: null } : await applyChanges(execution, turn?.changes ?? null);
  if (applied === "over") return;

  if (findOverdraft(execution.run()) !== null) return recordOverBudget(execution); // A5
  await recordProof(execution, turn, applied.parent);
}

async function waitUncancelled(execution: StepExecution, place: Promise<void>): Promise<void> {
  await place;
  if (execution.cancel.isCancelled) throw new Cancelled();
}

/**
 * `over` if the attempt ended: it left its scope, or another attempt changed the same files
 * meanwhile. After a crash, `turnChanges` is null.
 */
async function applyChanges(
  execution: StepExecution,
  turnChanges: ChangeSet | null,
): Promise<{ readonly parent: GitSha | null } | "over"> {
  const context = readContext(execution);
  const changes = turnChanges ?? (await readUncommittedChanges(execution));

  // Only after a crash: otherwise the turn's line and the refusal are written together.
  const outside = context.openAttempt.turn?.outside ?? [];
  const violation = changes === null ? null : buildViolation(execution, changes, outside);
  if (violation !== null) {
    await execution.recordAndQuarantine(violation);
    return "over";
  }

  if (changes?.paths.length === 0) return { parent: null };
  return commitChanges(execution, context, changes?.paths ?? []);
}

/** What the turn of a process that crashed left in its layer; null if it is committed already. */
async function readUncommittedChanges({
  runtime,
  attempt,
}: StepExecution): Promise<ChangeSet | null> {
  const { commit } = await runtime.workspace.inspect(attempt, null);
  return commit === null ? runtime.workspace.changesOf(attempt) : null;
}

/** Commits what is in the layer, or finds the commit that a crashed process made of it. */
async function commitChanges(
  execution: StepExecution,
  { run, cursor, step }: ExecutionContext,
  changedPaths: readonly string[],
): Promise<{ readonly parent: GitSha | null } | "over"> {
  const { runtime, attempt } = execution;
  const subject = buildCommitSubject({
    ...describePhase(run, cursor.phase),
    step: cursor.task ?? step.id,
    paths: changedPaths,
    goal: run.drafted.objective.goal,
  });

  const applied = await runtime.workspace.apply(attempt, subject);
  if (applied === null) return { parent: null };
  if ("conflict" in applied) {
    const detail = `another attempt changed ${applied.conflict.join(", ")} meanwhile`;
    await execution.recordAndQuarantine(buildStepFailed(execution, "merge_conflict", detail));
    return "over";
  }

  const { commit, parent, tree, paths, notApplied } = applied;
  await execution.record({
    event: "changes_applied",
    attempt,
    commit,
    parent,
    tree,
    paths: [...paths],
    not_applied: notApplied,
  });

  return { parent };
}

/**
 * The attempt stays open as it is: paid, its work on the run's branch, only the proof still to
 * come.
 */
const recordOverBudget = (execution: StepExecution): Promise<void> =>
  execution.record({
    event: "step_interrupted",
    attempt: execution.attempt,
    by: "budget",
    reason_code: "budget_threshold_reached",
    detail:
      "the turn used more than the budget allows; its work is kept and is checked once the limit is raised",
  });

async function recordProof(
  execution: StepExecution,
  turn: CompletedTurn | null,
  parent: GitSha | null,
): Promise<void> {
  const { run, cursor, step, openAttempt } = readContext(execution);
  const proof = await proveStep(execution, turn?.report.prompt); // A3

  const claimEvents = await checkClaims(execution, {
    agent: openAttempt.turn?.agent ?? "",
    report: turn?.report ?? null,
    commit: openAttempt.commit ?? run.tip.commit,
    changed: openAttempt.paths,
    results: proof.checks,
    ...(parent === null ? {} : { parent }),
    ...(turn === null ? {} : { ignored: turn.changes.ignored }),
  });
  if (execution.cancel.isCancelled) throw new Cancelled();

  const isChanged = openAttempt.commit !== null;
  // With parallel attempts the tip may be another's: progress is judged by what this one left.
  const tree = openAttempt.tree ?? run.tip.tree;
  const hasProgressed = madeProgress(run, cursor.phase, {
    tree,
    checks: proof.checks,
    changed: isChanged,
  });

  const facts = {
    changed: isChanged,
    promised: openAttempt.turn?.promised ?? false,
    announced_more: openAttempt.turn?.announced_more ?? false,
    ...questionFact(openAttempt.turn?.question),
    ...proof.facts,
  };
  const outcome = { attempt: execution.attempt, facts, checks: [...proof.checks], tree };

  if (proof.holds) {
    return execution.record(...claimEvents, {
      event: "step_completed",
      ...outcome,
      ...(isChanged ? { progress: hasProgressed } : progressField(step, hasProgressed)),
      ...locksField(proof.locks),
      ...placeholderField(proof.hollow),
    });
  }

  const reason_code = proof.reason ?? "proof_missing";
  return execution.record(...claimEvents, {
    event: "step_failed",
    ...outcome,
    progress: hasProgressed,
    fingerprint: errorFingerprint(reason_code, proof.detail),
    detail: proof.detail,
    reason_code,
  });
}
