// root-cause: finds why a phase failed, as one of ten categories: the first failure that was never
// put right.
//
// Invariants:
//   P1. Every failure has exactly one category, whatever it was.
//   P2. A cause that was put right later (its step passed after it) is not why the phase failed.
//   P3. A failure while a failed phase is reverted comes after the phase's failure, and is not why
//       it failed.
//   P4. A decision that ended the phase (rejection.ts) is why it failed; one that only sent it back
//       counts like a failed step.
//   P5. It was first observed when the cause was first seen, not when the phase ended.

import type { Entry, EventOf } from "../contracts/event.ts";
import type { CheckResult } from "../contracts/evidence.ts";
import type { FailureCategory } from "../contracts/roadmap-values.ts";
import { type CheckKind, findCheckKind } from "./check-kind.ts";
import { isCategory } from "./metrics.ts";
import { parseAttempt, phaseOfEntry, taskOfCursor } from "./attempt-path.ts";
import {
  findNamedCategory,
  type ReadClaim,
  type PhaseRejection,
  findRejections,
  listOpenRejections,
} from "./rejection.ts";

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

export type RootCause = {
  readonly cause: FailureCause;
  readonly category: FailureCategory;
  readonly step: string;
  readonly at: string;
  readonly description: string;
};

const descriptionCharsMax = 500;
const readNothing: ReadClaim = () => undefined;

/** Null if the phase never failed. `entries`: all of the run. */
export function findRootCause(
  entries: readonly Entry[],
  phase: string,
  readClaim: ReadClaim = readNothing,
): RootCause | null {
  const ownEntries = sliceLastVisit(entries.filter((entry) => phaseOfEntry(entry) === phase));
  const endEntry = ownEntries.findLast(
    (entry) => entry.event === "phase_failed" || entry.event === "closing_failed",
  );
  if (endEntry === undefined || !("walk" in endEntry)) return null;
  const because =
    "because" in endEntry && typeof endEntry.because === "string"
      ? endEntry.because
      : endEntry.reason_code;
  const rejection = findRejectionCause(ownEntries, because, readClaim);
  const openFailure = findOpenFailure(ownEntries);
  if (
    rejection !== null &&
    (rejection.isEnd || openFailure === null || rejection.root.at < openFailure.at)
  ) {
    return rejection.root;
  } // P4

  if (openFailure !== null) return openFailure;
  const [cause, category] = findEndCause(because, ownEntries);
  const step = ownEntries.findLast(
    (entry) => entry.event === "step_completed" || entry.event === "step_failed",
  );

  return {
    cause,
    category, // P1
    step: entryStep(step) ?? "gate",
    at: endEntry.ts,
    description: `The phase ended with ${because.replaceAll("_", " ")}.`,
  };
}

const causeOfDecider = {
  verifier: "verifier_rejected",
  judge: "judge_rejected",
  person: "human_rejected",
} as const;

/**
 * The decision that failed the phase; null if there is none. `isEnd`: it ended the phase itself,
 * and not a spent count.
 */
function findRejectionCause(
  ownEntries: readonly Entry[],
  because: string,
  readClaim: ReadClaim,
): { readonly root: RootCause; readonly isEnd: boolean } | null {
  const open = listOpenRejections(ownEntries, findRejections(ownEntries, readClaim));
  const rejectionCause = ({ by }: PhaseRejection): FailureCause => causeOfDecider[by];
  const ending = open.find(({ last }) => rejectionCause(last) === because); // P4
  const { last, first } = ending ?? open[0] ?? {};
  if (last === undefined || first === undefined) return null;
  const namedCategory =
    last.by === "verifier" ? findNamedCategory(last, ownEntries, readClaim) : null;

  const root: RootCause = {
    cause: rejectionCause(last),
    category:
      namedCategory !== null && isCategory(namedCategory)
        ? namedCategory
        : categoryOfCause[rejectionCause(last)],
    step: last.step,
    at: first.at, // P5
    description: `The work was rejected in the step ${last.step} at ${last.at}: ${last.message}.`,
  };

  return { root, isEnd: ending !== undefined };
}

/** From the last time the phase was begun. */
function sliceLastVisit(ownEntries: readonly Entry[]): readonly Entry[] {
  const from = ownEntries.findLastIndex(
    ({ event }) => event === "phase_started" || event === "phase_reopened",
  );
  return from < 0 ? ownEntries : ownEntries.slice(from);
}

/** The first failure whose step did not pass afterwards. P2 */
function findOpenFailure(ownEntries: readonly Entry[]): RootCause | null {
  const passedAt = new Map<string, number>();
  ownEntries.forEach((entry, index) => {
    const step = entry.event === "step_completed" ? stepOfCursor(entry.attempt) : null;
    if (step !== null) passedAt.set(step, index);
  });

  const checksPassedAt = Math.max(
    -1,
    ...[...passedAt].filter(([step]) => step.endsWith("/checks")).map(([, index]) => index),
  );

  const greenAt = new Map<string, number>();
  ownEntries.forEach((entry, index) => {
    for (const { check, status } of entryChecks(entry)) {
      if (status === "passed") greenAt.set(check.command, index);
    }
  });

  for (const [at, entry] of ownEntries.entries()) {
    const failedChecks = entryChecks(entry).filter(isRed);
    const unresolved = failedChecks.filter(({ check }) => (greenAt.get(check.command) ?? -1) < at);
    if (failedChecks.length > 0 && unresolved.length === 0) continue; // P2: every check that failed it passed later
    const failure = toFailure(entry, ownEntries, unresolved[0]);
    if (failure === null || !("attempt" in entry) || undoSteps.has(failure.step)) continue; // P3
    if ((passedAt.get(stepOfCursor(entry.attempt)) ?? -1) > at) continue;
    if (provedByChecks.has(failure.step) && checksPassedAt > at) continue;

    return failure;
  }

  return null;
}

const undoSteps: ReadonlySet<string> = new Set(["undo", "withdraw"]);

/**
 * Steps whose work is proved by the checks of the whole phase: once those pass, an earlier failure
 * was put right.
 */
const provedByChecks: ReadonlySet<string> = new Set(["execute", "debug"]);

/**
 * The step within its cursor, whatever the attempt: a task tried again in another execution is
 * another task.
 */
const stepOfCursor = (attempt: string): string => attempt.replace(/#\d+$/, "");

const entryStep = (entry: Entry | undefined): string | null =>
  entry !== undefined && "attempt" in entry ? (parseAttempt(entry.attempt)?.step ?? null) : null;

const entryChecks = (entry: Entry): readonly CheckResult[] =>
  entry.event === "step_failed" || entry.event === "step_completed" ? (entry.checks ?? []) : [];
const isRed = ({ status, quarantined }: CheckResult): boolean =>
  status !== "passed" && quarantined === undefined;

/** `red`: the first of its checks that failed and never passed afterwards. */
function toFailure(
  entry: Entry,
  ownEntries: readonly Entry[],
  red: CheckResult | undefined,
): RootCause | null {
  if (entry.event === "step_interrupted" && entry.by === "scope") {
    const paths = (entry.paths ?? []).join(", ");
    return buildRootCause(
      "scope",
      entry,
      `Outside the scope: ${paths === "" ? (entry.detail ?? "something was changed") : paths}.`,
    );
  }

  if (entry.event === "step_interrupted" && entry.by === "secret") {
    return buildRootCause(
      "scope",
      entry,
      `A secret was written into a file: ${entry.detail ?? "it was discarded"}.`,
    );
  }

  if (entry.event !== "step_failed") return null;
  const turn = ownEntries.find(
    (other) => other.event === "turn_ended" && other.attempt === entry.attempt,
  );

  const [firstLine = ""] = (entry.detail ?? "").split("\n", 1);
  const hasContextRunOut =
    (turn?.event === "turn_ended" && /max_(?:tokens|context)|context/.test(turn.stop)) ||
    (entry.reason_code === "agent_failed" && contextFullPattern.test(firstLine));

  const step = parseAttempt(entry.attempt)?.step ?? "";
  const category = isCategory(entry.reason_code) ? entry.reason_code : null;

  const cause =
    (hasContextRunOut ? "context_limit" : undefined) ??
    // Before a phase the user's document changed; within one an agent changed something unasked.
    (entry.reason_code === "spec_hash_mismatch" && step !== "preflight" ? "scope" : undefined) ??
    findKnownCause(entry.reason_code, ["tasks_failed"]) ??
    (reportingSteps.has(step) ? "return_invalid" : undefined) ??
    (red === undefined ? undefined : findCheckCause(red, step)) ??
    (Object.hasOwn(causeOfStep, step) ? causeOfStep[step] : undefined) ??
    findKnownCause(entry.reason_code) ??
    "criterion";

  const problem =
    red === undefined
      ? (entry.detail ?? entry.reason_code.replaceAll("_", " "))
      : `${red.check.command} -> ${red.status}`;

  const task = taskOfCursor(parseAttempt(entry.attempt)?.cursor ?? "");
  const stepSubject = step === "" ? "A step" : `The step ${step}`;
  const subject = task === null ? stepSubject : `Task ${task}`;
  const failure = buildRootCause(cause, entry, `${subject} failed: ${problem.replace(/\.$/, "")}.`);

  return category === null ? failure : { ...failure, category };
}

const findKnownCause = (reason: string, except: readonly string[] = []): FailureCause | undefined =>
  Object.hasOwn(causeOfReason, reason) && !except.includes(reason)
    ? causeOfReason[reason]
    : undefined;

/** A task's own commands prove the task; the phase's decide over criteria and the project. */
function findCheckCause({ check, status }: CheckResult, step: string): FailureCause {
  if (check.kind === "restore") return "package_manager";
  if (status === "not_found" || status === "not_runnable") return "spawn";
  if (check.kind === "project") return findCheckKind(check) ?? "tests";

  return Object.hasOwn(causeOfStep, step) ? (causeOfStep[step] ?? "criterion") : "criterion";
}

function buildRootCause(
  cause: FailureCause,
  entry: Entry & EventOf<"step_failed" | "step_interrupted">,
  description: string,
): RootCause {
  const step = findPhaseStep(entry.attempt);
  return {
    cause,
    category: categoryOfCause[cause],
    step,
    at: entry.ts,
    description: description.slice(0, descriptionCharsMax),
  };
}

/** The step of the phase; the steps of a task belong to the phase's `execute`. */
function findPhaseStep(attempt: string): string {
  const parts = parseAttempt(attempt);
  if (parts === null) return "gate";
  return taskOfCursor(parts.cursor) === null ? parts.step : "execute";
}

/** The cause if no step failed: the reason that the phase's end gives. */
function findEndCause(
  because: string,
  ownEntries: readonly Entry[],
): readonly [FailureCause, FailureCategory] {
  const cause = findKnownCause(because);
  if (cause !== undefined) return [cause, categoryOfCause[cause]];
  const replanned = ownEntries.some(
    (entry) => entry.event === "route_taken" && entry.count === "replan",
  );
  if (replanned) return ["replan_used_up", categoryOfCause.replan_used_up];
  const planned = ownEntries.some(
    (entry) => entry.event === "route_taken" && entry.count === "plan",
  );
  if (planned && because === "executor_wrong_approach") {
    return ["plan_rejected", categoryOfCause.plan_rejected];
  }

  return ["criterion", isCategory(because) ? because : categoryOfCause.criterion];
}
