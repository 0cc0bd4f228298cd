// repeats: decides how often a check is run on one tree, so that flaky checks are recognised.

import type { Check, CheckStatus, Recorded, TestTally } from "../contracts/evidence.ts";

const failingRuns = 2;

/**
 * How often a check is run on one tree, given its results so far: once if nothing is new, twice if it fails, and as often as allowed if it
 * did not pass before and does now, unless it is tried out next, which repeats it (experiments/try-out.ts). Different results need no
 * further run: it is flaky.
 */
export function runsWanted(
  check: Pick<Check, "kind">,
  statuses: readonly CheckStatus[],
  known: CheckStatus | undefined,
  repeatMax: number,
  isTriedOut = false,
): number {
  const [first] = statuses;
  if (check.kind === "restore" || first === undefined || statuses.some((status) => status !== first)) return 1;
  // A hanging, missing or unstartable command has a reason that running it again does not change.
  if (first === "failed") return Math.min(failingRuns, repeatMax);
  return first === "passed" && known !== undefined && known !== "passed" && !isTriedOut ? repeatMax : 1;
}

export function statusOf(statuses: readonly CheckStatus[]): CheckStatus {
  const [first = "failed"] = statuses;
  return statuses.every((status) => status === first) ? first : "flaky";
}

type Reported = { readonly status: CheckStatus; readonly tests: TestTally | null; readonly recorded: Recorded | null };

/** The runs whose tests are named alike: those that were recorded whole, or, if none was, all. */
export function comparableRuns<Run extends Reported>(runs: readonly Run[]): readonly Run[] {
  const recorded = runs.filter((run) => run.recorded?.isWhole === true);
  return recorded.length === 0 ? runs : recorded;
}

/**
 * The most significant run. Of a flaky check the one that failed; of one that fails every time, the worst on the base and the best after
 * it: random differences are not held against the work.
 */
export function decidingOf<Run extends Reported>(runs: readonly Run[], status: CheckStatus, isBase: boolean): Run | undefined {
  if (status === "flaky") return runs.find((run) => run.status !== "passed") ?? runs[0];
  const worst = runs.toSorted((one, other) => (other.tests?.failed ?? 0) - (one.tests?.failed ?? 0));
  return status !== "failed" || runs.some(({ tests }) => tests === null) ? runs.at(-1) : isBase ? worst[0] : worst.at(-1);
}
