// phase-history: what the journal says about each phase of a roadmap, updated entry by entry: times, steps, tasks, verdicts.
//
// Invariants:
//   C1. It takes any journal of any flow: what has none of the roadmap's names is passed over, and nothing is thrown.
//   C2. The same entries make the same chronicle, however they were cut into pieces.

import type { Entry } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import type { Facts, Says } from "../../../contracts/outcome.ts";
import type { TaskRecord } from "../../../contracts/roadmap-state.ts";
import { own } from "../../../core/record.ts";
import { attemptParts, isAround, phaseOfEntry, phaseOfPath, taskOfCursor } from "../../../insight/places.ts";

/** The names of steps that the roadmap's files know. Anything else is reported under its own name. */
export const roadmapSteps = {
  checks: "checks",
  verify: "verify",
  human: "human_check",
  debug: "debug",
  undo: "undo",
  planCheck: "plan_check",
} as const;
/** Its phases after the others: who audits, and the step that looks; and where it is seen whether all of it holds together. */
export const selfAudit = { phase: "after.self_audit", audit: "audit", fix: "fix" } as const;
export const integration = { phase: "after.integration", check: "check" } as const;

export type StepSummary = {
  status: "in_progress" | "passed" | "failed" | "skipped";
  at: string;
  seq: number;
  facts: Facts;
  says: Says;
  checks: readonly CheckResult[];
  /** The blob that holds what the agent handed back. */
  claim: string | null;
};

export type TaskSummary = TaskRecord & { files: readonly string[]; title: string | null };

export type PhaseSummary = {
  id: string;
  name: string;
  startedAt: string | null;
  endedAt: string | null;
  steps: Map<string, StepSummary>;
  tasks: Map<string, TaskSummary>;
  /** Tasks that only a person can do. */
  left: readonly string[];
  planChecks: number;
  debugs: number;
  replans: number;
  justification: { checkpoint_task_id: string; task_description: string; auto_tasks_passed: number; auto_tasks_total: number } | null;
  verdict: { verdict: "pass" | "fail" | "issues_found"; timestamp: string; issues: string[] } | null;
  /** Entries of the current visit, to explain a failure. */
  visit: Entry[];
};

export type PhaseHistory = {
  readonly phases: ReadonlyMap<string, PhaseSummary>;
  /** Phases that ended or were handed to a person, and those that were handed to one. */
  readonly processed: ReadonlySet<string>;
  readonly deferred: ReadonlySet<string>;
  readonly beganAt: string | null;
  /** The newest content of a file the run was locked to and that was accepted since, by path. */
  readonly accepted: ReadonlyMap<string, { readonly hash: string; readonly at: string }>;
  apply(entry: Entry): void;
};

export function openPhaseHistory(): PhaseHistory {
  const phases = new Map<string, PhaseSummary>();
  const processed = new Set<string>();
  const deferred = new Set<string>();
  const accepted = new Map<string, { hash: string; at: string }>();
  const turns = new Map<string, { says: Says; claim: string | null }>();
  const questions = new Map<string, { phase: string; step: string; options: Readonly<Record<string, string>> }>();
  let beganAt: string | null = null;

  const phaseOf = (id: string): PhaseSummary => {
    const knownPhaseSummary = phases.get(id);
    if (knownPhaseSummary !== undefined) return knownPhaseSummary;
    const made = newPhase(id);
    phases.set(id, made);
    return made;
  };

  const apply = (entry: Entry): void => {
    beganAt ??= entry.ts;
    const at = phaseOfEntry(entry);
    if (at !== null && entry.event !== "phase_skipped") phaseOf(at).visit.push(entry);
    switch (entry.event) {
      case "phases_read":
        for (const { id, name } of entry.phases) phaseOf(id).name = name ?? id;
        return;
      case "policy_changed":
        if (entry.adopted) accepted.set(entry.path, { hash: entry.found, at: entry.ts });
        return;
      case "phase_started":
      case "phase_reopened":
        return begin(phaseOf(entry.walk), entry);
      case "phase_completed":
      case "phase_failed":
      case "closing_failed": {
        const id = phaseOfPath(entry.walk);
        phaseOf(id).endedAt = entry.ts;
        if (!isAround(id)) processed.add(id);
        return;
      }
      case "step_started":
        if (isOwnCursor(entry.walk)) phaseOf(entry.walk).steps.set(entry.step, reportedOf("in_progress", entry));
        else setTask(entry.walk, (task) => (task.status = "in_progress"));
        return;
      case "step_skipped":
        if (isOwnCursor(entry.walk)) phaseOf(entry.walk).steps.set(entry.step, reportedOf("skipped", entry));
        return;
      case "turn_ended":
        turns.set(entry.attempt, {
          says: { ...(entry.confidence === null ? {} : { confidence: entry.confidence }), ...entry.says },
          claim: entry.claim ?? null,
        });
        return;
      case "step_completed":
      case "step_failed":
        return endStep(entry);
      case "tasks_read":
        return readTasks(entry);
      case "task_completed":
      case "task_failed":
      case "task_skipped":
        return setTask(entry.walk, (task) => (task.status = taskStatus[entry.event]));
      case "step_retried":
        return setTask(entry.walk, (task) => task.retries++);
      case "changes_applied":
        return setTask(attemptParts(entry.attempt)?.cursor ?? "", (task) => (task.commit = entry.commit));
      case "route_taken":
        if (entry.count === "debug") phaseOf(phaseOfPath(entry.walk)).debugs++;
        if (entry.count === "replan") phaseOf(phaseOfPath(entry.walk)).replans++;
        return;
      case "block_opened":
        questions.set(entry.block, { phase: phaseOfPath(entry.walk), step: entry.step, options: entry.options });
        if (entry.step === roadmapSteps.human && entry.house !== true) defer(phaseOf(phaseOfPath(entry.walk)), entry.question);
        return;
      case "block_answered":
        return answer(entry);
      default:
        return;
    }
  };

  const endStep = (entry: Extract<Entry, { event: "step_completed" | "step_failed" }>): void => {
    const parts = attemptParts(entry.attempt);
    const turn = turns.get(entry.attempt);
    turns.delete(entry.attempt);
    if (parts === null || !isOwnCursor(parts.cursor)) return;
    const phase = phaseOf(parts.cursor);
    const reported = reportedOf(entry.event === "step_completed" ? "passed" : "failed", entry);
    phase.steps.set(parts.step, {
      ...reported,
      facts: entry.facts,
      says: turn?.says ?? {},
      checks: entry.checks ?? [],
      claim: turn?.claim ?? null,
    });
    if (parts.step === roadmapSteps.planCheck) phase.planChecks++;
  };

  const readTasks = ({ attempt, waves, left }: Extract<Entry, { event: "tasks_read" }>): void => {
    const phase = phaseOf(phaseOfPath(attempt));
    phase.tasks = new Map(
      waves
        .flat()
        .map(({ id, files, title }) => [
          id,
          { status: "pending", commit: null, retries: 0, files, title: title ?? null } satisfies TaskSummary,
        ]),
    );
    phase.left = left;
  };

  const setTask = (cursorPath: string, change: (task: TaskSummary) => void): void => {
    const task = taskOfCursor(cursorPath);
    const reported = task === null ? undefined : phases.get(phaseOfPath(cursorPath))?.tasks.get(task);
    if (reported !== undefined) change(reported);
  };

  const defer = (phase: PhaseSummary, question: string): void => {
    if (!isAround(phase.id)) {
      deferred.add(phase.id);
      processed.add(phase.id);
    }
    phase.justification = {
      checkpoint_task_id: phase.left[0] ?? roadmapSteps.human,
      task_description: leftIn(phase) ?? question,
      auto_tasks_passed: [...phase.tasks.values()].filter(({ status }) => status === "completed").length,
      auto_tasks_total: phase.tasks.size,
    };
  };

  const answer = ({ block, answer: said, issues, ts }: Extract<Entry, { event: "block_answered" }>): void => {
    const question = questions.get(block);
    if (question === undefined || question.step !== roadmapSteps.human || !Object.hasOwn(question.options, said)) return;
    if (said !== "pass" && said !== "fail" && said !== "issues_found") return;
    phaseOf(question.phase).verdict = { verdict: said, timestamp: ts, issues: [...(issues ?? [])] };
  };

  return {
    phases,
    processed,
    deferred,
    accepted,
    get beganAt() {
      return beganAt;
    },
    apply,
  };
}

/** Criteria that only a person can judge, in the words of the plan's lint. */
function leftIn({ steps }: PhaseSummary): string | null {
  const reported = own(steps.get(roadmapSteps.planCheck)?.facts ?? {}, "left_to_people");
  return typeof reported === "string" && reported !== "" ? reported : null;
}

const taskStatus = { task_completed: "completed", task_failed: "failed", task_skipped: "skipped" } as const;

/** A phase's own cursor, and not one inside it. */
const isOwnCursor = (cursorPath: string): boolean => !cursorPath.includes("/");

function newPhase(id: string): PhaseSummary {
  return {
    id,
    name: id,
    startedAt: null,
    endedAt: null,
    steps: new Map(),
    tasks: new Map(),
    left: [],
    planChecks: 0,
    debugs: 0,
    replans: 0,
    justification: null,
    verdict: null,
    visit: [],
  };
}

/** A new visit begins with nothing done; what was spent on earlier ones still counts. */
function begin(phase: PhaseSummary, entry: Entry): void {
  phase.startedAt ??= entry.ts;
  phase.endedAt = null;
  phase.planChecks = 0;
  phase.left = [];
  phase.steps = new Map();
  phase.tasks = new Map();
  phase.justification = null;
  phase.verdict = null;
  phase.visit = [entry];
}

const reportedOf = (status: StepSummary["status"], { ts, seq }: Entry): StepSummary => ({
  status,
  at: ts,
  seq,
  facts: {},
  says: {},
  checks: [],
  claim: null,
});
