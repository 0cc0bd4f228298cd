// reason: every reason code in one table: what it means, how it counts, what to do about it.
// A code is never reused for another meaning; where a user would tell two cases apart there are two codes.

export type ResultWord = "PASS" | "WARN" | "FAIL";
export type Reason = { readonly meaning: string; readonly result: ResultWord; readonly hint: string };

const reason = (result: ResultWord, meaning: string, hint: string): Reason => ({ meaning, result, hint });

export const reasons = {
  // Fine.
  ok: reason("PASS", "The command did what it was asked.", ""),
  run_idle: reason("PASS", "There is no run here.", 'autopilot "what you want done"'),
  run_drafted: reason("PASS", "A draft was written; nothing runs until it is acknowledged.", "autopilot go --yes"),
  run_started: reason("PASS", "The run was started.", ""),
  run_resumed: reason("PASS", "The run was taken up again.", ""),
  run_in_progress: reason("PASS", "The run is being worked on.", "autopilot watch"),
  cycle_progressed: reason("PASS", "A cycle ended and the run goes on.", "autopilot go"),
  completion_verified: reason("PASS", "Everything asked for was proved by the runner.", ""),

  // Seed 001's four defaults.
  dry_run_required_before_execute: reason("FAIL", "The preview has not been acknowledged, so nothing was executed.", "autopilot go --yes"),
  budget_threshold_reached: reason(
    "FAIL",
    "The budget is used up, or too small for the next turn.",
    "autopilot status names the limit and the command that raises it",
  ),
  scope_violation_blocked: reason(
    "FAIL",
    "The agent changed something outside the scope; nothing of that attempt was kept.",
    "autopilot log, then widen --scope in a new run or autopilot resume",
  ),
  secret_in_changes: reason(
    "FAIL",
    "The agent wrote a secret of yours into a file; nothing of that attempt was kept.",
    "autopilot log names file and secret; autopilot resume tries again, env -u NAME autopilot resume where it is no secret",
  ),
  confidence_drop_requires_handoff: reason(
    "FAIL",
    "The agent's confidence fell below the threshold of this risk level.",
    "look at autopilot report, then autopilot resume",
  ),

  // Objective and lifecycle.
  objective_schema_invalid: reason("FAIL", "The objective is incomplete or has a field that is not valid.", "autopilot help start"),
  invalid_state_transition: reason("FAIL", "The run is in a state from which this is not possible.", "autopilot status"),
  run_missing: reason("FAIL", "There is no such run here.", "autopilot status"),
  transcript_missing: reason("FAIL", "There is no such transcript.", "autopilot log"),
  work_missing: reason("FAIL", "The run's commits are no longer in this repository.", "autopilot report"),
  run_interrupted: reason("WARN", "autopilot ended in the middle of its work; what was acknowledged is kept.", "autopilot resume"),
  confirmation_needed: reason("FAIL", "Nothing was removed: it needs your yes.", "give the command again with --yes"),
  run_open: reason("FAIL", "Another run of this kind is still open here.", "autopilot resume, autopilot stop, or --new"),
  run_foreign: reason(
    "FAIL",
    "This run wasn't started here by you, so nothing of it is executed.",
    "autopilot adopt RUN shows it and asks",
  ),
  run_adopted: reason("PASS", "The run is yours now.", "autopilot resume"),
  run_locked: reason("FAIL", "Another process is working on this run.", "autopilot watch"),
  ack_stale: reason("FAIL", "What was acknowledged has changed since.", "autopilot start shows the new preview"),
  ack_recorded: reason("PASS", "The preview is acknowledged; the run may start.", "autopilot go"),
  operator_paused: reason("WARN", "The operator paused the run.", "autopilot resume"),
  pause_requested: reason("PASS", "The run will pause when its turn ends.", "autopilot pause --now"),
  owner_silent: reason(
    "FAIL",
    "The process that works on the run does not answer, so what was asked for is not done yet.",
    "wake or end that process, then give the command again",
  ),
  operator_stopped: reason("FAIL", "The operator stopped the run. That is final; its branch stays.", 'autopilot "…" begins another'),
  operator_resumed: reason("PASS", "The operator resumed the run.", ""),
  oracles_approved: reason("PASS", "The changed oracles were approved, in exactly this content.", "autopilot resume"),
  review_noted: reason("PASS", "Notes on the change were recorded; the next turn that changes something reads them.", "autopilot resume"),
  limit_raised: reason("PASS", "A limit of the run was raised.", "autopilot resume"),
  block_answered: reason("PASS", "The question is answered.", "autopilot resume"),

  // Cycles and completion.
  cycle_cap_reached: reason("WARN", "This invocation used up its cycles; the run stays open.", "autopilot go"),
  completion_unverified: reason("WARN", "Finished, but no check proved it.", "add a check: --done-criteria 'text :: command'"),
  completion_refuted: reason("FAIL", "Finished, but a check shows that it doesn't hold.", "autopilot report shows the failing checks"),
  completion_with_gaps: reason("WARN", "Finished, but part of the proof is missing.", "autopilot report names the gaps"),
  completion_promise_missing: reason("WARN", "The agent has not said that it is done.", "autopilot go"),
  completion_gates_blocked: reason(
    "FAIL",
    "The agent says it is done; the runner's own checks say it is not.",
    "autopilot report shows the failing checks",
  ),
  continuation_pending: reason("WARN", "The agent promised completion and announced more work in the same breath.", "autopilot go"),
  nothing_changed: reason("WARN", "The agent changed nothing and nothing new was proved.", "autopilot report"),
  criterion_failed: reason("FAIL", "A done criterion's check fails.", "autopilot report shows its output"),
  check_regressed: reason("FAIL", "A project check that passed before the run fails now.", "autopilot report shows its output"),

  // Agents.
  agent_unavailable: reason(
    "FAIL",
    "The agent cannot be started here.",
    "autopilot doctor; what you mend in the config is taken by autopilot resume --adopt-config",
  ),
  agent_failed: reason("FAIL", "The agent's turn ended in an error.", "autopilot log, then autopilot resume"),
  agent_timeout: reason("FAIL", "The agent's turn ran out of time and was cancelled.", "autopilot resume"),
  provider_limit_reached: reason("FAIL", "The model provider's limit is used up for now.", "wait for the reset, then autopilot resume"),
  provider_failed: reason(
    "FAIL",
    "The model provider did not answer the agent's calls.",
    "look at autopilot log; autopilot resume tries again",
  ),
  provider_reset: reason("PASS", "The provider's limit is lifted; the run goes on by itself.", ""),
  return_invalid: reason(
    "FAIL",
    "What the agent handed back does not fit its schema, after being asked again.",
    "autopilot log shows the raw text",
  ),
  crash_loop: reason("FAIL", "The same attempt took the runner down three times.", "look at autopilot log, then autopilot resume"),

  // Gates and people.
  breaker_open: reason(
    "FAIL",
    "The circuit breaker opened: the run was going in circles.",
    "autopilot report, then autopilot resume after the cooldown (or --now)",
  ),
  phase_cap_reached: reason(
    "FAIL",
    "A phase used up what one phase may use, so it was halted and the circuit breaker opened.",
    "autopilot status names the limit and the command that raises it",
  ),
  run_cap_reached: reason(
    "FAIL",
    "The run used up all that a run of this flow may use, so it was ended at once.",
    "autopilot report; autopilot status names the limit and the command that raises it",
  ),
  approval_required: reason("WARN", "A person must approve before it goes on.", "autopilot approve, then autopilot resume"),
  human_block_open: reason("WARN", "A question waits for a person.", "autopilot inbox"),
  boundary_reached: reason("WARN", "The flow pauses here on purpose.", "autopilot resume"),
  session_boundary: reason("WARN", "The flow pauses here so that the next session starts fresh.", "autopilot resume"),
  checkpoint_reached: reason("WARN", "The checkpoint asked for is reached.", "autopilot resume"),
  retry_limit_reached: reason("FAIL", "The run used up its retries.", "autopilot budget raise retries=+5, then autopilot resume"),
  phase_failed: reason("FAIL", "A phase failed.", "autopilot report, then autopilot resume"),
  tasks_failed: reason("FAIL", "Some tasks of the step failed.", "autopilot report, then autopilot resume"),
  proof_missing: reason("FAIL", "What must prove the step is not there.", "autopilot report names the rule and the file"),
  nothing_can_move: reason("FAIL", "Nothing in this run can move on.", "autopilot report"),

  // The machine.
  isolation_unavailable: reason(
    "FAIL",
    "No isolation strong enough could be set up on this machine.",
    "install bubblewrap, or choose --isolation clone by name",
  ),
  workspace_changed: reason("FAIL", "The run's branch was changed by somebody else.", "autopilot doctor"),
  workspace_unusable: reason("FAIL", "This folder cannot hold a run.", "autopilot doctor"),
  not_a_repository: reason("FAIL", "This folder is not inside a git repository.", "git init && git add -A && git commit -m start"),
  no_commits_yet: reason("FAIL", "The repository has no commit to start from.", "git add -A && git commit -m start"),
  repository_bare: reason("FAIL", "A bare repository has no checkout to land in.", "run in a clone of it"),
  disk_full: reason("FAIL", "The disk is full; nothing acknowledged was lost.", "free some space, then autopilot resume"),
  journal_damaged: reason(
    "FAIL",
    "The run's journal is damaged.",
    "restore .autopilot/runs/<run> from a backup; autopilot validate names the line",
  ),
  lease_lost: reason(
    "FAIL",
    "Another worker has this run now, or nothing was heard of the store for too long; this process wrote and spent nothing more.",
    "autopilot fleet status shows who has it",
  ),
  store_unreachable: reason("FAIL", "The store doesn't answer.", "autopilot fleet doctor"),
  store_unusable: reason("FAIL", "The store cannot be used as it is.", "autopilot fleet doctor"),
  hub_unreachable: reason(
    "FAIL",
    "The git repository through which machines exchange commits cannot be used.",
    "check AUTOPILOT_HUB, then autopilot resume",
  ),
  store_lost_lines: reason(
    "FAIL",
    "The store has lost lines that it had acknowledged, as a failover to a lagging standby does. Nothing was written over them.",
    "restore the store from the server that has them; see docs/FLEET.md",
  ),
  journal_unwritable: reason(
    "FAIL",
    "The disk refused a write; what was acknowledged is safe, what follows cannot be.",
    "check the disk, then autopilot resume",
  ),
  journal_newer: reason("FAIL", "The journal was written by a newer version.", "update autopilot"),
  journal_repaired: reason("PASS", "A torn last line, never acknowledged, was cut off.", ""),

  // Landing.
  landed: reason("PASS", "The work is on your branch.", ""),
  work_unproved: reason(
    "WARN",
    "The work isn't proved, so it stays on its own branch.",
    "look at it, then git merge autopilot/<run>; --land unverified merges such work in a new run",
  ),
  branch_kept: reason("WARN", "The work stays on its own branch; your checkout was left alone.", "git merge autopilot/<run>"),
  checkout_dirty: reason(
    "WARN",
    "Your checkout has uncommitted changes, so nothing was merged.",
    "commit or stash, then git merge autopilot/<run>",
  ),
  checkout_busy: reason(
    "WARN",
    "Another git holds your checkout, so nothing was merged.",
    "when it is through, or its lock is gone: git merge autopilot/<run>",
  ),
  checkout_moved: reason(
    "WARN",
    "Your checkout is on another branch than the run began on.",
    "git merge autopilot/<run> where you want it",
  ),
  merge_conflict: reason("WARN", "The work does not merge cleanly into your branch.", "git merge autopilot/<run> and resolve"),

  // Documents.
  dependencies_unmet: reason(
    "FAIL",
    "A phase depends on another that is not completed.",
    "autopilot roadmap list, then run that one first",
  ),
  debug_unresolved: reason(
    "FAIL",
    "A debug note of the project is not resolved.",
    "mark it status: resolved or move it out of .planning/debug/, and commit that",
  ),
  spec_change_accepted: reason("PASS", "The changed specification was accepted; the run is locked to it from here on.", ""),
  roadmap_completed: reason("PASS", "Everything asked for of the roadmap is completed already.", "autopilot roadmap list"),
  spec_hash_mismatch: reason("FAIL", "The specification changed since the run began.", "--accept-spec-change"),
  config_invalid: reason("FAIL", "A config file is not valid.", "autopilot validate .autopilot/config.yaml"),
  config_changed: reason(
    "WARN",
    "Config changed since the run began; the run goes on with its recorded copy.",
    "autopilot resume --adopt-config",
  ),
  flow_invalid: reason("FAIL", "The flow is not valid.", "autopilot flow lint"),
  flow_missing: reason("FAIL", "There is no flow of that name.", "autopilot flow list"),
  script_invalid: reason("FAIL", "The scripted agent's script is not valid.", "autopilot validate FILE"),
  roadmap_invalid: reason("FAIL", "The roadmap is not valid.", "autopilot roadmap list"),
  phases_invalid: reason("FAIL", "The phases of the run cannot be read.", "mend the document that is named, then autopilot resume"),
  tasks_invalid: reason("FAIL", "The tasks of a step cannot be read.", "autopilot log names the file and what was expected"),
  missing_docs: reason("FAIL", "The documents this flow needs are not there.", "write them and commit them, then begin again"),
  file_invalid: reason("FAIL", "A file is not what it claims to be.", "autopilot validate names file, line and rule"),
  evidence_differs: reason("FAIL", "Re-running the evidence gives another verdict.", "autopilot report"),
  oracle_changed: reason(
    "FAIL",
    "Tests or settings that were there before were changed. A person decides whether they may.",
    "autopilot diff shows the change; autopilot approve --oracles accepts exactly that, autopilot stop ends the run",
  ),
  check_flaky: reason("FAIL", "A check passes and fails on the same tree.", "make the check steady, then autopilot resume"),
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
  portfolio_busy: reason("FAIL", "Another process runs this portfolio.", "autopilot portfolio watch"),
  calibration_missing: reason("FAIL", "There is no such calibration cycle here.", "autopilot calibrate list"),
  calibration_input_invalid: reason(
    "FAIL",
    "What was given for the calibration cycle is not valid; nothing was changed.",
    "autopilot help calibrate start",
  ),
  calibration_busy: reason("FAIL", "Another calibration cycle is under way here.", "autopilot calibrate status"),
  calibration_preflight_failed: reason(
    "FAIL",
    "The cycle cannot begin yet; it stays open and nothing was changed.",
    "mend what is named, then autopilot calibrate resume",
  ),
  calibration_stopped: reason(
    "FAIL",
    "The cycle cannot go on by itself; it stays open.",
    "mend what is named, then autopilot calibrate resume",
  ),
  calibration_interrupted: reason("WARN", "The cycle was interrupted; it stays open.", "autopilot calibrate resume"),
  calibration_ended: reason("PASS", "The cycle has its verdict.", ""),
  block_ambiguous: reason("FAIL", "More than one question is open, or none; nothing was answered.", "autopilot inbox"),
  block_changed: reason("FAIL", "The question has changed since it was shown; nothing was answered.", "autopilot inbox"),
  invalid_status_transition: reason("FAIL", "The task is in a status from which this is not possible.", "autopilot portfolio status"),

  // Ours.
  port_taken: reason("FAIL", "Something else listens on that port.", "autopilot dashboard takes a free one"),
  usage: reason("FAIL", "The command line is not understood.", "autopilot help"),
  command_interrupted: reason("FAIL", "The command was interrupted before it was done.", "give the command again"),
  internal_error: reason("FAIL", "A bug of autopilot's: an invariant did not hold.", "please report it with the named rule"),
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof reasons;
export const reasonCodes = Object.keys(reasons) as ReasonCode[];
export const isReasonCode = (text: string): text is ReasonCode => Object.hasOwn(reasons, text);
