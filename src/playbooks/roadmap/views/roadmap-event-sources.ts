// roadmap-event-sources: which entries of the journal each event of the state.json format comes
// from, for the tests and for readers.

import type { RoadmapEventName } from "../../../contracts/roadmap-events.ts";

export const roadmapEventSources: Readonly<Record<RoadmapEventName, string>> = {
  run_started: "run_started",
  run_completed: "run_completed",
  run_halted: "run_paused with a reason that counts as FAIL; run_stopped",
  run_resumed:
    "run_resumed; run_started of a run that goes on with another tool's; run_opened after a crash",
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
  high_defer_rate_warning:
    "the entry by which more than half of at least two processed phases are deferred",
  self_audit_started: "the first step_started of audit in a visit of after.self_audit",
  self_audit_completed:
    "phase_completed, phase_failed of after.self_audit, if an audit had started",
  self_audit_gap_found: "step_completed of audit with the auditor's return, else tasks_read of fix",
  self_audit_gap_fixed:
    "step_completed of a later audit that does not name the gap any more, else tasks_read of fix without it",
  phase_skipped: "phase_skipped; phases_read with skip",
  batch_completion_report:
    "step_completed after the phases, of the step that wrote the report of a run with --complete",
};
