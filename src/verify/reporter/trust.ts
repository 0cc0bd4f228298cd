// trust: decides whether our reporters may be loaded into a check: they must not change its result. Pure.
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
  readonly hasReporter: boolean;
  /** What its output reported of its tests. */
  readonly tally: TestTally | null;
};
/** Whether our reporters can have affected the result of a command: they were loaded, or a program complains about how. */
export const mayBeAffected = ({ record, output }: Pick<CommandResult, "record" | "output">): boolean =>
  record?.isLoaded() === true || reporterTraces.test(`${output.head.toString("latin1")}${output.tail.toString("latin1")}`);

/** How they are loaded, and their path (reporter.ts): a program that may not read them names that path. */
const reporterTraces = /NODE_OPTIONS|sitecustomize|\/[0-9a-f]{10}\/(?:[ajm]\.cjs|[tv]\.mjs|py\b)/;

export type Trust<Run> = {
  /** Whether the next run uses reporters. */
  readonly usesReporter: () => boolean;
  /** Whether one more run is needed to decide. */
  readonly needsRun: () => boolean;
  /** Adds a run; returns the runs that count. */
  readonly add: (run: Run) => readonly Run[];
  /** What a person should know; empty if nothing. */
  readonly note: () => string;
};

export function openTrust<Run extends TrustedRun>(isWanted: boolean): Trust<Run> {
  let isTrusted = isWanted;
  let runs: readonly Run[] = [];
  /** Failed with them, passed without them; other outcomes are not their fault. */
  const failedWithReporter = (): readonly Run[] => runs.filter(({ hasReporter: isAsked, status }) => isAsked && status === "failed");
  const withoutReporter = (): readonly Run[] => runs.filter(({ hasReporter: isAsked }) => !isAsked);
  const passedWithoutReporter = (): boolean => withoutReporter().some(({ status }) => status === "passed");
  const mayReporterBeToBlame = (): boolean =>
    isTrusted && failedWithReporter().length > 0 && runs.every(({ hasReporter: isAsked, status }) => !isAsked || status === "failed");
  return {
    note: () => (isWanted && !isTrusted ? "it comes to something else with our reporters loaded, so results are read from its output" : ""),
    usesReporter: () => isTrusted && (!mayReporterBeToBlame() || withoutReporter().length > 0),
    needsRun: () =>
      mayReporterBeToBlame() && (withoutReporter().length === 0 || (passedWithoutReporter() && failedWithReporter().length === 1)),
    add(run) {
      runs = [...runs, run];
      if (!mayReporterBeToBlame() || withoutReporter().length === 0) return runs;
      const isBroken = passedWithoutReporter() && failedWithReporter().length > 1; // T1
      const isDifferent =
        !passedWithoutReporter() && !isSameTally(failedWithReporter()[0]?.tally ?? null, withoutReporter()[0]?.tally ?? null); // T2
      if (isBroken || isDifferent) [isTrusted, runs] = [false, withoutReporter()];
      return runs;
    },
  };
}

const isSameTally = (left: TestTally | null, right: TestTally | null): boolean =>
  (left?.ran ?? 0) === (right?.ran ?? 0) && (left?.failed ?? 0) === (right?.failed ?? 0);
