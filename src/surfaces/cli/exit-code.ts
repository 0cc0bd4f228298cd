// exit-code: computes the exit code of a command from its response. Pure.
//
// A run that completes unverified or with gaps, that waits for a person's answer, or whose pause was
// planned or asked for is WARN, so `go` exits with 0. Which reason is WARN and which is FAIL is in
// contracts/reasons/: of a completed run `completion_*` in run-reasons.ts, of a paused one
// pause-reasons.ts.

import type { CommandResponse } from "../../contracts/command-response.ts";

const exitCodes = { done: 0, failed: 1, usage: 2, bug: 70 } as const;

/**
 * 0 for PASS and WARN, 1 for FAIL and for a preview that waits to be confirmed, 2 for a usage
 * error, 70 for a bug of ours.
 */
export function computeExitCode({ result, reason_code, data }: CommandResponse): number {
  if (reason_code === "usage" || isWrongFlag(reason_code, data)) return exitCodes.usage;
  if (reason_code === "internal_error") return exitCodes.bug;
  return result === "FAIL" || reason_code === "dry_run_required_before_execute"
    ? exitCodes.failed
    : exitCodes.done;
}

/**
 * Whether a flag of the objective was given with an invalid value, which is a usage error. A
 * missing field is not.
 */
const isWrongFlag = (
  code: CommandResponse["reason_code"],
  data: CommandResponse["data"],
): boolean =>
  code === "objective_schema_invalid" &&
  typeof data?.["field"] === "string" &&
  !(Array.isArray(data["missing_fields"]) && data["missing_fields"].length > 0);
