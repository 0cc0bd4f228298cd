// trust: whether a check may be run with our reporters loaded into it. They must not change its result. Pure.
//
// Invariants:
//   T1. A failure counts only if the check fails without them too. One that fails with them and passes without is run with them once more:
//       passing then, it is flaky; failing again, they are to blame, and its results are read from its output from then on.
//   T2. A check that fails either way and reports other numbers without them is read from its output too.

import type { CheckStatus, TestTally } from "../../contracts/evidence.ts";
import type { CommandResult } from "../command.ts";

export type TrustedRun = {
  readonly status: CheckStatus;
  /** Whether its test runners were asked to report, and any of them loaded our reporter. */
  readonly isAsked: boolean;
  /** What its output reported of its tests. */
  readonly tally: TestTally | null;
};
/** Whether our reporters can have affected the result of a command: they were loaded, or a program complains about how. */
export const mayHaveChanged = ({ record, output }: Pick<CommandResult, "record" | "output">): boolean =>
  record?.isLoaded() === true || ofOurs.test(`${output.head.toString("latin1")}${output.tail.toString("latin1")}`);

/** How they are loaded, and their path (reporter.ts): a program that may not read them names that path. */
const ofOurs = /NODE_OPTIONS|sitecustomize|\/[0-9a-f]{10}\/(?:[ajm]\.cjs|[tv]\.mjs|py\b)/;

export type Trust<Run> = {
  /** Whether the next run uses reporters. */
  readonly isAsked: () => boolean;
  /** Whether one more run is needed to decide. */
  readonly isOpen: () => boolean;
  /** Adds a run; returns the runs that count. */
  readonly add: (run: Run) => readonly Run[];
  /** What a person should know; empty if nothing. */
  readonly note: () => string;
};

export function openTrust<Run extends TrustedRun>(isWanted: boolean): Trust<Run> {
  let isTrusted = isWanted;
  let runs: readonly Run[] = [];
  /** Failed with them, passed without them; other outcomes are not their fault. */
  const failedAsked = (): readonly Run[] => runs.filter(({ isAsked, status }) => isAsked && status === "failed");
  const bare = (): readonly Run[] => runs.filter(({ isAsked }) => !isAsked);
  const hasPassedBare = (): boolean => bare().some(({ status }) => status === "passed");
  const isInDoubt = (): boolean =>
    isTrusted && failedAsked().length > 0 && runs.every(({ isAsked, status }) => !isAsked || status === "failed");
  return {
    note: () => (isWanted && !isTrusted ? "it comes to something else with our reporters loaded, so results are read from its output" : ""),
    isAsked: () => isTrusted && (!isInDoubt() || bare().length > 0),
    isOpen: () => isInDoubt() && (bare().length === 0 || (hasPassedBare() && failedAsked().length === 1)),
    add(run) {
      runs = [...runs, run];
      if (!isInDoubt() || bare().length === 0) return runs;
      const isBroken = hasPassedBare() && failedAsked().length > 1; // T1
      const isOther = !hasPassedBare() && !isSame(failedAsked()[0]?.tally ?? null, bare()[0]?.tally ?? null); // T2
      if (isBroken || isOther) [isTrusted, runs] = [false, bare()];
      return runs;
    },
  };
}

const isSame = (one: TestTally | null, other: TestTally | null): boolean =>
  (one?.ran ?? 0) === (other?.ran ?? 0) && (one?.failed ?? 0) === (other?.failed ?? 0);
