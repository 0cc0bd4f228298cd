// roadmap-log: translates the journal into the 29 events of the state.json format. One entry may give none, one or several events.
//
// Invariants:
//   G1. The log is a pure function of the journal.
//   G2. Only phases of the roadmap appear as phases; those before and after them have events of their own.
//   G3. A step has its name in the format's pipeline; if ours differs, it is in the details.

import type { Entry } from "../../../contracts/event.ts";
import { isReasonCode, reasons } from "../../../contracts/reason.ts";
import type { RoadmapEvent, RoadmapEventName } from "../../../contracts/roadmap-events.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { isCategory } from "../../../insight/metrics.ts";
import { attemptParts, isOutsideRoadmap, phaseOfEntry, taskOfCursor } from "../../../insight/places.ts";
import { type RootCause, findRootCause } from "../../../insight/root-cause.ts";
import { findHighDeferRate, findUnnecessaryDeferral } from "../insight/warnings.ts";
import { type ReadClaim, fieldOf, listOrEmpty, openAuditLog } from "./roadmap-audit.ts";
import { earlierEvents } from "./merge-earlier-state.ts";
import { type PhaseHistory, roadmapSteps } from "./phase-history.ts";
import { pipelineName } from "./roadmap-steps.ts";

/** Which entries of the journal each event of the format comes from. */
export const roadmapEventSources: Readonly<Record<RoadmapEventName, string>> = {
  run_started: "run_started",
  run_completed: "run_completed",
  run_halted: "run_paused with a reason that counts as FAIL; run_stopped",
  run_resumed: "run_resumed; run_started of a run that goes on with another tool's; run_opened after a crash",
  phase_started: "phase_started; phase_reopened",
  phase_completed: "phase_completed",
  phase_failed: "phase_failed; closing_failed",
  step_started: "step_started of a phase's cursor or its closing",
  step_completed: "step_completed of a phase's cursor or its closing",
  step_failed: "step_failed of a phase's cursor or its closing",
  task_completed: "task_completed",
  task_failed: "task_failed",
  task_retried: "step_retried in a task's cursor",
  circuit_breaker_opened: "circuit_breaker_opened",
  circuit_breaker_closed: "circuit_breaker_closed",
  checkpoint_written:
    "step_completed, step_failed of any cursor but a task's: once per step transition; document_differed of state.json itself",
  debug_attempt: "route_taken that uses the count debug",
  replan_attempt: "route_taken that uses the count replan",
  rollback_initiated: "step_started of undo",
  rollback_completed: "step_completed of undo",
  human_verdict_recorded: "block_answered of human_check",
  unnecessary_deferral_warning: "block_opened of human_check, all auto tasks passed",
  high_defer_rate_warning: "the entry by which more than half of at least two processed phases are deferred",
  self_audit_started: "phase_started of after.self_audit",
  self_audit_completed: "phase_completed of after.self_audit",
  self_audit_gap_found: "step_completed of audit with the auditor's return, else tasks_read of fix",
  self_audit_gap_fixed: "step_completed of a later audit that does not name the gap any more",
  phase_skipped: "phase_skipped; phases_read with skip",
  batch_completion_report: "step_completed after the phases, of the step that wrote the report of a run with --complete",
};

export type LogOptions = {
  readonly readClaim?: ReadClaim;
  /** When phases were completed in earlier runs, by id. */
  readonly completedBefore?: Readonly<Record<string, string>>;
  /** The state of another tool's run that this one continues. */
  readonly earlierState?: RoadmapState | null;
};
/** The file this log is part of. */
export const statePath = ".autopilot/state.json";
type Details = Readonly<Record<string, unknown>>;

export type RoadmapLog = { readonly events: readonly RoadmapEvent[]; add(entry: Entry, specPath: string): void };

/** Every entry must be applied to `history` first. */
export function openRoadmapLog(
  history: PhaseHistory,
  { readClaim = () => undefined, completedBefore = {}, earlierState }: LogOptions = {},
): RoadmapLog {
  const events: RoadmapEvent[] = [...earlierEvents(earlierState)];
  const audit = openAuditLog(readClaim);
  const completed = new Set<string>();
  let isDeferRateHigh = false;
  let resumes: { readonly run: string; readonly status: string } | null = null;
  /** The run was just started or resumed on request; if it is opened without that, it recovers from a crash. */
  let wasRequested = false;

  const addEvents = (entry: Entry): void => {
    const phaseId = phaseOfEntry(entry);
    const phase = phaseId === null || isOutsideRoadmap(phaseId) ? null : phaseId;
    const addEvent = (event: RoadmapEventName, details: Details = {}, step?: string): void => {
      events.push({ timestamp: entry.ts, ...(phase === null ? {} : { phase }), ...stepFields(step, details), event });
    };
    const summary = phase === null ? undefined : history.phases.get(phase);
    switch (entry.event) {
      case "run_drafted":
        if (entry.resumes !== undefined) resumes = { run: entry.resumes.run, status: entry.resumes.status };
        return;
      case "run_started":
        wasRequested = true;
        if (resumes === null) return addEvent("run_started");
        return addEvent("run_resumed", { reason: "foreign_run", from: resumes.run, was: resumes.status });
      case "run_opened":
        if (!wasRequested) addEvent("run_resumed", { reason: "crashed", opening: entry.opening });
        wasRequested = false;
        return;
      case "document_differed":
        if (entry.path === statePath) addEvent("checkpoint_written", { reason: "state_rebuilt", found: entry.found, kept: entry.kept });
        return;
      case "run_completed":
        return addEvent("run_completed", { verdict: entry.verdict, reason: entry.reason_code });
      case "run_paused":
        if (isHaltReason(entry.reason_code)) addEvent("run_halted", dropUndefined({ reason: entry.reason_code, detail: entry.detail }));
        return;
      case "run_stopped":
        return addEvent("run_halted", dropUndefined({ reason: entry.reason_code, detail: entry.detail }));
      case "run_resumed":
        wasRequested = true;
        return addEvent("run_resumed", { reason: entry.reason_code });
      case "circuit_breaker_opened":
        return addEvent(
          "circuit_breaker_opened",
          dropUndefined({ reason: entry.because, cooldown_until: entry.cooldown_until, detail: entry.detail }),
        );
      case "circuit_breaker_closed":
        return addEvent("circuit_breaker_closed");
      case "phases_read":
        for (const { id, skip } of entry.phases)
          if (skip !== undefined) addEvent("phase_skipped", skippedDetails(id, skip, completedBefore));
        return;
      default:
        break;
    }
    if (phase === null) return; // G2
    switch (entry.event) {
      case "phase_started":
        return addEvent("phase_started");
      case "phase_reopened":
        completed.delete(phase);
        return addEvent("phase_started", { visit: entry.visit, reason: entry.because });
      case "phase_skipped":
        return addEvent("phase_skipped", skippedDetails(phase, entry.because, completedBefore));
      case "phase_completed":
        completed.add(phase);
        // The name is recorded because an id may be given to another phase later.
        addEvent(
          "phase_completed",
          dropUndefined({
            name: summary?.name === phase ? undefined : summary?.name,
            reason: entry.because,
            alignment_score: summary?.steps.get("judge")?.says["alignment_score"],
          }),
        );
        return;
      case "phase_failed":
      case "closing_failed":
        completed.delete(phase);
        return addEvent(
          "phase_failed",
          failureDetails(entry.because ?? entry.reason_code, findRootCause(summary?.visit ?? [], phase, readClaim)),
        );
      case "step_started":
        if (taskOfCursor(entry.walk) !== null) return;
        addEvent("step_started", { attempt: entry.attempt }, entry.step);
        if (entry.step === roadmapSteps.undo) addEvent("rollback_initiated", {}, entry.step);
        return;
      case "step_completed":
      case "step_failed": {
        const parts = attemptParts(entry.attempt);
        if (parts === null || taskOfCursor(parts.cursor) !== null) return;
        const categories = findCategories(readClaim, summary?.steps.get(parts.step)?.claim ?? null);
        const reason = entry.event === "step_failed" ? dropUndefined({ reason: entry.reason_code, detail: entry.detail }) : {};
        addEvent(
          entry.event,
          { attempt: entry.attempt, ...reason, ...(categories.length === 0 ? {} : { failure_categories: categories }) },
          parts.step,
        );
        if (entry.event === "step_completed" && parts.step === roadmapSteps.undo)
          addEvent("rollback_completed", { ...entry.facts }, parts.step);
        return;
      }
      case "task_completed":
      case "task_failed": {
        const task = taskOfCursor(entry.walk) ?? entry.walk;
        const commit = summary?.tasks.get(task)?.commit ?? null;
        const details = { task: `task_${task}`, commit };
        return addEvent(
          entry.event,
          entry.event === "task_failed" ? { ...details, reason: entry.because ?? entry.reason_code } : details,
          "execute",
        );
      }
      case "step_retried": {
        const task = taskOfCursor(entry.walk);
        if (task !== null) addEvent("task_retried", { task: `task_${task}`, retry: entry.n }, "execute");
        return;
      }
      case "route_taken":
        if (entry.count === "debug") addEvent("debug_attempt", { attempt: summary?.debugs ?? 1, from: entry.step }, roadmapSteps.debug);
        if (entry.count === "replan") addEvent("replan_attempt", { attempt: summary?.replans ?? 1, from: entry.step }, entry.to);
        return;
      case "block_opened": {
        const justification = summary?.justification ?? null;
        if (entry.step !== roadmapSteps.human || entry.house === true || justification === null) return;
        const warning = findUnnecessaryDeferral({
          phase,
          autoPassed: justification.auto_tasks_passed,
          autoTotal: justification.auto_tasks_total,
        });
        if (warning !== null) addEvent("unnecessary_deferral_warning", { ...justification, message: warning.message }, entry.step);
        return;
      }
      case "block_answered": {
        const verdict = summary?.verdict ?? null;
        if (verdict !== null && verdict.timestamp === entry.ts && verdict.verdict === entry.answer)
          addEvent("human_verdict_recorded", { verdict: verdict.verdict, issues: [...verdict.issues] }, roadmapSteps.human);
        return;
      }
      default:
        return;
    }
  };

  return {
    events,
    add(entry, specPath) {
      addEvents(entry);
      for (const { event, details } of audit.linesOf(entry, { completed, specPath })) events.push({ timestamp: entry.ts, event, details });
      events.push(...batchReportEvents(entry), ...checkpointEvents(entry));
      const warning = findHighDeferRate(history.deferred.size, history.processed.size);
      if (warning !== null && !isDeferRateHigh)
        events.push({
          timestamp: entry.ts,
          event: "high_defer_rate_warning",
          details: { deferred: history.deferred.size, processed: history.processed.size, message: warning.message },
        });
      isDeferRateHigh = warning !== null;
    },
  };
}

/** The event for the completion report, from the facts of the step that wrote it; only with --complete. */
function batchReportEvents(entry: Entry): readonly RoadmapEvent[] {
  if (entry.event !== "step_completed" || !isOutsideRoadmap(phaseOfEntry(entry) ?? "")) return [];
  const { report_path, completion_percentage } = entry.facts;
  if (typeof report_path !== "string" || typeof completion_percentage !== "number") return [];
  const counts = Object.fromEntries(batchCounts.map((name) => [name, countOrZero(entry.facts[name])]));
  return [{ timestamp: entry.ts, event: "batch_completion_report", details: { ...counts, completion_percentage, report_path } }];
}

const batchCounts = ["phases_attempted", "phases_succeeded", "phases_failed", "phases_skipped"] as const;
const countOrZero = (value: unknown): number => (typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : 0);

/** G3 */
function stepFields(step: string | undefined, details: Details): { readonly step?: string; readonly details: Details } {
  if (step === undefined) return { details };
  const name = pipelineName(step);
  return { step: name, details: name === step ? details : { ...details, step } };
}

/** Each step that ends is a transition: the files are generated from the journal at that point. */
function checkpointEvents(entry: Entry): readonly RoadmapEvent[] {
  if (entry.event !== "step_completed" && entry.event !== "step_failed") return [];
  const parts = attemptParts(entry.attempt);
  if (parts === null || taskOfCursor(parts.cursor) !== null) return [];
  const phase = phaseOfEntry(entry) ?? "";
  const phaseField = isOutsideRoadmap(phase) ? {} : { phase }; // G2
  const details = { seq: entry.seq, ...(isOutsideRoadmap(phase) ? { step: parts.step, group: phase } : {}) };
  return [
    {
      timestamp: entry.ts,
      ...phaseField,
      ...stepFields(isOutsideRoadmap(phase) ? undefined : parts.step, details),
      event: "checkpoint_written",
    },
  ];
}

/** Whether a pause is a halt: the user's choice and a question to a person are not. */
export const isHaltReason = (reason: string): boolean => !isReasonCode(reason) || reasons[reason].result === "FAIL";

/** The reason of the failure, and its root cause: the first fault that was never fixed. */
const failureDetails = (reason: string, rootCause: RootCause | null): Details => ({
  reason,
  category: rootCause?.category ?? "coordination_failure",
  ...dropUndefined({ description: rootCause?.description }),
});

function skippedDetails(id: string, reason: string, completedBefore: Readonly<Record<string, string>>): Details {
  const blockingPhase = /^blocked_by_phase_(.+)$/.exec(reason)?.[1];
  const completedAt = blockingPhase === undefined && Object.hasOwn(completedBefore, id) ? completedBefore[id] : undefined;
  return { phase_id: id, reason, ...dropUndefined({ original_run_timestamp: completedAt, blocking_phase: blockingPhase }) };
}

/** The categories that a verifier or debugger put its failures into. */
function findCategories(readClaim: ReadClaim, hash: string | null): readonly string[] {
  if (hash === null) return [];
  return listOrEmpty(fieldOf(readClaim(hash), "failure_categories"))
    .map((item) => (typeof item === "string" ? item : fieldOf(item, "category")))
    .filter(isCategory);
}

const dropUndefined = (fields: Details): Details => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
