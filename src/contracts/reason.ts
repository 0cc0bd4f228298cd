// reason: lists every reason code: what it means, how it counts, what to do about it. A code is
// never reused for another meaning; two cases that a user would distinguish have two codes.

import { pullRequestReasons } from "./reasons/pull-request-reasons.ts";
import { landingReasons } from "./reasons/landing-reasons.ts";

export type ResultWord = "PASS" | "WARN" | "FAIL";
/**
 * Whether an unattended process tries again. `always`: something outside the work is missing, full
 * or busy. `bounded`: it is unclear, so only a few times. `never`, the default: it is about the
 * work, and a person must act.
 */
export type Retry = "always" | "bounded" | "never";
export type Reason = {
  readonly meaning: string;
  readonly result: ResultWord;
  readonly hint: string;
  readonly retry?: Retry;
};

const reason = (result: ResultWord, meaning: string, hint: string): Reason => ({
  meaning,
  result,
  hint,
});
const outage = (meaning: string, hint: string): Reason => ({
  ...reason("FAIL", meaning, hint),
  retry: "always",
});
const unclear = (meaning: string, hint: string): Reason => ({
  ...reason("FAIL", meaning, hint),
  retry: "bounded",
});

export const reasons = {
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
  budget_threshold_reached: reason(
    "FAIL",
    "Paused: the next turn might not fit the budget.",
    "autopilot status names the limit and the command that raises it",
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
  confidence_drop_requires_handoff: reason(
    "FAIL",
    "Paused: the agent is too unsure for this risk level.",
    "look at autopilot report, then autopilot resume",
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
  operator_paused: reason("WARN", "Paused on request.", "autopilot resume"),
  pause_requested: reason("PASS", "Pausing after this turn.", "autopilot pause --now"),
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
  cycle_cap_reached: reason("WARN", "Reached --max-cycles; the run is still open.", "autopilot go"),
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

  // Agents.
  agent_unavailable: reason(
    "FAIL",
    "The agent can't start here.",
    "autopilot doctor; after fixing the config: autopilot resume --adopt-config",
  ),
  agent_failed: reason(
    "FAIL",
    "The agent's turn ended in an error.",
    "autopilot log, then autopilot resume",
  ),
  agent_timeout: reason("FAIL", "The agent's turn timed out.", "autopilot resume"),
  provider_limit_reached: reason(
    "FAIL",
    "The model provider's limit is used up for now.",
    "wait for the reset, then autopilot resume",
  ),
  provider_failed: reason(
    "FAIL",
    "The model provider isn't responding.",
    "look at autopilot log; autopilot resume tries again",
  ),
  agent_switched: reason("PASS", "Another agent goes on.", ""),
  provider_reset: reason("PASS", "Provider limit lifted; continuing.", ""),
  return_invalid: reason(
    "FAIL",
    "The agent's result doesn't fit its schema, even after a retry.",
    "autopilot log shows the raw text",
  ),
  crash_loop: reason(
    "FAIL",
    "autopilot crashed three times on the same attempt.",
    "look at autopilot log, then autopilot resume",
  ),

  // Gates and people.
  breaker_open: reason(
    "FAIL",
    "Paused: the run was going in circles.",
    "autopilot report, then autopilot resume after the cooldown (or --now)",
  ),
  phase_cap_reached: reason(
    "FAIL",
    "Paused: a phase used up its own limit.",
    "autopilot status names the limit and the command that raises it",
  ),
  run_cap_reached: reason(
    "FAIL",
    "Paused: the run used up this flow's limit.",
    "autopilot report; autopilot status names the limit and the command that raises it",
  ),
  approval_required: reason(
    "WARN",
    "Waiting for your approval.",
    "autopilot approve, then autopilot resume",
  ),
  human_block_open: reason("WARN", "Waiting for your answer.", "autopilot inbox"),
  boundary_reached: reason("WARN", "Planned pause.", "autopilot resume"),
  session_boundary: reason(
    "WARN",
    "Planned pause; the next session starts fresh.",
    "autopilot resume",
  ),
  checkpoint_reached: reason("WARN", "Checkpoint reached.", "autopilot resume"),
  retry_limit_reached: reason(
    "FAIL",
    "No retries left.",
    "autopilot budget raise retries=+5, then autopilot resume",
  ),
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

  agent_may_not_grant: reason(
    "FAIL",
    "An agent can't do this: confirming, answering, approving, resuming, raising limits and stopping are a person's.",
    "give the command yourself, in a terminal or in autopilot dashboard",
  ),
  inside_a_run: reason(
    "FAIL",
    "Refused: this comes from inside a run, and no agent decides about a run.",
    "give the command in a terminal of your own",
  ),
  skill_kept: reason(
    "WARN",
    "Some skill files hold text of yours; they were left unchanged.",
    "move them away, then autopilot skills install",
  ),

  // The machine.
  isolation_unavailable: reason(
    "FAIL",
    "No strong enough sandbox works here.",
    "install bubblewrap, or choose --isolation clone by name",
  ),
  workspace_changed: reason("FAIL", "Something else changed the run's branch.", "autopilot doctor"),
  workspace_unusable: unclear("A run can't work in this folder.", "autopilot doctor"),
  not_a_repository: reason(
    "FAIL",
    "Not a git repository.",
    "git init && git add -A && git commit --allow-empty -m start",
  ),
  no_commits_yet: reason(
    "FAIL",
    "The repository has no commits.",
    "git add -A && git commit -m start",
  ),
  repository_bare: reason(
    "FAIL",
    "Bare repository: no checkout to merge into.",
    "run in a clone of it",
  ),
  disk_full: outage(
    "Disk full; no recorded work is lost.",
    "free some space, then autopilot resume",
  ),
  journal_damaged: reason(
    "FAIL",
    "The run's journal is damaged.",
    "restore .autopilot/runs/<run> from a backup; autopilot validate names the line",
  ),
  lease_lost: outage(
    "Another worker has this run now, or nothing was heard of the store for too long; this process wrote and spent nothing more.",
    "autopilot fleet status shows who has it",
  ),
  worker_name_taken: reason(
    "FAIL",
    "A worker of this name is alive.",
    "give this one another name with --name",
  ),
  store_unreachable: outage("The store doesn't answer.", "autopilot fleet doctor"),
  store_unusable: outage("The store cannot be used as it is.", "autopilot fleet doctor"),
  hub_unreachable: outage(
    "The git repository through which machines exchange commits cannot be used.",
    "check AUTOPILOT_HUB, then autopilot resume",
  ),
  hub_unusable: reason(
    "FAIL",
    "A project's repository has no hub, or another one's.",
    "autopilot portfolio edit PROJECT --hub URL",
  ),
  store_lost_lines: reason(
    "FAIL",
    "The store has lost lines that it had acknowledged, as a failover to a lagging standby does. Nothing was written over them.",
    "restore the store from the server that has them; see docs/FLEET.md",
  ),
  journal_unwritable: outage(
    "Can't write to disk; what is recorded is safe.",
    "check the disk, then autopilot resume",
  ),
  journal_newer: reason("FAIL", "A newer autopilot wrote this journal.", "update autopilot"),
  journal_repaired: reason("PASS", "Removed an incomplete last line from the journal.", ""),

  ...landingReasons,
  ...pullRequestReasons,

  // Documents.
  dependencies_unmet: reason(
    "FAIL",
    "A phase depends on one that isn't done.",
    "autopilot roadmap list, then run that one first",
  ),
  debug_unresolved: reason(
    "FAIL",
    "A debug note is still open.",
    "mark it status: resolved or move it out of .planning/debug/, and commit that",
  ),
  spec_change_accepted: reason("PASS", "New spec accepted.", ""),
  roadmap_completed: reason("PASS", "Those phases are already done.", "autopilot roadmap list"),
  spec_hash_mismatch: reason(
    "FAIL",
    "The spec changed since the run began.",
    "--accept-spec-change",
  ),
  config_invalid: reason("FAIL", "Invalid config.", "autopilot validate .autopilot/config.yaml"),
  config_changed: reason(
    "WARN",
    "The config changed; this run keeps its copy.",
    "autopilot resume --adopt-config",
  ),
  flow_invalid: reason("FAIL", "Invalid flow.", "autopilot flow lint"),
  flow_missing: reason("FAIL", "No flow with that name.", "autopilot flow list"),
  script_invalid: reason("FAIL", "Invalid agent script.", "autopilot validate FILE"),
  roadmap_invalid: reason("FAIL", "Invalid roadmap.", "autopilot roadmap list"),
  phases_invalid: reason(
    "FAIL",
    "Can't read the run's phases.",
    "fix the document named above, then autopilot resume",
  ),
  tasks_invalid: reason(
    "FAIL",
    "Can't read a step's tasks.",
    "autopilot log names the file and what was expected",
  ),
  missing_docs: reason(
    "FAIL",
    "Documents this flow needs are missing.",
    "write them and commit them, then begin again",
  ),
  file_invalid: reason(
    "FAIL",
    "The file is invalid.",
    "autopilot validate names file, line and rule",
  ),
  evidence_differs: reason(
    "FAIL",
    "Re-running the checks gives a different result.",
    "autopilot report",
  ),
  oracle_changed: reason(
    "FAIL",
    "Tests or settings that judge the work were changed; you decide whether that is right.",
    "autopilot inbox shows the change; answer back to put the tests back, keep to accept exactly this change, stop to end the run",
  ),
  tools_missing: reason(
    "FAIL",
    "Something that checks or a sandbox need isn't installed here.",
    "autopilot doctor says how to install each",
  ),
  checks_cannot_run: reason(
    "FAIL",
    "Checks were found, and none of them can run here: nothing could be proved.",
    "autopilot doctor names what is missing; install it and autopilot resume, which goes on without them if they still can't run",
  ),
  packages_missing: reason(
    "FAIL",
    "The work needs packages that aren't installed.",
    "install them here, then autopilot resume",
  ),
  check_flaky: reason(
    "FAIL",
    "A check passes and fails on the same code.",
    "make the check steady, then autopilot resume",
  ),
  portfolio_missing: reason("FAIL", "There is no portfolio here.", "autopilot portfolio init"),
  portfolio_foreign: reason(
    "FAIL",
    "You didn't make this portfolio here, so nothing of it is executed.",
    "autopilot portfolio adopt shows it and asks",
  ),
  portfolio_input_invalid: reason(
    "FAIL",
    "What was given for the portfolio is not valid; nothing was changed.",
    "autopilot help portfolio",
  ),
  portfolio_busy: reason(
    "FAIL",
    "Another process runs this portfolio.",
    "autopilot portfolio watch",
  ),
  calibration_missing: reason(
    "FAIL",
    "There is no such calibration cycle here.",
    "autopilot calibrate list",
  ),
  calibration_input_invalid: reason(
    "FAIL",
    "What was given for the calibration cycle is not valid; nothing was changed.",
    "autopilot help calibrate start",
  ),
  calibration_busy: reason(
    "FAIL",
    "A calibration cycle is at work here, or its lever is on the branch.",
    "autopilot calibrate status",
  ),
  calibration_preflight_failed: reason(
    "FAIL",
    "The cycle cannot begin yet; it stays open and nothing was changed.",
    "fix what is named above, then autopilot calibrate resume",
  ),
  calibration_stopped: reason(
    "FAIL",
    "The cycle cannot go on by itself; it stays open.",
    "fix what is named above, then autopilot calibrate resume",
  ),
  calibration_interrupted: reason(
    "WARN",
    "The cycle was interrupted; it stays open.",
    "autopilot calibrate resume",
  ),
  calibration_ended: reason("PASS", "The cycle has its verdict.", ""),
  block_ambiguous: reason(
    "FAIL",
    "More than one question is open, or none; nothing was answered.",
    "autopilot inbox",
  ),
  block_changed: reason(
    "FAIL",
    "The question has changed since it was shown; nothing was answered.",
    "autopilot inbox",
  ),
  invalid_status_transition: reason(
    "FAIL",
    "Not possible in the task's status.",
    "autopilot portfolio status",
  ),

  // Ours.
  collector_unreachable: reason(
    "FAIL",
    "The OpenTelemetry collector didn't take the trace.",
    "check OTEL_EXPORTER_OTLP_ENDPOINT, then give the command again; nothing of the run is lost",
  ),
  port_taken: reason(
    "FAIL",
    "Something else listens on that port.",
    "autopilot dashboard takes a free one",
  ),
  read_only: reason(
    "FAIL",
    "The dashboard is read-only until its code is typed.",
    "type the code that the terminal shows",
  ),
  usage: reason("FAIL", "Invalid command line.", "autopilot help"),
  command_interrupted: unclear("Interrupted before it finished.", "give the command again"),
  internal_error: unclear("Bug in autopilot.", "please report it with the named rule"),
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof reasons;
export const reasonCodes = Object.keys(reasons) as ReasonCode[];
export const isReasonCode = (text: string): text is ReasonCode => Object.hasOwn(reasons, text);
