// pause-reasons: the reason codes of a run that pauses: a limit is used up, a person must answer, or
// the pause was planned or asked for; part of the one table in ../reason.ts.
//
// A pause that was planned or asked for, or that waits for an answer, is WARN; any other is FAIL.

import { type Reason, reason } from "./reason-row.ts";

export const pauseReasons = {
  // Limits.
  budget_threshold_reached: reason(
    "FAIL",
    "Paused: the next turn might not fit the budget.",
    "autopilot status names the limit and the command that raises it",
  ),
  run_cap_reached: reason(
    "FAIL",
    "Paused: the run used up this flow's limit.",
    "autopilot report; autopilot status names the limit and the command that raises it",
  ),
  phase_cap_reached: reason(
    "FAIL",
    "Paused: a phase used up its own limit.",
    "autopilot status names the limit and the command that raises it",
  ),
  retry_limit_reached: reason(
    "FAIL",
    "No retries left.",
    "autopilot budget raise retries=+5, then autopilot resume",
  ),
  breaker_open: reason(
    "FAIL",
    "Paused: the run was going in circles.",
    "autopilot report, then autopilot resume after the cooldown (or --now)",
  ),
  confidence_drop_requires_handoff: reason(
    "FAIL",
    "Paused: the agent is too unsure for this risk level.",
    "look at autopilot report, then autopilot resume",
  ),

  // A person must answer.
  approval_required: reason(
    "WARN",
    "Waiting for your approval.",
    "autopilot approve, then autopilot resume",
  ),
  human_block_open: reason("WARN", "Waiting for your answer.", "autopilot inbox"),

  // Planned or asked for.
  operator_paused: reason("WARN", "Paused on request.", "autopilot resume"),
  pause_requested: reason("PASS", "Pausing after this turn.", "autopilot pause --now"),
  cycle_cap_reached: reason("WARN", "Reached --max-cycles; the run is still open.", "autopilot go"),
  boundary_reached: reason("WARN", "Planned pause.", "autopilot resume"),
  session_boundary: reason(
    "WARN",
    "Planned pause; the next session starts fresh.",
    "autopilot resume",
  ),
  checkpoint_reached: reason("WARN", "Checkpoint reached.", "autopilot resume"),
} as const satisfies Record<string, Reason>;
