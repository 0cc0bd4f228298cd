// run-reasons: the reason codes of a run: its life, what it discards, how its steps and cycles end
// and whether it is complete; part of the one table in ../reason.ts. Why it pauses is in
// pause-reasons.ts.

import { type Reason, outage, reason } from "./reason-row.ts";

export const runReasons = {
  // Fine.
  ok: reason("PASS", "Done.", ""),
  run_idle: reason("PASS", "No open run here.", 'autopilot "what you want done"'),
  run_drafted: reason("PASS", "Preview ready; nothing has run.", "autopilot go --yes"),
  run_started: reason("PASS", "Run started.", ""),
  run_resumed: reason("PASS", "Run resumed.", ""),
  run_in_progress: reason("PASS", "Running.", "autopilot watch"),
  cycle_progressed: reason("PASS", "Turn ended; more to do.", "autopilot go"),
  completion_verified: reason("PASS", "Done; every check passes.", ""),

  // The objective's four defaults.
  dry_run_required_before_execute: reason(
    "FAIL",
    "Not started: the preview isn't confirmed.",
    "autopilot go --yes",
  ),
  scope_violation_blocked: reason(
    "FAIL",
    "Discarded: the agent changed files outside the scope.",
    "autopilot log, then widen --scope in a new run or autopilot resume",
  ),
  secret_in_changes: reason(
    "FAIL",
    "Discarded: the agent wrote one of your secrets to a file.",
    "autopilot log names file and secret; autopilot resume tries again, env -u NAME autopilot resume where it is no secret",
  ),

  // Objective and lifecycle.
  objective_schema_invalid: reason("FAIL", "Invalid goal or option.", "autopilot help start"),
  invalid_state_transition: reason("FAIL", "Not possible in the run's state.", "autopilot status"),
  run_missing: reason("FAIL", "No such run here.", "autopilot status"),
  transcript_missing: reason("FAIL", "There is no such transcript.", "autopilot log"),
  work_missing: reason(
    "FAIL",
    "The run's commits are no longer in this repository.",
    "autopilot report",
  ),
  run_interrupted: reason(
    "WARN",
    "autopilot ended in the middle of its work; what was acknowledged is kept.",
    "autopilot resume",
  ),
  confirmation_needed: reason(
    "FAIL",
    "Nothing was removed: it needs your yes.",
    "give the command again with --yes",
  ),
  run_open: reason(
    "FAIL",
    "Another run is still open here.",
    "autopilot resume, autopilot stop, or --new",
  ),
  run_foreign: reason(
    "FAIL",
    "This run wasn't started here by you, so nothing of it is executed.",
    "autopilot adopt RUN shows it and asks",
  ),
  run_adopted: reason("PASS", "The run is yours now.", "autopilot resume"),
  fork_refused: reason(
    "FAIL",
    "The run can't be forked there.",
    "autopilot log -v --run RUN shows its lines",
  ),
  replay_refused: reason(
    "FAIL",
    "The step can't be replayed.",
    "autopilot trace shows the steps of a run",
  ),
  step_replayed: reason(
    "PASS",
    "The step was run again and compared.",
    "autopilot fork RUN --at SEQ goes on from there",
  ),
  run_locked: outage("Another process is driving this run.", "autopilot watch"),
  ack_stale: reason(
    "FAIL",
    "The preview changed after it was confirmed.",
    "autopilot start shows the new preview",
  ),
  ack_recorded: reason("PASS", "Preview confirmed.", "autopilot go"),
  owner_silent: reason(
    "FAIL",
    "The process driving the run isn't responding; request pending.",
    "wake or end that process, then give the command again",
  ),
  operator_stopped: reason(
    "FAIL",
    "Stopped for good, on request; the branch stays.",
    'autopilot "…" begins another',
  ),
  operator_resumed: reason("PASS", "Resumed on request.", ""),
  oracles_approved: reason(
    "PASS",
    "Test changes approved exactly as they are.",
    "autopilot resume",
  ),
  review_noted: reason(
    "PASS",
    "Notes on the change were recorded; the next turn that changes something reads them.",
    "autopilot resume",
  ),
  limit_raised: reason("PASS", "Limit raised.", "autopilot resume"),
  block_answered: reason("PASS", "Question answered.", "autopilot resume"),

  // Cycles and completion.
  completion_unverified: reason(
    "WARN",
    "Finished, but no check can prove it.",
    "add a check: --done-criteria 'text :: command'",
  ),
  completion_refuted: reason(
    "FAIL",
    "Finished, but a check shows that it doesn't hold.",
    "autopilot report shows the failing checks",
  ),
  completion_with_gaps: reason(
    "WARN",
    "Finished, but only partly proven.",
    "autopilot report names the gaps",
  ),
  completion_promise_missing: reason(
    "WARN",
    "The agent hasn't said it's done.",
    "autopilot approve takes the work as it is, then autopilot resume",
  ),
  completion_gates_blocked: reason(
    "FAIL",
    "The agent says it's done; the checks disagree.",
    "autopilot report shows the failing checks",
  ),
  continuation_pending: reason(
    "WARN",
    "The agent said it's done, then announced more work.",
    "autopilot go",
  ),
  nothing_changed: reason("WARN", "Nothing changed, nothing new proven.", "autopilot report"),
  criterion_failed: reason(
    "FAIL",
    "A done criterion's check fails.",
    "autopilot report shows its output",
  ),
  check_regressed: reason(
    "FAIL",
    "A check that passed before the run now fails.",
    "autopilot report shows its output",
  ),

  // Steps and phases.
  phase_failed: reason("FAIL", "A phase failed.", "autopilot report, then autopilot resume"),
  tasks_failed: reason(
    "FAIL",
    "Some tasks of this step failed.",
    "autopilot report, then autopilot resume",
  ),
  proof_missing: reason(
    "FAIL",
    "What must prove this step is missing.",
    "autopilot report names the rule and the file",
  ),
  nothing_can_move: reason("FAIL", "Everything left is blocked.", "autopilot report"),
} as const satisfies Record<string, Reason>;
