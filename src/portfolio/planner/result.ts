// result: decides what becomes of a task whose run has ended. The worker only claims; the proof
// that the runner made itself decides.
//
// Invariants:
//   W1. A result is accepted once, and only for the task, run and nonce that it was dispatched
//       with.
//   W2. `done` rests on the runner's proof alone; the worker's own opinion is kept beside it as a
//       claim.
//   W3. A criterion without a command becomes a question to a person, unless its project accepts
//       unproved work.
//   W4. After the first failure a task is tried again, after the second a person must adjust it.
//   W5. A task needs a person if its worker handed in no result that fits, or says itself that it
//       isn't done.

import type { PortfolioTaskStatus } from "../../contracts/portfolio/portfolio.ts";
import * as v from "valibot";
import { WorkerResult } from "../../contracts/portfolio/worker-result.ts";
import {
  type Criterion,
  type TaskProof,
  type TaskFields,
} from "../../contracts/portfolio/portfolio-journal.ts";
import type { ProjectView, TaskView } from "./state.ts";

/** Why a delivered result is not for this task now; null if it is (W1). */
export function whyResultRefused(
  task: TaskView | undefined,
  delivered: { readonly task_id: string; readonly run_id: string; readonly event_nonce: string },
): string | null {
  if (task === undefined) return `there is no task ${delivered.task_id}`;
  if (task.run_id !== delivered.run_id) {
    return `${task.task_id} is worked on by ${task.run_id ?? "no run"}, not ${delivered.run_id}`;
  }

  if (task.event_nonce !== delivered.event_nonce) return "its nonce is that of another dispatch";
  if (task.ingested) return "it was taken in before";
  if (task.status !== "running") return `${task.task_id} is ${task.status}, not running`;

  return null;
}

export type RunEnd = {
  /** Whether the run completed and its work may be merged. */
  readonly is_completed: boolean;
  readonly has_changes: boolean;
  readonly passed: readonly string[];
  readonly failed: readonly string[];
};

/** The runner's proof of a task's criteria from the commands that passed. */
export function buildProof(
  criteria: readonly Criterion[],
  { passed, failed }: Pick<RunEnd, "passed" | "failed">,
): TaskProof {
  const passedCommands = new Set<string | null>(passed);
  const proved = criteria.filter(({ command }) => passedCommands.has(command));

  return {
    criteria: criteria.length,
    proved: proved.length,
    checks_attempted: [...passed, ...failed],
    checks_passed: [...passed],
    checks_failed: [...failed],
  };
}

export type Confidence = "high" | "medium" | "low";
/** `high`: every criterion proved, `medium`: some, `low`: none. */
export function rateConfidence({
  criteria,
  proved,
}: Pick<TaskProof, "criteria" | "proved">): Confidence {
  if (proved === 0) return "low";
  return proved === criteria ? "high" : "medium";
}

/** `ask`: what a person has to approve; null if nothing. */
export type ResultDecision = {
  readonly to: PortfolioTaskStatus;
  readonly because: string;
  readonly ask: string | null;
};

/**
 * What a worker handed in, if it is complete and for this dispatch (W1); otherwise what is wrong
 * with it.
 */
export type SubmittedResult =
  | { readonly claim: WorkerResult; readonly problem: null }
  | { readonly claim: null; readonly problem: string };

export function parseSubmittedResult(task: TaskView, value: unknown): SubmittedResult {
  if (value === null || value === undefined) return refuseSubmitted("it handed in no result");

  const parsed = v.safeParse(WorkerResult, value);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const problem = `its result is not whole: ${v.getDotPath(issue) ?? ""} ${issue.message}`;
    return refuseSubmitted(problem.slice(0, problemCharsMax));
  }

  const { task_id, event_nonce } = parsed.output;
  if (task_id !== task.task_id) return refuseSubmitted(`its result is for ${task_id}`);
  if (event_nonce !== task.event_nonce) {
    return refuseSubmitted("its result bears the nonce of another dispatch");
  }

  return { claim: parsed.output, problem: null };
}

const refuseSubmitted = (problem: string): SubmittedResult => ({ claim: null, problem });

const problemCharsMax = 300;
export const followUpsMax = 5;
const objectiveCharsMax = 500;

/**
 * The follow-up tasks that a result suggests and that are not known yet, for a person to decide on.
 */
export function listFollowUps(
  task: TaskView,
  claim: WorkerResult | null,
  known: readonly string[],
): readonly TaskFields[] {
  const suggestions = (claim?.next_suggestions ?? []).map(readSuggestion);
  const objectives = new Set(suggestions);
  for (const objective of ["", ...known]) objectives.delete(objective);
  const newObjectives = [...objectives].slice(0, followUpsMax);

  return newObjectives.map((objective) => ({
    objective,
    acceptance_criteria: [],
    dependencies: [task.task_id],
    touches: [],
    priority: task.priority,
    budget: {},
    agent: null,
    flow: null,
    isolation: null,
  }));
}

function readSuggestion(value: unknown): string {
  const text = typeof value === "string" ? value : readSuggestedText(value);
  return text.replace(/\s+/g, " ").trim().slice(0, objectiveCharsMax);
}

function readSuggestedText(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";

  const fields = value as Record<string, unknown>;
  const texts = [fields["objective"], fields["title"], fields["summary"], fields["text"]];
  return texts.find((text) => typeof text === "string") ?? "";
}

export type ResultFacts = {
  readonly end: RunEnd;
  readonly proof: TaskProof;
  /** Null if its flow asks for no result. */
  readonly submitted: SubmittedResult | null;
};

/**
 * The status of a task whose run is over (W2 to W5). `running` means that it is accepted and goes
 * to the merge queue.
 */
export function decideOnResult(
  task: TaskView,
  project: ProjectView,
  { end, proof, submitted }: ResultFacts,
): ResultDecision {
  if (!end.is_completed) return decideOnFailedRun(task);

  const runnable = task.acceptance_criteria.filter(({ command }) => command !== null);
  if (proof.proved < runnable.length) {
    const to = task.failures === 0 ? "failed" : "needs_adjustment";
    return decideTo(to, "a criterion does not hold"); // W2, W4
  }

  const complaint = findComplaint(submitted);
  if (complaint !== null) {
    return decideTo("needs_adjustment", `its checks pass, and ${complaint}`); // W5
  }

  const toApprove = listToApprove(task);
  if (toApprove.length > 0 && !project.accept_unproved) {
    const because = "no command proves a criterion";
    return { to: "blocked_human", because, ask: toApprove.join("; ") }; // W3
  }

  if (!end.has_changes) return decideTo("done", "nothing needed to change");
  return decideTo("running", "accepted");
}

const decideTo = (to: PortfolioTaskStatus, because: string): ResultDecision => ({
  to,
  because,
  ask: null,
});

/** W4 */
const decideOnFailedRun = ({ failures }: TaskView): ResultDecision =>
  failures === 0
    ? decideTo("failed", "its run failed; it is tried once more with what was found")
    : decideTo("needs_adjustment", "its run failed again");

/** What is wrong with the result that a worker handed in, or what the worker says is. */
function findComplaint(submitted: SubmittedResult | null): string | null {
  if (submitted === null) return null;
  if (submitted.problem !== null) return submitted.problem;

  const { status, summary } = submitted.claim;
  return status === "done" ? null : `the worker says ${status}: ${summary}`;
}

/**
 * What only a person can judge. A task that asks for nothing would land with nothing proved: its
 * objective is what a person is asked about.
 */
function listToApprove({ objective, acceptance_criteria }: TaskView): readonly string[] {
  if (acceptance_criteria.length === 0) return [objective];

  const unproved = acceptance_criteria.filter(({ command }) => command === null);
  return unproved.map(({ text }) => text);
}
