// phase-history: folds the journal into a summary of each phase of a roadmap: times, steps, tasks, verdicts.
//
// Invariants:
//   C1. It accepts the journal of any flow: entries without the roadmap's names are ignored, and nothing is thrown.
//   C2. The same entries give the same history, whether applied at once or in parts.

import type { Entry } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import type { Facts, Says } from "../../../contracts/outcome.ts";
import type { TaskRecord } from "../../../contracts/roadmap-state.ts";
import { ownValue } from "../../../core/own-values.ts";
import { attemptParts, isOutsideRoadmap, phaseOfEntry, phaseOfPath, taskOfCursor } from "../../../insight/places.ts";

/** The steps with a meaning of their own in the roadmap's files. Other steps appear under their own names. */
export const roadmapSteps = {
  checks: "checks",
  verify: "verify",
  human: "human_check",
  debug: "debug",
  undo: "undo",
  planCheck: "plan_check",
} as const;
/** The phases after those of the roadmap: the self-audit and the integration check, with their steps. */
export const selfAudit = { phase: "after.self_audit", audit: "audit", fix: "fix" } as const;
export const integration = { phase: "after.integration", check: "check" } as const;

export type StepSummary = {
  status: "in_progress" | "passed" | "failed" | "skipped";
  at: string;
  seq: number;
  facts: Facts;
  says: Says;
  checks: readonly CheckResult[];
  /** The hash of the blob with the agent's return. */
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
  personTasks: readonly string[];
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
  /** `processed`: phases that ended or were deferred to a person; `deferred`: only the latter. */
  readonly processed: ReadonlySet<string>;
  readonly deferred: ReadonlySet<string>;
  readonly startedAt: string | null;
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
  let startedAt: string | null = null;

  const phaseOf = (id: string): PhaseSummary => {
    const existing = phases.get(id);
    if (existing !== undefined) return existing;
    const created = createPhase(id);
    phases.set(id, created);
    return created;
  };

  const apply = (entry: Entry): void => {
    startedAt ??= entry.ts;
    const phaseId = phaseOfEntry(entry);
    if (phaseId !== null && entry.event !== "phase_skipped") phaseOf(phaseId).visit.push(entry);
    switch (entry.event) {
      case "phases_read":
        for (const { id, name } of entry.phases) phaseOf(id).name = name ?? id;
        return;
      case "policy_changed":
        if (entry.adopted) accepted.set(entry.path, { hash: entry.found, at: entry.ts });
        return;
      case "phase_started":
      case "phase_reopened":
        return startVisit(phaseOf(entry.walk), entry);
      case "phase_completed":
      case "phase_failed":
      case "closing_failed": {
        const id = phaseOfPath(entry.walk);
        phaseOf(id).endedAt = entry.ts;
        if (!isOutsideRoadmap(id)) processed.add(id);
        return;
      }
      case "step_started":
        if (isOwnCursor(entry.walk)) phaseOf(entry.walk).steps.set(entry.step, newStep("in_progress", entry));
        else setTask(entry.walk, (task) => (task.status = "in_progress"));
        return;
      case "step_skipped":
        if (isOwnCursor(entry.walk)) phaseOf(entry.walk).steps.set(entry.step, newStep("skipped", entry));
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
    const step = newStep(entry.event === "step_completed" ? "passed" : "failed", entry);
    phase.steps.set(parts.step, {
      ...step,
      facts: entry.facts,
      says: turn?.says ?? {},
      checks: entry.checks ?? [],
      claim: turn?.claim ?? null,
    });
    if (parts.step === roadmapSteps.planCheck) phase.planChecks++;
  };

  const readTasks = ({ attempt, waves, left: personTasks }: Extract<Entry, { event: "tasks_read" }>): void => {
    const phase = phaseOf(phaseOfPath(attempt));
    phase.tasks = new Map(
      waves
        .flat()
        .map(({ id, files, title }) => [
          id,
          { status: "pending", commit: null, retries: 0, files, title: title ?? null } satisfies TaskSummary,
        ]),
    );
    phase.personTasks = personTasks;
  };

  const setTask = (cursorPath: string, change: (task: TaskSummary) => void): void => {
    const taskId = taskOfCursor(cursorPath);
    const task = taskId === null ? undefined : phases.get(phaseOfPath(cursorPath))?.tasks.get(taskId);
    if (task !== undefined) change(task);
  };

  const defer = (phase: PhaseSummary, question: string): void => {
    if (!isOutsideRoadmap(phase.id)) {
      deferred.add(phase.id);
      processed.add(phase.id);
    }
    phase.justification = {
      checkpoint_task_id: phase.personTasks[0] ?? roadmapSteps.human,
      task_description: findPersonCriteria(phase) ?? question,
      auto_tasks_passed: [...phase.tasks.values()].filter(({ status }) => status === "completed").length,
      auto_tasks_total: phase.tasks.size,
    };
  };

  const answer = ({ block, answer: choice, issues, ts }: Extract<Entry, { event: "block_answered" }>): void => {
    const question = questions.get(block);
    if (question === undefined || question.step !== roadmapSteps.human || !Object.hasOwn(question.options, choice)) return;
    if (choice !== "pass" && choice !== "fail" && choice !== "issues_found") return;
    phaseOf(question.phase).verdict = { verdict: choice, timestamp: ts, issues: [...(issues ?? [])] };
  };

  return {
    phases,
    processed,
    deferred,
    accepted,
    get startedAt() {
      return startedAt;
    },
    apply,
  };
}

/** Criteria that only a person can judge, as the plan check reported them. */
function findPersonCriteria({ steps }: PhaseSummary): string | null {
  const criteria = ownValue(steps.get(roadmapSteps.planCheck)?.facts ?? {}, "left_to_people");
  return typeof criteria === "string" && criteria !== "" ? criteria : null;
}

const taskStatus = { task_completed: "completed", task_failed: "failed", task_skipped: "skipped" } as const;

/** Whether a cursor is of a phase itself, not of a task inside of it. */
const isOwnCursor = (cursorPath: string): boolean => !cursorPath.includes("/");

function createPhase(id: string): PhaseSummary {
  return {
    id,
    name: id,
    startedAt: null,
    endedAt: null,
    steps: new Map(),
    tasks: new Map(),
    personTasks: [],
    planChecks: 0,
    debugs: 0,
    replans: 0,
    justification: null,
    verdict: null,
    visit: [],
  };
}

/** A new visit starts with nothing done; the counts of debugs and replans continue. */
function startVisit(phase: PhaseSummary, entry: Entry): void {
  phase.startedAt ??= entry.ts;
  phase.endedAt = null;
  phase.planChecks = 0;
  phase.personTasks = [];
  phase.steps = new Map();
  phase.tasks = new Map();
  phase.justification = null;
  phase.verdict = null;
  phase.visit = [entry];
}

const newStep = (status: StepSummary["status"], { ts, seq }: Entry): StepSummary => ({
  status,
  at: ts,
  seq,
  facts: {},
  says: {},
  checks: [],
  claim: null,
});
