// experiment-runs: runs one passing check again and again for its experiments, each time in a
// throw-away checkout with something changed, within the time that all of them may take.
// Invariants T1 and on: verify/experiments/try-out.ts.

import { configDefaults } from "../../contracts/config-defaults.ts";
import type { Check, CheckResult, CheckStatus, Evidence } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { CheckRequest } from "../../ports/verifier.ts";
import type { Difference, CheckoutOverrides } from "../../ports/workspace.ts";
import type { OpenParts } from "../verifier-parts.ts";
import type { Observed } from "./broken-expectations/noticed-flips.ts";
import type { Edit, Side } from "./lab.ts";
import type { CheckoutChange, QuestionContext } from "./questions/question-context.ts";
import { runInCheckout, type RunSetting } from "./run-in-checkout.ts";
import { worldFacts, type WorldFact } from "./other-world/wrap-in-other-world.ts";

/** The request whose passing checks are tried out, and the commit before the work. */
export type CheckTrial = RunSetting & {
  readonly request: CheckRequest;
  readonly base: GitSha;
  /** Checks that do not pass, though this one does. */
  readonly failedChecks?: ReadonlySet<string>;
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

/**
 * What was changed for an experiment may never end: a run of the work may take this many times as
 * long as the check did, and `graceMs` more.
 */
const timesSlowerMax = 3;
const graceMs = 10_000;

/** A `repeatMax` of 1 turns repetitions off; they are on by default. */
export const mayRepeat = ({ repeatMax }: OpenParts): boolean =>
  repeatMax === undefined || repeatMax > 1;

type RunOptions = {
  /** Another command than the check's. */
  readonly command?: string | undefined;
  readonly atMostMs?: number;
  /** Whether a run that does not end in its time has failed; else nothing is known of it. */
  readonly failsIfEndless?: boolean;
  /** What is different from the usual world. */
  readonly different?: readonly WorldFact[] | undefined;
};
export type ExperimentRuns = Pick<QuestionContext, "announce" | "runWith" | "elsewhere"> & {
  /** `command`: if it is not all of the check's. */
  readonly repeat: (
    edits: readonly Edit[],
    countsFailure?: boolean,
    command?: string,
  ) => Promise<Observed | null>;
  /** Files of the work that are left out wherever something is changed: make makes them anew. */
  readonly built: readonly string[];
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
  subject: PassingCheck,
  built: readonly string[],
): ExperimentRuns {
  const { announce, show } = openAnnouncements(trial, subject.result.check);
  const { run, describeObstacle } = openTimedRuns(trial, subject, show);
  const override: ExperimentRuns["override"] = (change) => addToOverrides(trial, change);

  const runInOtherWorld: RunChange = (change) =>
    run("work", override(change), { command: change.command, different: worldFacts });
  const runHere: RunChange = (change) => run("work", override(change), { command: change.command });
  const { elsewhereFirst, isAnswered } = openElsewhereFirst(
    trial,
    subject,
    runInOtherWorld,
    runHere,
  );

  const late: string[] = [];
  const repeats: CheckStatus[] = ["passed"];

  const runWith: ExperimentRuns["runWith"] = async (whether, change) => {
    const without = [...built, ...(change.without ?? [])];
    const overrides = override({ ...change, without });
    const { command, atMostMs } = change;
    const options = { command, ...(atMostMs === undefined ? {} : { atMostMs }) };
    const observed = await run("work", overrides, options);
    if (observed === null && whether !== null && !trial.request.cancel.aborted) {
      late.push(`${describeObstacle()} to find out whether ${whether}`);
    } // T5, T7

    return observed;
  };

  const repeat: ExperimentRuns["repeat"] = async (
    edits,
    countsFailure = true,
    command = subject.result.check.command,
  ) => {
    const observed = await elsewhereFirst({ edits, command });
    if (observed !== null && (countsFailure || observed.passed)) {
      repeats.push(observed.passed ? "passed" : "failed");
    }

    return observed;
  };

  const runElsewhere: ExperimentRuns["elsewhere"]["run"] = (side, different) => {
    const overrides =
      side === "base" ? { from: trial.base, paths: [], without: [], written: [] } : override({});
    return run(side, overrides, { different });
  };

  return {
    announce,
    run,
    elsewhereFirst,
    elsewhere: { isAnswered, run: runElsewhere },
    override,
    late,
    describeObstacle,
    repeats,
    runWith,
    repeat,
    built,
  };
}

const endlessRun: Observed = { passed: false, failed: new Set(), tests: null };

/** Runs the check until the time of all its experiments is over. `show`: called before each run. */
function openTimedRuns(
  trial: CheckTrial,
  { result: { check, duration_ms }, evidence }: PassingCheck,
  show: () => void,
): Pick<ExperimentRuns, "run" | "describeObstacle"> {
  const { parts, request, base } = trial;
  const { clock } = parts;
  const endsMs =
    clock.monotonicMs() + (parts.canaryMinutes ?? configDefaults.checks.canary_timeout) * 60_000;
  let isUnprepared = false;

  const run: ExperimentRuns["run"] = async (side, overrides, options = {}) => {
    const usualMs = side === "work" ? timesSlowerMax * duration_ms + graceMs : Infinity;
    const { command = check.command, atMostMs = usualMs, different = [] } = options;
    const timeoutMs = Math.min(endsMs - clock.monotonicMs(), atMostMs);
    if (timeoutMs <= 0 || request.cancel.aborted) return null;
    show();

    const commit = side === "base" ? base : request.commit;
    const asRun = { ...check, command: withoutFailFast(command) };
    const observed = await runInCheckout(trial, asRun, {
      commit,
      overrides,
      evidence,
      timeoutMs,
      different,
    });

    isUnprepared = observed === "unprepared";
    if (observed !== null || options.failsIfEndless !== true) {
      return observed === "unprepared" ? null : observed;
    }

    return request.cancel.aborted || clock.monotonicMs() >= endsMs ? null : endlessRun;
  };

  return {
    run,
    describeObstacle: () =>
      isUnprepared ? "its dependencies could not be restored" : "it took too long",
  };
}

/** Protected files of the base that replace the work's, and this change. */
function addToOverrides(
  { base, taken }: Pick<CheckTrial, "base" | "taken">,
  { edits = [], paths = [], without = [] }: CheckoutChange,
): CheckoutOverrides {
  const isEdited = (path: string): boolean => edits.some((edit) => edit.path === path);
  const kept = (taken?.written ?? []).filter(({ path }) => !isEdited(path));
  return {
    from: base,
    paths: [...(taken?.paths ?? []), ...paths],
    without: [...(taken?.without ?? []), ...without],
    written: [...kept, ...edits],
  };
}

type RunChange = (change: CheckoutChange) => Promise<Observed | null>;

/**
 * The first repetition of a criterion runs in another world, so that it answers whether the check
 * depends on the usual one, too. `isAnswered`: whether one has passed there, or none is allowed.
 */
function openElsewhereFirst(
  { parts }: CheckTrial,
  { result: { check } }: PassingCheck,
  runInOtherWorld: RunChange,
  runHere: RunChange,
): { readonly elsewhereFirst: RunChange; readonly isAnswered: () => boolean } {
  let isAsked = false;
  let isAnswered = !mayRepeat(parts);

  const elsewhereFirst: RunChange = async (change) => {
    if (check.kind !== "criterion" || isAsked || isAnswered) return runHere(change);
    isAsked = true;
    const observed = await runInOtherWorld(change);
    if (observed?.passed !== true) return runHere(change);
    isAnswered = true;

    return observed;
  };

  return { elsewhereFirst, isAnswered: () => isAnswered };
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
  let announced = "can it fail?";
  let shown = "";

  return {
    announce: (name: string): void => {
      announced = name;
    },
    show: (): void => {
      if (announced === shown) return;
      shown = announced;
      onLiveEvent({ signal: "checking", attempt, title: `${title} (${announced})`, command });
    },
  };
}
