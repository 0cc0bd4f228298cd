// roadmap-log: the journal in the format's 29 events, and no others. One entry may stand for none, one or several of them.
//
// Invariants:
//   G1. The log is a function of the journal: projecting fires nothing, and the same journal gives the same log.
//   G2. Only phases of the roadmap itself appear; what comes before and after them speaks through its own events.
//   G3. A step has the name it has in the pipeline; where ours is another, the details have it.

import type { Entry } from "../../../contracts/event.ts";
import { isReasonCode, reasons } from "../../../contracts/reason.ts";
import type { RoadmapEvent, RoadmapEventName } from "../../../contracts/roadmap-events.ts";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { isCategory } from "../../../insight/metrics.ts";
import { attemptParts, isAround, phaseOfEntry, taskOfCursor } from "../../../insight/places.ts";
import { type RootCause, findRootCause } from "../../../insight/root-cause.ts";
import { highDeferRate, unnecessaryDeferral } from "../insight/warnings.ts";
import { type ClaimOf, parseField, parseList, openAuditBook } from "./roadmap-audit.ts";
import { eventsBefore } from "./roadmap-carried.ts";
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

export type LogExtra = {
  readonly claimOf?: ClaimOf;
  /** When phases were completed in earlier runs, by id. */
  readonly earlier?: Readonly<Record<string, string>>;
  /** The state of another tool's run that this one continues. */
  readonly carried?: RoadmapState | null;
};
/** The file this log is part of. */
export const statePath = ".autopilot/state.json";
type Details = Readonly<Record<string, unknown>>;

export type RoadmapLog = { readonly events: readonly RoadmapEvent[]; take(entry: Entry, specPath: string): void };

/** Takes entries that the chronicle has taken just before. */
export function openRoadmapLog(history: PhaseHistory, { claimOf = () => undefined, earlier = {}, carried }: LogExtra = {}): RoadmapLog {
  const events: RoadmapEvent[] = [...eventsBefore(carried)];
  const audit = openAuditBook(claimOf);
  const completed = new Set<string>();
  let isHighRate = false;
  let resumes: { readonly run: string; readonly status: string } | null = null;
  /** The run was just started or resumed; opening it without that recovers from a crash. */
  let isAsked = false;

  const entryLines = (entry: Entry): void => {
    const at = phaseOfEntry(entry);
    const phase = at === null || isAround(at) ? null : at;
    const say = (event: RoadmapEventName, details: Details = {}, step?: string): void => {
      events.push({ timestamp: entry.ts, ...(phase === null ? {} : { phase }), ...namedStep(step, details), event });
    };
    const reported = phase === null ? undefined : history.phases.get(phase);
    switch (entry.event) {
      case "run_drafted":
        if (entry.resumes !== undefined) resumes = { run: entry.resumes.run, status: entry.resumes.status };
        return;
      case "run_started":
        isAsked = true;
        if (resumes === null) return say("run_started");
        return say("run_resumed", { reason: "foreign_run", from: resumes.run, was: resumes.status });
      case "run_opened":
        if (!isAsked) say("run_resumed", { reason: "crashed", opening: entry.opening });
        isAsked = false;
        return;
      case "document_differed":
        if (entry.path === statePath) say("checkpoint_written", { reason: "state_rebuilt", found: entry.found, kept: entry.kept });
        return;
      case "run_completed":
        return say("run_completed", { verdict: entry.verdict, reason: entry.reason_code });
      case "run_paused":
        if (isHalt(entry.reason_code)) say("run_halted", given({ reason: entry.reason_code, detail: entry.detail }));
        return;
      case "run_stopped":
        return say("run_halted", given({ reason: entry.reason_code, detail: entry.detail }));
      case "run_resumed":
        isAsked = true;
        return say("run_resumed", { reason: entry.reason_code });
      case "circuit_breaker_opened":
        return say("circuit_breaker_opened", given({ reason: entry.because, cooldown_until: entry.cooldown_until, detail: entry.detail }));
      case "circuit_breaker_closed":
        return say("circuit_breaker_closed");
      case "phases_read":
        for (const { id, skip } of entry.phases) if (skip !== undefined) say("phase_skipped", skippedDetails(id, skip, earlier));
        return;
      default:
        break;
    }
    if (phase === null) return; // G2
    switch (entry.event) {
      case "phase_started":
        return say("phase_started");
      case "phase_reopened":
        completed.delete(phase);
        return say("phase_started", { visit: entry.visit, reason: entry.because });
      case "phase_skipped":
        return say("phase_skipped", skippedDetails(phase, entry.because, earlier));
      case "phase_completed":
        completed.add(phase);
        // Ids can be given to other phases later; the name says which one this was.
        say(
          "phase_completed",
          given({
            name: reported?.name === phase ? undefined : reported?.name,
            reason: entry.because,
            alignment_score: reported?.steps.get("judge")?.says["alignment_score"],
          }),
        );
        return;
      case "phase_failed":
      case "closing_failed":
        completed.delete(phase);
        return say("phase_failed", failedDetails(entry.because ?? entry.reason_code, findRootCause(reported?.visit ?? [], phase, claimOf)));
      case "step_started":
        if (taskOfCursor(entry.walk) !== null) return;
        say("step_started", { attempt: entry.attempt }, entry.step);
        if (entry.step === roadmapSteps.undo) say("rollback_initiated", {}, entry.step);
        return;
      case "step_completed":
      case "step_failed": {
        const parts = attemptParts(entry.attempt);
        if (parts === null || taskOfCursor(parts.cursor) !== null) return;
        const categories = findCategories(claimOf, reported?.steps.get(parts.step)?.claim ?? null);
        const why = entry.event === "step_failed" ? given({ reason: entry.reason_code, detail: entry.detail }) : {};
        say(
          entry.event,
          { attempt: entry.attempt, ...why, ...(categories.length === 0 ? {} : { failure_categories: categories }) },
          parts.step,
        );
        if (entry.event === "step_completed" && parts.step === roadmapSteps.undo) say("rollback_completed", { ...entry.facts }, parts.step);
        return;
      }
      case "task_completed":
      case "task_failed": {
        const task = taskOfCursor(entry.walk) ?? entry.walk;
        const commit = reported?.tasks.get(task)?.commit ?? null;
        const details = { task: `task_${task}`, commit };
        return say(
          entry.event,
          entry.event === "task_failed" ? { ...details, reason: entry.because ?? entry.reason_code } : details,
          "execute",
        );
      }
      case "step_retried": {
        const task = taskOfCursor(entry.walk);
        if (task !== null) say("task_retried", { task: `task_${task}`, retry: entry.n }, "execute");
        return;
      }
      case "route_taken":
        if (entry.count === "debug") say("debug_attempt", { attempt: reported?.debugs ?? 1, from: entry.step }, roadmapSteps.debug);
        if (entry.count === "replan") say("replan_attempt", { attempt: reported?.replans ?? 1, from: entry.step }, entry.to);
        return;
      case "block_opened": {
        const why = reported?.justification ?? null;
        if (entry.step !== roadmapSteps.human || entry.house === true || why === null) return;
        const warning = unnecessaryDeferral({ phase, autoPassed: why.auto_tasks_passed, autoTotal: why.auto_tasks_total });
        if (warning !== null) say("unnecessary_deferral_warning", { ...why, message: warning.message }, entry.step);
        return;
      }
      case "block_answered": {
        const verdict = reported?.verdict ?? null;
        if (verdict !== null && verdict.timestamp === entry.ts && verdict.verdict === entry.answer)
          say("human_verdict_recorded", { verdict: verdict.verdict, issues: [...verdict.issues] }, roadmapSteps.human);
        return;
      }
      default:
        return;
    }
  };

  return {
    events,
    take(entry, specPath) {
      entryLines(entry);
      for (const { event, details } of audit.linesOf(entry, { completed, specPath })) events.push({ timestamp: entry.ts, event, details });
      events.push(...batchReport(entry), ...checkpoint(entry));
      const warning = highDeferRate(history.deferred.size, history.processed.size);
      if (warning !== null && !isHighRate)
        events.push({
          timestamp: entry.ts,
          event: "high_defer_rate_warning",
          details: { deferred: history.deferred.size, processed: history.processed.size, message: warning.message },
        });
      isHighRate = warning !== null;
    },
  };
}

/** The step that wrote the completion report says so in what it found; only with --complete does it report the whole roadmap. */
function batchReport(entry: Entry): readonly RoadmapEvent[] {
  if (entry.event !== "step_completed" || !isAround(phaseOfEntry(entry) ?? "")) return [];
  const { report_path, completion_percentage } = entry.facts;
  if (typeof report_path !== "string" || typeof completion_percentage !== "number") return [];
  const counts = Object.fromEntries(batchCounts.map((name) => [name, wholeOf(entry.facts[name])]));
  return [{ timestamp: entry.ts, event: "batch_completion_report", details: { ...counts, completion_percentage, report_path } }];
}

const batchCounts = ["phases_attempted", "phases_succeeded", "phases_failed", "phases_skipped"] as const;
const wholeOf = (value: unknown): number => (typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : 0);

/** G3 */
function namedStep(step: string | undefined, details: Details): { readonly step?: string; readonly details: Details } {
  if (step === undefined) return { details };
  const name = pipelineName(step);
  return { step: name, details: name === step ? details : { ...details, step } };
}

/** Each step that ends is a transition: the files are generated from the journal at that point. */
function checkpoint(entry: Entry): readonly RoadmapEvent[] {
  if (entry.event !== "step_completed" && entry.event !== "step_failed") return [];
  const parts = attemptParts(entry.attempt);
  if (parts === null || taskOfCursor(parts.cursor) !== null) return [];
  const phase = phaseOfEntry(entry) ?? "";
  const where = isAround(phase) ? {} : { phase }; // G2
  const details = { seq: entry.seq, ...(isAround(phase) ? { step: parts.step, group: phase } : {}) };
  return [{ timestamp: entry.ts, ...where, ...namedStep(isAround(phase) ? undefined : parts.step, details), event: "checkpoint_written" }];
}

/** Whether a pause is a halt: the user's choice and a question to a person are not. */
export const isHalt = (reason: string): boolean => !isReasonCode(reason) || reasons[reason].result === "FAIL";

/** How it ended, and what was first wrong and never put right: the two may be far apart. */
const failedDetails = (reason: string, root: RootCause | null): Details => ({
  reason,
  category: root?.category ?? "coordination_failure",
  ...given({ description: root?.description }),
});

function skippedDetails(id: string, reason: string, earlier: Readonly<Record<string, string>>): Details {
  const by = /^blocked_by_phase_(.+)$/.exec(reason)?.[1];
  const original = by === undefined && Object.hasOwn(earlier, id) ? earlier[id] : undefined;
  return { phase_id: id, reason, ...given({ original_run_timestamp: original, blocking_phase: by }) };
}

/** The categories that a verifier or debugger put its failures into. */
function findCategories(claimOf: ClaimOf, hash: string | null): readonly string[] {
  if (hash === null) return [];
  return parseList(parseField(claimOf(hash), "failure_categories"))
    .map((item) => (typeof item === "string" ? item : parseField(item, "category")))
    .filter(isCategory);
}

const given = (fields: Details): Details => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
