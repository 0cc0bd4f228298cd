// portfolio-reasons: the reason codes of portfolios, of their questions and of calibration cycles;
// part of the one table in ../reason.ts.

import { type Reason, reason } from "./reason-row.ts";

export const portfolioReasons = {
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
} as const satisfies Record<string, Reason>;
