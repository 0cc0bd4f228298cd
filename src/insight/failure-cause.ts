// failure-cause: tells what a failure was, by its reason, its step and the checks that were red; and
// to which of the ten categories that belongs.

import type { Entry } from "../contracts/event.ts";
import type { CheckResult } from "../contracts/evidence.ts";
import type { FailureCategory } from "../contracts/roadmap-values.ts";
import { parseAttempt } from "./attempt-path.ts";
import { type CheckKind, findCheckKind } from "./check-kind.ts";

/** What failed, more finely than the ten categories of the format. */
export type FailureCause =
  | CheckKind
  | "criterion"
  | "task_unproved"
  | "plan_rejected"
  | "replan_used_up"
  | "verifier_rejected"
  | "judge_rejected"
  | "human_rejected"
  | "scope"
  | "context_limit"
  | "git"
  | "package_manager"
  | "spawn"
  | "preflight"
  | "return_invalid"
  | "return_lost";

export const categoryOfCause: Readonly<Record<FailureCause, FailureCategory>> = {
  compile: "compilation_failure",
  lint: "lint_failure",
  build: "build_failure",
  tests: "acceptance_criteria_unmet", // A red test is a criterion that does not hold; the ten have none of its own.
  criterion: "acceptance_criteria_unmet",
  verifier_rejected: "acceptance_criteria_unmet", // unless the verifier names another
  task_unproved: "executor_incomplete",
  plan_rejected: "executor_wrong_approach",
  replan_used_up: "executor_wrong_approach",
  // Every criterion may hold: what was built is not what was wanted.
  judge_rejected: "executor_wrong_approach",
  human_rejected: "executor_wrong_approach",
  scope: "scope_creep",
  context_limit: "context_exhaustion",
  git: "tool_failure",
  package_manager: "tool_failure",
  spawn: "tool_failure",
  preflight: "coordination_failure",
  return_invalid: "coordination_failure",
  return_lost: "coordination_failure",
};

/** Reason codes that name the cause by themselves. */
const causeOfReason: Readonly<Record<string, FailureCause>> = {
  scope_violation_blocked: "scope",
  secret_in_changes: "scope",
  context_exhausted: "context_limit",
  return_invalid: "return_invalid",
  tasks_invalid: "return_lost",
  crash_loop: "return_lost",
  spec_hash_mismatch: "preflight",
  workspace_changed: "git",
  workspace_unusable: "git",
  checkout_dirty: "git",
  checkout_busy: "git",
  merge_conflict: "git",
  merge_unproved: "git",
  branch_rewritten: "git",
  checkout_unwritable: "git",
  branch_kept: "git",
  disk_full: "spawn",
  agent_unavailable: "spawn",
  agent_failed: "spawn",
  agent_timeout: "spawn",
  provider_failed: "spawn",
  provider_limit_reached: "spawn",
  isolation_unavailable: "spawn",
  judge_rejected: "judge_rejected",
  human_rejected: "human_rejected",
  tasks_failed: "task_unproved",
};

/** Steps that fail for their own reason. */
const causeOfStep: Readonly<Record<string, FailureCause>> = {
  preflight: "preflight",
  triage: "preflight",
  // A step that should pass on a document or a judgement and does not: the handover was lost.
  research: "return_lost",
  plan: "return_lost",
  judge_blind: "return_lost",
  verify: "return_invalid",
  judge: "return_invalid",
  plan_check: "plan_rejected",
  execute: "task_unproved",
  do: "task_unproved",
};

/**
 * Steps that only report: if one fails, its report is wrong, whichever checks were run to find that
 * out.
 */
const reportingSteps: ReadonlySet<string> = new Set(["verify", "judge_blind", "judge"]);

/** How the runner and providers say that a turn ran out of context. */
const contextFullPattern =
  /\(max_tokens\)|context (?:window|length|limit)|maximum context|prompt is too long/i;

export type FailedStep = Extract<Entry, { readonly event: "step_failed" }>;

/** The first answer counts, from what is surest to what is likeliest. */
export function findStepCause(
  entry: FailedStep,
  ownEntries: readonly Entry[],
  red: CheckResult | undefined,
): FailureCause {
  const { reason_code: reason, attempt } = entry;
  const step = parseAttempt(attempt)?.step ?? "";
  if (hasContextRunOut(entry, ownEntries)) return "context_limit";

  // Before a phase the user's document changed; within one an agent changed something unasked.
  if (reason === "spec_hash_mismatch" && step !== "preflight") return "scope";

  const knownCause = findKnownCause(reason);
  if (knownCause !== undefined && reason !== "tasks_failed") return knownCause;
  if (reportingSteps.has(step)) return "return_invalid";
  if (red !== undefined) return findCheckCause(red, step);

  const stepCause = Object.hasOwn(causeOfStep, step) ? causeOfStep[step] : undefined;
  return stepCause ?? knownCause ?? "criterion";
}

function hasContextRunOut(
  { attempt, reason_code, detail = "" }: FailedStep,
  ownEntries: readonly Entry[],
): boolean {
  const turn = ownEntries.find(
    (other) => other.event === "turn_ended" && other.attempt === attempt,
  );
  if (turn?.event === "turn_ended" && /max_(?:tokens|context)|context/.test(turn.stop)) return true;

  const [firstLine = ""] = detail.split("\n", 1);
  return reason_code === "agent_failed" && contextFullPattern.test(firstLine);
}

/** The cause that a reason code names by itself. */
export const findKnownCause = (reason: string): FailureCause | undefined =>
  Object.hasOwn(causeOfReason, reason) ? causeOfReason[reason] : undefined;

/** A task's own commands prove the task; the phase's decide over criteria and the project. */
function findCheckCause({ check, status }: CheckResult, step: string): FailureCause {
  if (check.kind === "restore") return "package_manager";
  if (status === "not_found" || status === "not_runnable") return "spawn";
  if (check.kind === "project") return findCheckKind(check) ?? "tests";

  return Object.hasOwn(causeOfStep, step) ? (causeOfStep[step] ?? "criterion") : "criterion";
}
