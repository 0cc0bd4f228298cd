// reason: the one table of reason codes, joined from a file per subject in reasons/: what each code
// means, whether it counts as PASS, WARN or FAIL, and what to do about it.
//
// Invariants:
//   R1. A code is never reused for another meaning: journals keep it.
//   R2. Two cases that a user would distinguish have two codes.

import { agentReasons } from "./reasons/agent-reasons.ts";
import { documentReasons } from "./reasons/document-reasons.ts";
import { landingReasons } from "./reasons/landing-reasons.ts";
import { machineReasons } from "./reasons/machine-reasons.ts";
import { pauseReasons } from "./reasons/pause-reasons.ts";
import { portfolioReasons } from "./reasons/portfolio-reasons.ts";
import { pullRequestReasons } from "./reasons/pull-request-reasons.ts";
import { type Reason, reason, failsWithBoundedRetry } from "./reasons/reason-row.ts";
import { runReasons } from "./reasons/run-reasons.ts";

export type { Reason, ResultWord, Retry } from "./reasons/reason-row.ts";

/** The rows of the commands themselves; all others have a file by subject. */
const commandReasons = {
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
  command_interrupted: failsWithBoundedRetry(
    "Interrupted before it finished.",
    "give the command again",
  ),
  internal_error: failsWithBoundedRetry(
    "Bug in autopilot.",
    "please report it with the named rule",
  ),
} as const satisfies Record<string, Reason>;

export const reasons = {
  ...runReasons,
  ...pauseReasons,
  ...agentReasons,
  ...machineReasons,
  ...landingReasons,
  ...pullRequestReasons,
  ...documentReasons,
  ...portfolioReasons,
  ...commandReasons,
} as const satisfies Record<string, Reason>;

export type ReasonCode = keyof typeof reasons;
export const reasonCodes = Object.keys(reasons) as ReasonCode[];
export const isReasonCode = (text: string): text is ReasonCode => Object.hasOwn(reasons, text);
