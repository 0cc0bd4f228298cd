// roadmap-step-log: translates the entries of a phase's steps, tasks and questions into events of
// the state.json format.
// Invariants G1 and on: playbooks/roadmap/views/roadmap-log.ts.

import type { Entry, EntryOf } from "../../../contracts/event.ts";
import type { RoadmapEvent } from "../../../contracts/roadmap-events.ts";
import {
  parseAttempt,
  isOutsideRoadmap,
  phaseOfEntry,
  taskOfCursor,
} from "../../../insight/attempt-path.ts";
import { isCategory } from "../../../insight/metrics.ts";
import { omitUndefined } from "../../../kit/omit-undefined.ts";
import { readField } from "../../contract/agent-return.ts";
import { findUnnecessaryDeferral } from "../insight/warnings.ts";
import { type PhaseSummary, roadmapSteps } from "./phase-history.ts";
import { listOrEmpty, type ReadClaim } from "./roadmap-audit.ts";
import { toStepFields, type UntimedRoadmapEvent } from "./roadmap-log-event.ts";

/** `summary`: the phase's, if it has begun. */
type PhaseContext = {
  readonly phase: string;
  readonly summary: PhaseSummary | undefined;
  readonly readClaim: ReadClaim;
};

export function translateStep(entry: Entry, context: PhaseContext): readonly UntimedRoadmapEvent[] {
  const { summary } = context;
  switch (entry.event) {
    case "step_started":
      return translateStepStart(entry);
    case "step_completed":
    case "step_failed":
      return translateStepEnd(entry, context);
    case "task_completed":
    case "task_failed":
      return [translateTaskEnd(entry, summary)];
    case "step_retried":
      return translateTaskRetry(entry);
    case "route_taken":
      return translateRoute(entry, summary);
    case "block_opened":
      return warnOfDeferral(entry, context);
    case "block_answered":
      return translateVerdict(entry, summary);
    default:
      return [];
  }
}

function translateStepStart({
  walk,
  step,
  attempt,
}: EntryOf<"step_started">): readonly UntimedRoadmapEvent[] {
  if (taskOfCursor(walk) !== null) return [];
  const started: UntimedRoadmapEvent = { event: "step_started", details: { attempt }, step };
  if (step !== roadmapSteps.undo) return [started];

  return [started, { event: "rollback_initiated", step }];
}

function translateStepEnd(
  entry: EntryOf<"step_completed" | "step_failed">,
  { summary, readClaim }: PhaseContext,
): readonly UntimedRoadmapEvent[] {
  const step = findOwnStep(entry);
  if (step === null) return [];
  const categories = findCategories(readClaim, summary?.steps.get(step)?.claim ?? null);
  const failure =
    entry.event === "step_failed"
      ? omitUndefined({ reason: entry.reason_code, detail: entry.detail })
      : {};

  const details = {
    attempt: entry.attempt,
    ...failure,
    ...(categories.length === 0 ? {} : { failure_categories: categories }),
  };
  const ended: UntimedRoadmapEvent = { event: entry.event, details, step };
  const isUndone = entry.event === "step_completed" && step === roadmapSteps.undo;
  if (!isUndone) return [ended];

  return [ended, { event: "rollback_completed", details: { ...entry.facts }, step }];
}

/** The step of the phase itself that ends here; null for a step of a task. */
function findOwnStep({ attempt }: EntryOf<"step_completed" | "step_failed">): string | null {
  const parts = parseAttempt(attempt);
  return parts === null || taskOfCursor(parts.cursor) !== null ? null : parts.step;
}

/** The categories that a verifier or debugger put its failures into. */
function findCategories(readClaim: ReadClaim, hash: string | null): readonly string[] {
  if (hash === null) return [];
  return listOrEmpty(readField(readClaim(hash), "failure_categories"))
    .map((item) => (typeof item === "string" ? item : readField(item, "category")))
    .filter(isCategory);
}

function translateTaskEnd(
  entry: EntryOf<"task_completed" | "task_failed">,
  summary: PhaseSummary | undefined,
): UntimedRoadmapEvent {
  const task = taskOfCursor(entry.walk) ?? entry.walk;
  const reason =
    entry.event === "task_failed" ? { reason: entry.because ?? entry.reason_code } : {};

  return {
    event: entry.event,
    details: {
      task: `task_${task}`,
      commit: summary?.tasks.get(task)?.commit ?? null,
      ...reason,
    },
    step: "execute",
  };
}

function translateTaskRetry({ walk, n }: EntryOf<"step_retried">): readonly UntimedRoadmapEvent[] {
  const task = taskOfCursor(walk);
  if (task === null) return [];

  return [{ event: "task_retried", details: { task: `task_${task}`, retry: n }, step: "execute" }];
}

function translateRoute(
  { count, step, to }: EntryOf<"route_taken">,
  summary: PhaseSummary | undefined,
): readonly UntimedRoadmapEvent[] {
  if (count === "debug") {
    const details = { attempt: summary?.debugs ?? 1, from: step };
    return [{ event: "debug_attempt", details, step: roadmapSteps.debug }];
  }

  if (count === "replan") {
    const details = { attempt: summary?.replans ?? 1, from: step };
    return [{ event: "replan_attempt", details, ...(to === undefined ? {} : { step: to }) }];
  }

  return [];
}

function warnOfDeferral(
  { step, house }: EntryOf<"block_opened">,
  { phase, summary }: PhaseContext,
): readonly UntimedRoadmapEvent[] {
  const justification = summary?.justification ?? null;
  const isDeferred = step === roadmapSteps.human && house !== true && justification !== null;
  if (!isDeferred) return [];

  const { auto_tasks_passed: autoPassed, auto_tasks_total: autoTotal } = justification;
  const warning = findUnnecessaryDeferral({ phase, autoPassed, autoTotal });
  if (warning === null) return [];

  const details = { ...justification, message: warning.message };
  return [{ event: "unnecessary_deferral_warning", details, step }];
}

function translateVerdict(
  { ts, answer }: EntryOf<"block_answered">,
  summary: PhaseSummary | undefined,
): readonly UntimedRoadmapEvent[] {
  const verdict = summary?.verdict ?? null;
  const isThisAnswer = verdict?.timestamp === ts && verdict.verdict === answer;
  if (!isThisAnswer) return [];

  const details = { verdict: verdict.verdict, issues: [...verdict.issues] };
  return [{ event: "human_verdict_recorded", details, step: roadmapSteps.human }];
}

/**
 * The event for the completion report, from the facts of the step that wrote it; only with
 * --complete.
 */
export function batchReportEvents(entry: Entry): readonly RoadmapEvent[] {
  if (entry.event !== "step_completed" || !isOutsideRoadmap(phaseOfEntry(entry) ?? "")) return [];
  const { report_path, completion_percentage } = entry.facts;
  if (typeof report_path !== "string" || typeof completion_percentage !== "number") return [];

  const counts = Object.fromEntries(
    batchCounts.map((name) => [name, countOrZero(entry.facts[name])]),
  );
  return [
    {
      timestamp: entry.ts,
      event: "batch_completion_report",
      details: { ...counts, completion_percentage, report_path },
    },
  ];
}

const batchCounts = [
  "phases_attempted",
  "phases_succeeded",
  "phases_failed",
  "phases_skipped",
] as const;
const countOrZero = (value: unknown): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : 0;

/** Each step that ends is a transition: the files are generated from the journal at that point. */
export function checkpointEvents(entry: Entry): readonly RoadmapEvent[] {
  if (entry.event !== "step_completed" && entry.event !== "step_failed") return [];
  const step = findOwnStep(entry);
  if (step === null) return [];

  const { ts: timestamp, seq } = entry;
  const event = "checkpoint_written";
  const phase = phaseOfEntry(entry) ?? "";
  if (isOutsideRoadmap(phase)) {
    return [{ timestamp, event, details: { seq, step, group: phase } }]; // G2
  }

  return [{ timestamp, phase, ...toStepFields(step, { seq }), event }];
}
