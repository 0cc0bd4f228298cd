// reporter-trust: decides whether our reporters may be loaded into a check: they must not change
// its result. Pure.
//
// The first run is with them. If it fails, the next one is without; if that one passes, a third is
// with them again. Runs that are needed for other reasons (a check that may be flaky) follow with
// or without them, as these have shown.
//
// Invariants:
//   T1. A failure counts only if the check fails without the reporters too. A check that fails with
//       them and passes without them is run with them once more. If it passes then, it is flaky. If
//       it fails again, the reporters are to blame, and from then on its results are read from its
//       output.
//   T2. If a check fails with and without the reporters, and its output reports other numbers, its
//       results are read from its output too.

import type { CheckStatus, TestTally } from "../../contracts/evidence.ts";
import type { CommandResult } from "../run-command.ts";

export type ReporterRun = {
  readonly status: CheckStatus;
  /** Whether its test runners were asked to report, and any of them loaded our reporter. */
  readonly hasReporter: boolean;
  /** What its output reported of its tests. */
  readonly tally: TestTally | null;
};
/**
 * Whether our reporters can have affected the result of a command: they were loaded, or a program
 * complains about how they are loaded.
 */
export const mayBeAffected = ({
  record,
  output,
}: Pick<CommandResult, "record" | "output">): boolean =>
  record?.isLoaded() === true ||
  reporterTraces.test(`${output.head.toString("latin1")}${output.tail.toString("latin1")}`);

/**
 * The variables and paths by which reporters are loaded (reporter.ts): a program that may not read
 * them names one of these.
 */
const reporterTraces = /NODE_OPTIONS|sitecustomize|\/[0-9a-f]{10}\/(?:[ajm]\.cjs|[tv]\.mjs|py\b)/;

export type ReporterTrial<Run> = {
  /** Whether the next run uses reporters. */
  readonly usesReporter: () => boolean;
  /** Whether one more run is needed to decide. */
  readonly needsRun: () => boolean;
  /**
   * Adds a run; returns the runs that count, in their order: without those with reporters, once the
   * reporters are to blame.
   */
  readonly add: (run: Run) => readonly Run[];
  /** What a person should know; empty if nothing. */
  readonly note: () => string;
};

/** `isWanted`: whether reporters are to be loaded at all. */
export function openReporterTrial<Run extends ReporterRun>(isWanted: boolean): ReporterTrial<Run> {
  let isTrusted = isWanted;
  let runs: readonly Run[] = [];
  const listFailedWithReporter = (): readonly Run[] =>
    runs.filter(({ hasReporter, status }) => hasReporter && status === "failed");
  const listWithoutReporter = (): readonly Run[] => runs.filter(({ hasReporter }) => !hasReporter);
  const hasPassedWithoutReporter = (): boolean =>
    listWithoutReporter().some(({ status }) => status === "passed");
  /** Only if every run with a reporter has failed: other outcomes are not the reporter's fault. */
  const mayReporterBeToBlame = (): boolean =>
    isTrusted &&
    listFailedWithReporter().length > 0 &&
    runs.every(({ hasReporter, status }) => !hasReporter || status === "failed");

  return {
    note: () =>
      isWanted && !isTrusted
        ? "it comes to something else with our reporters loaded, so results are read from its output"
        : "",
    usesReporter: () => isTrusted && (!mayReporterBeToBlame() || listWithoutReporter().length > 0),
    needsRun: () =>
      mayReporterBeToBlame() &&
      (listWithoutReporter().length === 0 ||
        (hasPassedWithoutReporter() && listFailedWithReporter().length === 1)),
    add(run) {
      runs = [...runs, run];
      const [failedRun] = listFailedWithReporter();
      const [plainRun] = listWithoutReporter();
      if (!mayReporterBeToBlame() || plainRun === undefined) return runs;
      const doesReporterBreak = hasPassedWithoutReporter() && listFailedWithReporter().length > 1; // T1
      const isTallyDifferent =
        !hasPassedWithoutReporter() && !isSameTally(failedRun?.tally ?? null, plainRun.tally); // T2
      if (doesReporterBreak || isTallyDifferent) [isTrusted, runs] = [false, listWithoutReporter()];

      return runs;
    },
  };
}

const isSameTally = (left: TestTally | null, right: TestTally | null): boolean =>
  (left?.ran ?? 0) === (right?.ran ?? 0) && (left?.failed ?? 0) === (right?.failed ?? 0);
