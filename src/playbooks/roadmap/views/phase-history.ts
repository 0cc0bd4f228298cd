// phase-history: folds the journal into a summary of each phase of a roadmap: times, steps, tasks,
// verdicts.
//
// Invariants:
//   C1. It accepts the journal of any flow: entries without the roadmap's names are ignored, and
//       nothing is thrown.
//   C2. The same entries give the same history, whether applied at once or in parts.

import type { Entry, EntryOf } from "../../../contracts/event.ts";
import type { CheckResult } from "../../../contracts/evidence.ts";
import type { Facts, Says } from "../../../contracts/outcome.ts";
import type { TaskRecord } from "../../../contracts/roadmap-state.ts";
import { ownValue } from "../../../core/own-values.ts";
import {
  parseAttempt,
  isOutsideRoadmap,
  phaseOfEntry,
  phaseOfPath,
  taskOfCursor,
} from "../../../insight/attempt-path.ts";

/**
 * The steps with a meaning of their own in the roadmap's files. Other steps appear under their own
 * names.
 */
export const roadmapSteps = {
  checks: "checks",
  verify: "verify",
  human: "human_check",
  debug: "debug",
  undo: "undo",
  planCheck: "plan_check",
} as const;
/**
 * The phases after those of the roadmap: the self-audit and the integration check, with their
 * steps.
 */
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
  justification: {
    checkpoint_task_id: string;
    task_description: string;
    auto_tasks_passed: number;
    auto_tasks_total: number;
  } | null;
  verdict: {
    verdict: "pass" | "fail" | "issues_found";
    timestamp: string;
    issues: string[];
  } | null;
  /**
   * Entries of the current visit, to explain a failure. A phase is visited again if it is reopened.
   */
  visit: Entry[];
};

type Question = {
  readonly phase: string;
  readonly step: string;
  readonly options: Readonly<Record<string, string>>;
};

export class PhaseHistory {
  readonly phases = new Map<string, PhaseSummary>();
  /** Phases that ended or were deferred to a person. */
  readonly processed = new Set<string>();
  /** Phases that were deferred to a person. */
  readonly deferred = new Set<string>();
  /** The newest content of a file the run was locked to and that was accepted since, by path. */
  readonly accepted = new Map<string, { readonly hash: string; readonly at: string }>();
  /** The time of the first entry. */
  startedAt: string | null = null;
  /** What agents said in turns whose step has not ended yet, by attempt. */
  readonly #turns = new Map<string, { readonly says: Says; readonly claim: string | null }>();
  readonly #questions = new Map<string, Question>();

  /** Takes the entries in order, each once. C2 */
  apply(entry: Entry): void {
    this.startedAt ??= entry.ts;
    const phaseId = phaseOfEntry(entry);
    if (phaseId !== null && entry.event !== "phase_skipped") this.#phase(phaseId).visit.push(entry);
    switch (entry.event) {
      case "phases_read":
        for (const { id, name } of entry.phases) this.#phase(id).name = name ?? id;
        return;
      case "policy_changed":
        if (entry.adopted) this.accepted.set(entry.path, { hash: entry.found, at: entry.ts });
        return;
      case "phase_started":
      case "phase_reopened":
        return startVisit(this.#phase(entry.walk), entry);
      case "phase_completed":
      case "phase_failed":
      case "closing_failed":
        return this.#endPhase(phaseOfPath(entry.walk), entry.ts);
      case "step_started":
        if (isOwnCursor(entry.walk)) {
          this.#phase(entry.walk).steps.set(entry.step, newStep("in_progress", entry));
        } else {
          this.#updateTask(entry.walk, (task) => (task.status = "in_progress"));
        }
        return;
      case "step_skipped":
        if (isOwnCursor(entry.walk)) {
          this.#phase(entry.walk).steps.set(entry.step, newStep("skipped", entry));
        }
        return;
      case "turn_ended":
        return this.#recordTurn(entry);
      case "step_completed":
      case "step_failed":
        return this.#endStep(entry);
      case "tasks_read":
        return this.#readTasks(entry);
      case "task_completed":
      case "task_failed":
      case "task_skipped":
        return this.#updateTask(entry.walk, (task) => (task.status = taskStatus[entry.event]));
      case "step_retried":
        return this.#updateTask(entry.walk, (task) => task.retries++);
      case "changes_applied":
        return this.#updateTask(
          parseAttempt(entry.attempt)?.cursor ?? "",
          (task) => (task.commit = entry.commit),
        );
      case "route_taken":
        if (entry.count === "debug") this.#phase(phaseOfPath(entry.walk)).debugs++;
        if (entry.count === "replan") this.#phase(phaseOfPath(entry.walk)).replans++;
        return;
      case "block_opened":
        return this.#openQuestion(entry);
      case "block_answered":
        return this.#recordAnswer(entry);
      default:
        return; // C1
    }
  }

  /** The summary of a phase, which is created if the phase is new. */
  #phase(id: string): PhaseSummary {
    const phase = this.phases.get(id) ?? createPhase(id);
    this.phases.set(id, phase);
    return phase;
  }

  #endPhase(id: string, ts: string): void {
    this.#phase(id).endedAt = ts;
    if (!isOutsideRoadmap(id)) this.processed.add(id);
  }

  #recordTurn({ attempt, confidence, says, claim }: EntryOf<"turn_ended">): void {
    const confidenceField = confidence === null ? {} : { confidence };
    this.#turns.set(attempt, { says: { ...confidenceField, ...says }, claim: claim ?? null });
  }

  #endStep(entry: EntryOf<"step_completed" | "step_failed">): void {
    const parts = parseAttempt(entry.attempt);
    const turn = this.#turns.get(entry.attempt);
    this.#turns.delete(entry.attempt);
    if (parts === null || !isOwnCursor(parts.cursor)) return;
    const phase = this.#phase(parts.cursor);
    phase.steps.set(parts.step, {
      ...newStep(entry.event === "step_completed" ? "passed" : "failed", entry),
      facts: entry.facts,
      says: turn?.says ?? {},
      checks: entry.checks ?? [],
      claim: turn?.claim ?? null,
    });

    if (parts.step === roadmapSteps.planCheck) phase.planChecks++;
  }

  #readTasks({ attempt, waves, left: personTasks }: EntryOf<"tasks_read">): void {
    const phase = this.#phase(phaseOfPath(attempt));
    const pendingTask = { status: "pending", commit: null, retries: 0 } as const;
    phase.tasks = new Map(
      waves
        .flat()
        .map(({ id, files, title }) => [id, { ...pendingTask, files, title: title ?? null }]),
    );

    phase.personTasks = personTasks;
  }

  #updateTask(cursorPath: string, change: (task: TaskSummary) => void): void {
    const taskId = taskOfCursor(cursorPath);
    const task =
      taskId === null ? undefined : this.phases.get(phaseOfPath(cursorPath))?.tasks.get(taskId);
    if (task !== undefined) change(task);
  }

  #openQuestion({ block, walk, step, options, question, house }: EntryOf<"block_opened">): void {
    const phaseId = phaseOfPath(walk);
    this.#questions.set(block, { phase: phaseId, step, options });

    if (step === roadmapSteps.human && house !== true) {
      this.#deferPhase(this.#phase(phaseId), question);
    }
  }

  #deferPhase(phase: PhaseSummary, question: string): void {
    if (!isOutsideRoadmap(phase.id)) {
      this.deferred.add(phase.id);
      this.processed.add(phase.id);
    }

    phase.justification = {
      checkpoint_task_id: phase.personTasks[0] ?? roadmapSteps.human,
      task_description: findPersonCriteria(phase) ?? question,
      auto_tasks_passed: [...phase.tasks.values()].filter(({ status }) => status === "completed")
        .length,
      auto_tasks_total: phase.tasks.size,
    };
  }

  #recordAnswer({ block, answer, issues = [], ts }: EntryOf<"block_answered">): void {
    const question = this.#questions.get(block);
    if (
      question === undefined ||
      question.step !== roadmapSteps.human ||
      !Object.hasOwn(question.options, answer)
    ) {
      return;
    }

    if (answer !== "pass" && answer !== "fail" && answer !== "issues_found") return;
    this.#phase(question.phase).verdict = { verdict: answer, timestamp: ts, issues: [...issues] };
  }
}

/** Criteria that only a person can judge, as the plan check reported them. */
function findPersonCriteria({ steps }: PhaseSummary): string | null {
  const criteria = ownValue(steps.get(roadmapSteps.planCheck)?.facts ?? {}, "left_to_people");
  return typeof criteria === "string" && criteria !== "" ? criteria : null;
}

const taskStatus = {
  task_completed: "completed",
  task_failed: "failed",
  task_skipped: "skipped",
} as const;

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
