// experiment-on-check: runs every experiment on one passing check: the canary, repetitions, the work mutated and removed, further questions.
// Invariants T1 and on: verify/experiments/try-out.ts.
// Invariants K1 and on: verify/experiments/canary.ts.

import type { Check, CheckResult, CheckStatus, Evidence } from "../../contracts/evidence.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { Verifier } from "../../ports/verifier.ts";
import type { Difference, CheckoutOverrides } from "../../ports/workspace.ts";
import { buildCommandRequest } from "../check-command.ts";
import { runCommand } from "../command.ts";
import { openTestOutput, listFolderPaths } from "../test-output.ts";
import { createTestFileFilter } from "../has-tests.ts";
import { loadProtectionRules, textBytesMax } from "../protected/find-protected.ts";
import { isReadOnly } from "../protected/programs.ts";
import type { ProtectionRules } from "../protected/judge.ts";
import type { OpenParts } from "../verifier-parts.ts";
import { chooseTestSource } from "../reporter/choose-test-source.ts";
import { runCanary } from "./canary.ts";
import { findOmittableTests } from "./flips/candidates.ts";
import { createNonce } from "./flips/choose-flips.ts";
import type { Observed } from "./flips/noticed-flips.ts";
import type { Edit, Lab, Side } from "./lab.ts";
import { rewriteTestFiles, tryEquivalentTests } from "./questions/equivalent-tests.ts";
import { findUnnoticed, listFunctions, type MutatedFunctions } from "./questions/mutations.ts";
import type { CheckoutChange, QuestionContext } from "./questions/question-context.ts";
import { mutateWork } from "./questions/raised-questions.ts";
import { askAll } from "./questions/table.ts";
import { worldFacts, wrapInOtherWorld, type WorldFact } from "./world/other-world.ts";
import { findWork, reportMutation, reportWithoutWork } from "./questions/without-work.ts";

export type CheckRequest = Parameters<Verifier["check"]>[0];
export type CheckTrial = {
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
export type ExperimentFindings = Pick<CheckResult, "canary" | "without_work" | "gap" | "programs"> & {
  /** The check's results on the same tree, if they differ. */
  readonly unsteady?: readonly CheckStatus[];
};

const canaryMinutesDefault = 10;
/** Changed code may not terminate: a run with it may take this many times as long as the check did, and `mutantGraceMs` more. */
const mutantTimesSlower = 3;
const mutantGraceMs = 10_000;

export async function runExperiments(trial: CheckTrial, subject: PassingCheck): Promise<ExperimentFindings> {
  const { parts } = trial;
  const { result, baseline, differences } = subject;
  const { check, gap } = result;
  const runs = openExperimentRuns(trial, subject);
  const isNewPass = baseline !== null && baseline.status !== "passed" && mayRepeat(parts);
  const known = gap === undefined ? {} : { gap };
  if (differences.length === 0) {
    if (isNewPass) await runs.repeat([]); // a result that passes now without a change is not believed at once
    return { ...known, ...(runs.repeats.includes("failed") ? { unsteady: runs.repeats } : {}) };
  }
  const rules = await loadRules(trial, check);
  const lab = createLab(trial, subject, { runs, rules });
  const canaryResult = await runCanary(check, lab);
  const findings = { canary: canaryResult, ...known };
  if (canaryResult.outcome === "missed") return findings; // the check has failed: the rest would be wasted (T1)

  const ran = result.tests?.ran ?? 0;
  const work = check.kind === "criterion" ? findWork(differences) : null;
  const mutation = work === null || ran === 0 ? null : await mutateWork({ differences, lab }, createNonce(lab.seed));
  const owesRepeat = isNewPass && runs.repeats.length === 1; // T6
  runs.announce("does it pass again?");
  const { omitted, kept } = ran > 0 && (owesRepeat || mutation !== null) ? await findOmittableTests(check, lab) : { omitted: [], kept: [] };
  const isNarrow =
    omitted.length > 0 && (await runs.elsewhereFirst({ edits: await rewriteTestFiles(lab, kept), without: omitted }))?.passed === true; // K4
  const repeated = owesRepeat && !isNarrow ? await tryEquivalentTests(lab, kept, []) : null;
  if (repeated?.outcome === "unknown") runs.late.push("it took too long to find out whether it passes every time");
  if (repeated?.outcome === "differs") return { ...findings, canary: repeated };
  if (canaryResult.outcome !== "differs" && runs.repeats.includes("failed")) return { ...findings, unsteady: runs.repeats }; // T6

  runs.announce("do its tests notice the work?");
  const mutant = mutation === null ? null : await runMutant(mutation, { omitted: isNarrow ? omitted : [], now: lab.now, runs });
  const isNoticed = mutant?.unnoticed?.length === 0; // then it depends on the work as well
  runs.announce("does it pass without the work?");
  const without = work === null || isNoticed ? null : await runs.runWith("it passes without the work", work);
  const passedNames = subject.evidence?.names?.passed ?? [];
  const answers = await askAll({
    check,
    isAnythingRun: trial.request.checks.some(({ kind, command }) => decidingKinds.has(kind) && !isReadOnly(command)),
    lab,
    workspace: parts.workspace,
    commit: trial.request.commit,
    rules,
    differences,
    passed: passedNames.length === 0 ? null : passedNames,
    goal: trial.request.goal,
    announce: runs.announce,
    runWith: runs.runWith,
    elsewhere: runs.elsewhere,
    mutant: mutation === null || mutant === null ? null : { change: mutation, observed: mutant.observed },
  });
  const gaps = [...(gap === undefined ? [] : [gap]), ...describeUnnoticed(mutant?.unnoticed ?? []), ...answers.gaps, ...runs.late];
  return {
    ...findings,
    ...(isNoticed && mutation !== null ? { without_work: reportMutation(listFunctions(mutation.functions)) } : {}),
    ...(without === null ? {} : { without_work: reportWithoutWork(without.passed) }),
    ...(answers.programs === null ? {} : { programs: [...answers.programs] }),
    ...(gaps.length === 0 ? {} : { gap: gaps.join("; ") }),
  };
}

/** The kinds of checks that decide over a run, besides those that were there before it. */
const decidingKinds: ReadonlySet<Check["kind"]> = new Set(["criterion", "red_green", "holdout"]);

/** A `repeatMax` of 1 turns repetitions off; they are on by default. */
const mayRepeat = ({ repeatMax }: OpenParts): boolean => repeatMax === undefined || repeatMax > 1;

function loadRules({ parts, base }: CheckTrial, { command }: Check): Promise<ProtectionRules> {
  const { protect = [], restores = [], restoreFrom, workspace } = parts;
  return loadProtectionRules({ workspace, protect, restores: restores.length > 0 || restoreFrom !== undefined }, base, [command]);
}

const describeUnnoticed = (functions: Parameters<typeof listFunctions>[0]): readonly string[] =>
  functions.length === 0 ? [] : [`no test notices when ${listFunctions(functions)} answers something else`];

type RunOptions = {
  readonly command?: string | undefined;
  readonly atMostMs?: number;
  readonly different?: readonly WorldFact[] | undefined;
};
type ExperimentRuns = Pick<QuestionContext, "announce" | "runWith" | "elsewhere"> &
  Pick<Lab, "repeat"> & {
    /** Runs the check with these overrides; null if it was cancelled, or the time of all experiments is over. */
    readonly run: (side: Side, overrides: CheckoutOverrides, options?: RunOptions) => Promise<Observed | null>;
    /** Runs the work with a change that must pass: in another world if that was not asked yet, and in the usual one if it fails there. */
    readonly elsewhereFirst: (change: CheckoutChange) => Promise<Observed | null>;
    /** Adds a change to the protected files that replace the work's. */
    readonly override: (change: CheckoutChange) => CheckoutOverrides;
    /** What took too long to find out (T5). */
    readonly late: string[];
    /** The check's results without a semantic change, the first included (T6). */
    readonly repeats: readonly CheckStatus[];
  };

/** Runs one check again and again, within the time of all its experiments, and shows what each run is for. */
function openExperimentRuns(trial: CheckTrial, { result: { check, duration_ms: tookMs }, evidence }: PassingCheck): ExperimentRuns {
  const { parts, request, base, taken } = trial;
  const { clock } = parts;
  const endsMs = clock.monotonicMs() + (parts.canaryMinutes ?? canaryMinutesDefault) * 60_000;
  const slowestMs = mutantTimesSlower * tookMs + mutantGraceMs;
  const { announce, show } = openAnnouncements(trial, check);
  const late: string[] = [];
  const repeats: CheckStatus[] = ["passed"];
  const elsewhere = { isAsked: false, isAnswered: !mayRepeat(parts) };
  const run: ExperimentRuns["run"] = async (side, overrides, { command = check.command, atMostMs = Infinity, different = [] } = {}) => {
    const timeoutMs = Math.min(endsMs - clock.monotonicMs(), atMostMs);
    if (timeoutMs <= 0 || request.cancel.aborted) return null;
    show();
    const commit = side === "base" ? base : request.commit;
    return observe(trial, { ...check, command: withoutFailFast(command) }, { commit, overrides, evidence, timeoutMs, different });
  };
  const override: ExperimentRuns["override"] = ({ edits = [], paths = [], without = [] }) => ({
    from: base,
    paths: [...(taken?.paths ?? []), ...paths],
    without: [...(taken?.without ?? []), ...without],
    written: [...(taken?.written ?? []).filter(({ path }) => edits.every((edit) => edit.path !== path)), ...edits],
  });
  const elsewhereFirst: ExperimentRuns["elsewhereFirst"] = async (change) => {
    const isFirst = check.kind === "criterion" && !elsewhere.isAsked && !elsewhere.isAnswered;
    elsewhere.isAsked ||= isFirst;
    const observed = isFirst ? await run("work", override(change), { atMostMs: slowestMs, different: worldFacts }) : null;
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
        run(side, side === "base" ? { from: base, paths: [], without: [], written: [] } : override({}), { different }),
    },
    override,
    late,
    repeats,
    runWith: async (whether, change) => {
      const atMostMs = (change.edits ?? []).length > 0 ? slowestMs : Infinity;
      const observed = await run("work", override(change), { command: change.command, atMostMs });
      if (observed === null && whether !== null && !request.cancel.aborted) late.push(`it took too long to find out whether ${whether}`); // T5
      return observed;
    },
    repeat: async (edits, countsFailure = true) => {
      const observed = await elsewhereFirst({ edits });
      if (observed !== null && (countsFailure || observed.passed)) repeats.push(observed.passed ? "passed" : "failed");
      return observed;
    },
  };
}

function createLab(
  { parts: { workspace }, request, base, taken }: CheckTrial,
  { result: { check, tests }, evidence, baseline, differences }: PassingCheck,
  { runs, rules }: { readonly runs: ExperimentRuns; readonly rules: ProtectionRules },
): Lab {
  const written = new Map((taken?.written ?? []).map(({ path, text }) => [path, text]));
  const fromBase = new Set(taken?.paths ?? []);
  const overridesFor = (side: Side, edits: readonly Edit[], gone: readonly string[]): CheckoutOverrides =>
    side === "base" ? { from: base, paths: [], without: gone, written: edits } : runs.override({ edits, without: gone });
  return {
    run: (side, edits, gone = [], command = check.command) => runs.run(side, overridesFor(side, edits, gone), { command }),
    repeat: runs.repeat,
    textAt: async (side, path) =>
      (side === "work" ? written.get(path) : undefined) ??
      workspace.textAt(side === "base" || fromBase.has(path) ? base : request.commit, path, textBytesMax),
    pathsAt: (side) => workspace.pathsAt(side === "base" ? base : request.commit),
    commands: rules.named.usedCommands,
    changedPaths: differences.filter(({ kind }) => kind !== "deleted").map(({ path }) => path),
    before: baseline === null ? null : readObservedBefore(baseline),
    wasRed: baseline !== null && baseline.status !== "passed",
    now: { passed: true, failed: new Set(evidence?.names?.failed), tests: tests ?? null },
    seed: `${request.commit} ${check.command}`,
  };
}

/** Lets Cargo run all test programs: it stops at the first that fails, and would report nothing of the others. No test sees this flag. */
const withoutFailFast = (command: string): string =>
  command.includes("--no-fail-fast")
    ? command
    : command.replace(/\bcargo(\s+\+[\w.-]+)?\s+(?:t|test)(?=\s|$)/, "cargo$1 test --no-fail-fast");

/** Shows the question that was announced last, once it costs a run. */
function openAnnouncements({ request: { onLiveEvent, attempt } }: CheckTrial, { title, command }: Check) {
  let [announced, shown] = ["can it fail?", ""];
  return {
    announce: (name: string): void => void (announced = name),
    show: (): void => {
      if (announced !== shown) onLiveEvent({ signal: "checking", attempt, title: `${title} (${announced})`, command });
      shown = announced;
    },
  };
}

type MutantRun = { readonly omitted: readonly string[]; readonly now: Observed; readonly runs: ExperimentRuns };

/** Runs the check with the work's functions changed, first without the tests that can be left out (K4); finds functions no test noticed. */
async function runMutant(mutation: MutatedFunctions, { omitted, now, runs }: MutantRun) {
  const { edits, functions } = mutation;
  const quick = omitted.length === 0 ? null : await runs.runWith(null, { edits, without: omitted });
  if (quick !== null && findUnnoticed(mutation, now, quick)?.length === 0) return { observed: quick, unnoticed: [] };
  const observed = await runs.runWith(`a test notices when ${listFunctions(functions)} answers something else`, { edits });
  return observed === null ? null : { observed, unnoticed: findUnnoticed(mutation, now, observed) };
}

type ObservedRun = {
  readonly commit: GitSha;
  readonly overrides: CheckoutOverrides;
  readonly evidence: Evidence | null;
  readonly timeoutMs: number;
  /** What is different from the usual world. */
  readonly different: readonly WorldFact[];
};

/** Runs a check in its own checkout, created like every check's (T3); null if it was cancelled or took too long. */
async function observe(
  { parts, request, restoresAt }: CheckTrial,
  check: Check,
  { commit, overrides, evidence, timeoutMs, different }: ObservedRun,
): Promise<Observed | null> {
  const folder = await parts.workspace.checkout(commit, "check", overrides);
  for (const restore of await restoresAt(commit)) await runCommand(buildCommandRequest(parts, restore, folder, request.cancel));
  const testOutput = openTestOutput(check.command, listFolderPaths(folder, parts));
  const asRun = different.length === 0 ? check : { ...check, command: wrapInOtherWorld(check.command, different) };
  const command = buildCommandRequest(parts, asRun, folder, request.cancel);
  const isRecorded = evidence?.recorded !== undefined;
  const result = await runCommand({ ...command, timeoutMs: Math.min(parts.timeoutMs, timeoutMs), testOutput, isRecorded });
  const isTestFile = createTestFileFilter(folder, parts.workspace.foldersOf(folder));
  const { tests, names } = chooseTestSource(testOutput.take(isTestFile), result.record?.take(isTestFile) ?? null, evidence);
  await parts.workspace.dropCheckout(folder); // deliberate breakages do not stay
  if (result.status === "cancelled" || result.status === "timed_out") return null;
  return { passed: result.status === "passed", failed: new Set(names.failed.keys()), tests, passedNames: names.passed };
}

/** Reads the result of a check before the work from its evidence; null if it failed and which tests is unknown: nothing to compare with. */
function readObservedBefore({ status, names, tests }: Evidence): Observed | null {
  if (status !== "passed" && (names?.failed ?? []).length === 0) return null;
  return {
    passed: status === "passed",
    failed: new Set(names?.failed ?? []),
    tests: tests ?? null,
    passedNames: new Set(names?.passed ?? []),
  };
}
