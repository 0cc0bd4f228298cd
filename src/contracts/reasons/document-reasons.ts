// document-reasons: the reason codes of what a run reads and is judged by: documents, config, flows,
// checks; part of the one table in ../reason.ts.

import { type Reason, reason } from "./reason-row.ts";

export const documentReasons = {
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
    "autopilot resume --accept-spec-change",
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
  // In the words of the quality log, `aborted_missing_docs`; our own codes name the thing first.
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
  checks_cannot_run: reason(
    "FAIL",
    "Checks were found, and none of them can run here: nothing could be proved.",
    "autopilot doctor names what is missing; install it and autopilot resume, which goes on without them if they still can't run",
  ),
  check_flaky: reason(
    "FAIL",
    "A check passes and fails on the same code.",
    "make the check steady, then autopilot resume",
  ),
} as const satisfies Record<string, Reason>;
