// experiment-runs: runs one passing check again and again for its experiments, each time in a
// throw-away checkout with something changed, within the time that all of them may take.
// Invariants T1 and on: verify/experiments/try-out.ts.

import type { Check, CheckResult, CheckStatus, Evidence } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Difference, CheckoutOverrides } from "../../ports/workspace.ts";
import { buildCommandRequest } from "../check-command.ts";
import { runCommand } from "../command.ts";
import { createTestFileFilter } from "../has-tests.ts";
import { toStoredOutput } from "../output.ts";
import { chooseTestSource } from "../reporter/choose-test-source.ts";
import { openTestOutput, listFolderPaths } from "../test-output.ts";
import type { OpenParts } from "../verifier-parts.ts";
import type { Observed } from "./flips/noticed-flips.ts";
import type { Lab, Side } from "./lab.ts";
import type { CheckoutChange, QuestionContext } from "./questions/question-context.ts";
import { worldFacts, wrapInOtherWorld, type WorldFact } from "./world/other-world.ts";

export type CheckRequest = Parameters<Verifier["check"]>[0];
/** The request whose passing checks are tried out, and the commit before the work. */
export type CheckTrial = {
  /**
   * What restores dependencies and failed where the check itself passed: the check doesn't need it.
   */
  readonly failedRestores?: ReadonlySet<string>;
  readonly parts: OpenParts;
  readonly request: CheckRequest;
  readonly base: GitSha;
  /** What restores the dependencies of a commit. */
  readonly restoresAt: (commit: GitSha) => Promise<readonly Check[]>;
  /** The base's protected files that replace the work's. */
  readonly taken: CheckoutOverrides | null;
};
/** A passing check, its evidence, its evidence before the work, and what the work changed. */
export type PassingCheck = {
  readonly result: CheckResult;
  readonly evidence: Evidence | null;
  readonly baseline: Evidence | null;
  readonly differences: readonly Difference[];
};

const canaryMinutesDefault = 10;
/**
 * Changed code may not terminate: a run with it may take this many times as long as the check did,
 * and `mutantGraceMs` more.
 */
const mutantTimesSlower = 3;
const mutantGraceMs = 10_000;

/** A `repeatMax` of 1 turns repetitions off; they are on by default. */
export const mayRepeat = ({ repeatMax }: OpenParts): boolean =>
  repeatMax === undefined || repeatMax > 1;

type RunOptions = {
  /** Another command than the check's. */
  readonly command?: string | undefined;
  readonly atMostMs?: number;
  /** What is different from the usual world. */
  readonly different?: readonly WorldFact[] | undefined;
};
export type ExperimentRuns = Pick<QuestionContext, "announce" | "runWith" | "elsewhere"> &
  Pick<Lab, "repeat"> & {
    /**
     * Runs the check with these overrides; null if it was cancelled, or the time of all experiments
     * is over.
     */
    readonly run: (
      side: Side,
      overrides: CheckoutOverrides,
      options?: RunOptions,
    ) => Promise<Observed | null>;
    /**
     * Runs the work with a change that must pass: in another world if that was not asked yet, and
     * in the usual one if it fails there.
     */
    readonly elsewhereFirst: (change: CheckoutChange) => Promise<Observed | null>;
    /** Adds a change to the protected files that replace the work's. */
    readonly override: (change: CheckoutChange) => CheckoutOverrides;
    /** What could not be found out, because it took too long or could not be prepared (T5, T7). */
    readonly late: string[];
    /** Why the last run that was not observed was not (T5, T7). */
    readonly describeObstacle: () => string;
    /** The check's results without a semantic change, the first included (T6). */
    readonly repeats: readonly CheckStatus[];
  };

/**
 * Runs one check again and again, within the time of all its experiments, and shows what each run
 * is for.
 */
export function openExperimentRuns(
  trial: CheckTrial,
  { result: { check, duration_ms: tookMs }, evidence }: PassingCheck,
): ExperimentRuns {
  const { parts, request, base, taken } = trial;
  const { clock } = parts;
  const endsMs = clock.monotonicMs() + (parts.canaryMinutes ?? canaryMinutesDefault) * 60_000;
  const slowestMs = mutantTimesSlower * tookMs + mutantGraceMs;
  const { announce, show } = openAnnouncements(trial, check);
  const late: string[] = [];
  let isUnprepared = false;
  const describeObstacle = (): string =>
    isUnprepared ? "its dependencies could not be restored" : "it took too long";
  const repeats: CheckStatus[] = ["passed"];
  const elsewhere = { isAsked: false, isAnswered: !mayRepeat(parts) };

  const run: ExperimentRuns["run"] = async (
    side,
    overrides,
    { command = check.command, atMostMs = Infinity, different = [] } = {},
  ) => {
    const timeoutMs = Math.min(endsMs - clock.monotonicMs(), atMostMs);
    if (timeoutMs <= 0 || request.cancel.aborted) return null;
    show();
    const commit = side === "base" ? base : request.commit;
    const asRun = { ...check, command: withoutFailFast(command) };

    const observed = await observe(trial, asRun, {
      commit,
      overrides,
      evidence,
      timeoutMs,
      different,
    });
    isUnprepared = observed === "unprepared";
    return observed === "unprepared" ? null : observed;
  };

  const override: ExperimentRuns["override"] = ({ edits = [], paths = [], without = [] }) => ({
    from: base,
    paths: [...(taken?.paths ?? []), ...paths],
    without: [...(taken?.without ?? []), ...without],
    written: [
      ...(taken?.written ?? []).filter(({ path }) => edits.every((edit) => edit.path !== path)),
      ...edits,
    ],
  });

  const elsewhereFirst: ExperimentRuns["elsewhereFirst"] = async (change) => {
    const isFirst = check.kind === "criterion" && !elsewhere.isAsked && !elsewhere.isAnswered;
    elsewhere.isAsked ||= isFirst;
    const observed = isFirst
      ? await run("work", override(change), { atMostMs: slowestMs, different: worldFacts })
      : null;
    elsewhere.isAnswered ||= observed?.passed === true;

    return observed?.passed === true ? observed : run("work", override(change));
  };

  return {
    announce,
    run,
    elsewhereFirst,
    elsewhere: {
      isAnswered: () => elsewhere.isAnswered,
      run: (side, different) =>
        run(
          side,
          side === "base" ? { from: base, paths: [], without: [], written: [] } : override({}),
          { different },
        ),
    },
    override,
    late,
    describeObstacle,
    repeats,
    runWith: async (whether, change) => {
      const atMostMs = change.atMostMs ?? ((change.edits ?? []).length > 0 ? slowestMs : Infinity);
      const observed = await run("work", override(change), { command: change.command, atMostMs });
      if (observed === null && whether !== null && !request.cancel.aborted) {
        late.push(`${describeObstacle()} to find out whether ${whether}`);
      } // T5, T7

      return observed;
    },
    repeat: async (edits, countsFailure = true) => {
      const observed = await elsewhereFirst({ edits });
      if (observed !== null && (countsFailure || observed.passed)) {
        repeats.push(observed.passed ? "passed" : "failed");
      }

      return observed;
    },
  };
}

/**
 * Lets Cargo run all test programs: it stops at the first that fails, and would report nothing of
 * the others. No test sees this flag.
 */
const withoutFailFast = (command: string): string =>
  command.includes("--no-fail-fast")
    ? command
    : command.replace(/\bcargo(\s+\+[\w.-]+)?\s+(?:t|test)(?=\s|$)/, "cargo$1 test --no-fail-fast");

/** Shows the question that was announced last, once it costs a run. */
function openAnnouncements(
  { request: { onLiveEvent, attempt } }: CheckTrial,
  { title, command }: Check,
) {
  let [announced, shown] = ["can it fail?", ""];
  return {
    announce: (name: string): void => void (announced = name),
    show: (): void => {
      if (announced !== shown) {
        onLiveEvent({ signal: "checking", attempt, title: `${title} (${announced})`, command });
      }

      shown = announced;
    },
  };
}

type ObservedRun = {
  readonly commit: GitSha;
  readonly overrides: CheckoutOverrides;
  readonly evidence: Evidence | null;
  readonly timeoutMs: number;
  /** What is different from the usual world. */
  readonly different: readonly WorldFact[];
};

/**
 * Runs a check in its own checkout, created like every check's (T3); null if it was cancelled or
 * took too long.
 */
async function observe(
  trial: CheckTrial,
  check: Check,
  run: ObservedRun,
): Promise<Observed | "unprepared" | null> {
  const { workspace } = trial.parts;
  const folder = await workspace.checkout(run.commit, "check", run.overrides);

  try {
    return await observeIn(folder, trial, check, run);
  } finally {
    await workspace.dropCheckout(folder); // deliberate breakages do not stay
  }
}

/**
 * Restores may use the network: each is tried twice. False if one fails that the check's own run
 * could rely on.
 */
async function restoreDependencies(
  folder: string,
  trial: CheckTrial,
  commit: GitSha,
): Promise<boolean> {
  const { parts, request, restoresAt, failedRestores } = trial;
  for (const restore of await restoresAt(commit)) {
    const run = async (): Promise<boolean> =>
      (await runCommand(buildCommandRequest(parts, restore, folder, request.cancel))).status ===
      "passed";
    if (!(await run()) && failedRestores?.has(restore.id) !== true && !(await run())) return false;
  }

  return true;
}

async function observeIn(
  folder: string,
  trial: CheckTrial,
  check: Check,
  { commit, evidence, timeoutMs, different }: ObservedRun,
): Promise<Observed | "unprepared" | null> {
  const { parts, request } = trial;
  if (!(await restoreDependencies(folder, trial, commit))) {
    return request.cancel.aborted ? null : "unprepared";
  } // T7

  const testOutput = openTestOutput(check.command, listFolderPaths(folder, parts));
  const asRun =
    different.length === 0
      ? check
      : { ...check, command: wrapInOtherWorld(check.command, different) };
  const command = buildCommandRequest(parts, asRun, folder, request.cancel);
  const isRecorded = evidence?.recorded !== undefined;

  const result = await runCommand({
    ...command,
    timeoutMs: Math.min(parts.timeoutMs, timeoutMs),
    testOutput,
    isRecorded,
  });
  if (result.status === "cancelled" || result.status === "timed_out") return null;
  const isTestFile = createTestFileFilter(folder, parts.workspace.foldersOf(folder));

  const { tests, names } = chooseTestSource(
    testOutput.take(isTestFile),
    result.record?.take(isTestFile) ?? null,
    evidence,
  );

  return {
    passed: result.status === "passed",
    failed: new Set(names.failed.keys()),
    tests,
    passedNames: names.passed,
    readOutput: () => toStoredOutput(result.output).toString("utf8"),
  };
}
