// repeats: decides how often a check is run on one tree, so that flaky checks are recognised.

import type { Check, CheckStatus, Recorded, TestTally } from "../contracts/evidence.ts";

/** A check that fails is run twice: once more, to see whether it is flaky. */
const failingRuns = 2;

export type RepeatPolicy = {
  /** Its status in the run so far; undefined if it has not been run before. */
  readonly previousStatus: CheckStatus | undefined;
  readonly repeatMax: number;
  /** Whether experiments follow a pass: they repeat the check anyway (experiments/try-out.ts). */
  readonly isTriedOut: boolean;
};

/**
 * How often a check is run on one tree, given its results so far: once if nothing is new, twice if
 * it fails, and `repeatMax` times if it passes now and did not before, unless experiments repeat it
 * anyway. Once the results differ no further run is needed: it is flaky.
 */
export function countRunsWanted(
  check: Pick<Check, "kind">,
  statuses: readonly CheckStatus[],
  policy: RepeatPolicy,
): number {
  const { previousStatus, repeatMax, isTriedOut } = policy;
  const [first] = statuses;
  if (
    check.kind === "restore" ||
    first === undefined ||
    statuses.some((status) => status !== first)
  ) {
    return 1;
  }

  // Only plain failures: a command that hangs, is missing or cannot be started does so again.
  if (first === "failed") return Math.min(failingRuns, repeatMax);
  const isNewPass =
    first === "passed" && previousStatus !== undefined && previousStatus !== "passed";
  return isNewPass && !isTriedOut ? repeatMax : 1;
}

/** The status that all runs agree on, else `flaky`. */
export function combineStatuses(statuses: readonly CheckStatus[]): CheckStatus {
  const [first = "failed"] = statuses;
  return statuses.every((status) => status === first) ? first : "flaky";
}

type RunReport = {
  readonly status: CheckStatus;
  readonly tests: TestTally | null;
  readonly recorded: Recorded | null;
};

/**
 * The runs whose test names can be compared: those that our reporter recorded completely or, if
 * there are none, all.
 */
export function selectComparableRuns<Run extends RunReport>(runs: readonly Run[]): readonly Run[] {
  const recordedRuns = runs.filter((run) => run.recorded?.isWhole === true);
  return recordedRuns.length === 0 ? runs : recordedRuns;
}

/**
 * The run that the verdict rests on. For a flaky check it is the one that failed. For a check that
 * fails every time it is the worst run on the base and the best one after the work, so that random
 * differences do not count against the work.
 */
export function pickDecidingRun<Run extends RunReport>(
  runs: readonly Run[],
  status: CheckStatus,
  isBase: boolean,
): Run | undefined {
  if (status === "flaky") return runs.find((run) => run.status !== "passed") ?? runs[0];
  if (status !== "failed" || runs.some(({ tests }) => tests === null)) return runs.at(-1);
  const worstFirst = runs.toSorted(
    (left, right) => (right.tests?.failed ?? 0) - (left.tests?.failed ?? 0),
  );

  return isBase ? worstFirst[0] : worstFirst.at(-1);
}
