// repeats: decides how often a check is run on one tree, so that flaky checks are recognised.

import type { Check, CheckStatus } from "../contracts/evidence.ts";

const failingRuns = 2;

/**
 * How often a check is run on one tree, seen what it came to so far: once where nothing is new, twice where it fails, and as often
 * as allowed where it did not pass before and does now. One that has come to different things need not be run again: that is its verdict.
 */
export function runsWanted(
  check: Pick<Check, "kind">,
  statuses: readonly CheckStatus[],
  known: CheckStatus | undefined,
  repeatMax: number,
): number {
  const [first] = statuses;
  if (check.kind === "restore" || first === undefined || statuses.some((status) => status !== first)) return 1;
  // What hangs, is missing or cannot be started does so for a reason that running it again does not change.
  if (first === "failed") return Math.min(failingRuns, repeatMax);
  return first === "passed" && known !== undefined && known !== "passed" ? repeatMax : 1;
}

export function statusOf(statuses: readonly CheckStatus[]): CheckStatus {
  const [first = "failed"] = statuses;
  return statuses.every((status) => status === first) ? first : "flaky";
}
