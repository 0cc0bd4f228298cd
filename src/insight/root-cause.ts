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
import {
  categoryOfCause,
  type FailureCause,
  findKnownCause,
  findStepCause,
} from "./failure-cause.ts";
import { isCategory } from "./metrics.ts";
import { parseAttempt, phaseOfEntry, taskOfCursor } from "./attempt-path.ts";
import {
  findNamedCategory,
  type ReadClaim,
  findRejections,
  listOpenRejections,
} from "./rejection.ts";

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
  const end = findPhaseEnd(ownEntries);
  if (end === null) return null;

  const rejection = findRejectionCause(ownEntries, end.because, readClaim);
  const openFailure = findOpenFailure(ownEntries);
  if (rejection === null) return openFailure ?? describeEnd(end, ownEntries);

  const isFirst = openFailure === null || rejection.root.at < openFailure.at;
  return rejection.isEnd || isFirst ? rejection.root : openFailure; // P4
}

type PhaseEnd = { readonly at: string; readonly because: string };

/** When and why the phase failed; null if it did not. */
function findPhaseEnd(ownEntries: readonly Entry[]): PhaseEnd | null {
  const end = ownEntries.findLast(
    (entry) => entry.event === "phase_failed" || entry.event === "closing_failed",
  );
  if (end === undefined || !("walk" in end)) return null;

  const because = "because" in end && typeof end.because === "string" ? end.because : null;
  return { at: end.ts, because: because ?? end.reason_code };
}

/** If no step failed and nobody rejected the work (P1). */
function describeEnd({ at, because }: PhaseEnd, ownEntries: readonly Entry[]): RootCause {
  const [cause, category] = findEndCause(because, ownEntries);
  const lastStep = ownEntries.findLast(
    (entry) => entry.event === "step_completed" || entry.event === "step_failed",
  );

  return {
    cause,
    category,
    step: entryStep(lastStep) ?? "gate",
    at,
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
  const ending = open.find(({ last }) => causeOfDecider[last.rejectedBy] === because); // P4
  const decisive = ending ?? open[0];
  if (decisive === undefined) return null;

  const { last, first } = decisive;
  const { rejectedBy, step } = last;
  const cause = causeOfDecider[rejectedBy];
  const named = rejectedBy === "verifier" ? findNamedCategory(last, ownEntries, readClaim) : null;
  const root: RootCause = {
    cause,
    category: named !== null && isCategory(named) ? named : categoryOfCause[cause],
    step,
    at: first.decidedAt, // P5
    description: `The work was rejected in the step ${step} at ${last.decidedAt}: ${last.message}.`,
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
  const passed = indexPasses(ownEntries);

  for (const [at, entry] of ownEntries.entries()) {
    const failedChecks = entryChecks(entry).filter(isRed);
    const unresolved = failedChecks.filter(({ check }) => !passed.hasCheckAfter(check.command, at));
    if (failedChecks.length > 0 && unresolved.length === 0) continue;

    const failure = toFailure(entry, ownEntries, unresolved[0]);
    if (failure === null || !("attempt" in entry) || undoSteps.has(failure.step)) continue; // P3
    if (passed.hasStepAfter(stepOfCursor(entry.attempt), at)) continue;
    if (provedByChecks.has(failure.step) && passed.hasChecksStepAfter(at)) continue;

    return failure;
  }

  return null;
}

/** Where each step and each check's command last passed. */
function indexPasses(ownEntries: readonly Entry[]) {
  const stepPassedAt = new Map<string, number>();
  const checkPassedAt = new Map<string, number>();
  let checksStepPassedAt = -1;

  for (const [index, entry] of ownEntries.entries()) {
    for (const { check, status } of entryChecks(entry)) {
      if (status === "passed") checkPassedAt.set(check.command, index);
    }

    if (entry.event !== "step_completed") continue;
    const step = stepOfCursor(entry.attempt);
    stepPassedAt.set(step, index);
    if (step.endsWith("/checks")) checksStepPassedAt = index;
  }

  return {
    hasStepAfter: (step: string, at: number) => (stepPassedAt.get(step) ?? -1) > at,
    /** A check that passes in the entry in which it is red is red no more. */
    hasCheckAfter: (command: string, at: number) => (checkPassedAt.get(command) ?? -1) >= at,
    /** Whether the checks of the whole phase passed. */
    hasChecksStepAfter: (at: number) => checksStepPassedAt > at,
  };
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
  if (entry.event === "step_interrupted") return toInterruption(entry);
  if (entry.event !== "step_failed") return null;

  const cause = findStepCause(entry, ownEntries, red);
  const problem =
    red === undefined
      ? (entry.detail ?? entry.reason_code.replaceAll("_", " "))
      : `${red.check.command} -> ${red.status}`;
  const description = `${describeSubject(entry.attempt)} failed: ${problem.replace(/\.$/, "")}.`;

  const failure = buildRootCause(cause, entry, description);
  return isCategory(entry.reason_code) ? { ...failure, category: entry.reason_code } : failure;
}

function toInterruption(
  entry: Extract<Entry, { readonly event: "step_interrupted" }>,
): RootCause | null {
  if (entry.by === "scope") {
    const paths = (entry.paths ?? []).join(", ");
    const changed = paths === "" ? (entry.detail ?? "something was changed") : paths;
    return buildRootCause("scope", entry, `Outside the scope: ${changed}.`);
  }

  if (entry.by === "secret") {
    const what = entry.detail ?? "it was discarded";
    return buildRootCause("scope", entry, `A secret was written into a file: ${what}.`);
  }

  return null;
}

function describeSubject(attempt: string): string {
  const parts = parseAttempt(attempt);
  const task = taskOfCursor(parts?.cursor ?? "");
  if (task !== null) return `Task ${task}`;
  return parts === null || parts.step === "" ? "A step" : `The step ${parts.step}`;
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
  if (hasCounted(ownEntries, "replan")) {
    return ["replan_used_up", categoryOfCause.replan_used_up];
  }

  if (because === "executor_wrong_approach" && hasCounted(ownEntries, "plan")) {
    return ["plan_rejected", categoryOfCause.plan_rejected];
  }

  return ["criterion", isCategory(because) ? because : categoryOfCause.criterion];
}

const hasCounted = (ownEntries: readonly Entry[], count: string): boolean =>
  ownEntries.some((entry) => entry.event === "route_taken" && entry.count === count);
