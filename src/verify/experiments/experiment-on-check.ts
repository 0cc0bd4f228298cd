// experiment-on-check: runs every experiment on one passing check: the canary, repetitions, the
// work mutated and removed, further questions.
// Invariants T1 and on: verify/experiments/try-out.ts.
// Invariants K1 and on: verify/experiments/canary.ts.

import type {
  Check,
  CheckResult,
  CheckStatus,
  Evidence,
  Experiment,
} from "../../contracts/evidence.ts";
import type { CheckoutOverrides } from "../../ports/workspace.ts";
import type { WrittenFunction } from "./questions/change-functions.ts";
import { loadProtectionRules } from "../protected/load-protection-rules.ts";
import { textBytesMax } from "../protected/read-change.ts";
import { isReadOnly } from "../protected/programs.ts";
import type { ProtectionRules } from "../protected/judge.ts";
import { asSet } from "../../kit/as-set.ts";
import { findBuiltFiles } from "./built-files.ts";
import { runCanary } from "./canary.ts";
import {
  type CheckTrial,
  type ExperimentRuns,
  openExperimentRuns,
  type PassingCheck,
} from "./experiment-runs.ts";
import { createNonce } from "./broken-expectations/choose-flips.ts";
import { withoutStyleReaders } from "./broken-expectations/code-readers.ts";
import type { Observed } from "./broken-expectations/noticed-flips.ts";
import { type Edit, type Lab, lateResult, type Side } from "./lab.ts";
import { isOfUser } from "./authorship/user-commands.ts";
import type { BranchMarks } from "./branches/branch.ts";
import { prepareMarks } from "./branches/mark-branches.ts";
import { isNewPass, type Repetition, repeatNewPass } from "./repeat-new-pass.ts";
import { findMadeData } from "./made-data.ts";
import { mayRunTests, runsNewTests } from "./run-code.ts";
import {
  failsIndirectly,
  findUnnoticed,
  listFunctions,
  listNewFailures,
  type MutatedFunctions,
} from "./questions/mutations.ts";
import { mutateWork } from "./questions/mutate-work.ts";
import type { CheckoutChange, QuestionContext } from "./questions/question-context.ts";
import { askAll } from "./questions/table.ts";
import { addsToTests, findWork, reportMutation, reportWithoutWork } from "./without-work.ts";

export type ExperimentFindings = Pick<
  CheckResult,
  "canary" | "without_work" | "gap" | "programs" | "made_again"
> & {
  /** The check's results on the same tree, if they differ. */
  readonly unsteady?: readonly CheckStatus[];
  /** What would be a gap if no other check shows the work (compare-checks.ts). */
  readonly open?: string;
  /** The work's functions of which a test noticed that they answer something else, and the others. */
  readonly mutated?: {
    readonly noticed: readonly WrittenFunction[];
    readonly unnoticed: readonly WrittenFunction[];
  };
};

/** What the experiments on one check share. */
type Bench = {
  readonly trial: CheckTrial;
  readonly subject: PassingCheck;
  readonly runs: ExperimentRuns;
  readonly rules: ProtectionRules;
  readonly lab: Lab;
  /** The branches of the work; null if it has none, or another check is asked about them. */
  readonly marks: BranchMarks | null;
};

export async function runExperiments(
  trial: CheckTrial,
  subject: PassingCheck,
): Promise<ExperimentFindings> {
  const { result, differences } = subject;
  const { check, gap } = result;
  const known = gap === undefined ? {} : { gap };
  const runs = openExperimentRuns(trial, subject, await findBuilt(trial, subject));
  if (differences.length === 0) {
    return { ...known, ...(await repeatUnchanged(trial, subject, runs)) };
  }

  const rules = await loadRules(trial, check);
  const plainLab = createLab(trial, subject, { runs, rules });
  const commands = trial.request.checks.map(({ command }) => command);
  const lab = { ...plainLab, made: await findMadeData(plainLab, commands) };
  const marks = isFirstDeciding(trial, check)
    ? await prepareMarks({ rules, differences, lab })
    : null;
  const bench: Bench = { trial, subject, runs, rules, lab, marks };
  const canary = nameObstacle(await runCanary(check, lab), runs);
  const findings = { canary, ...known };
  if (canary.outcome === "missed") return findings; // the check has failed: the rest would be wasted (T1)

  const hasTests = await addsToTests(differences, lab.textAt);
  const work = hasTests ? findJudgedWork(trial, subject) : null;
  const isMutable = work !== null && mayRunTests(lab);
  const mutation = isMutable ? await mutateWork({ differences, lab }, createNonce(lab.seed)) : null;

  const { repeated, omitted, covered } = await repeatNewPass(bench, mutation !== null);
  if (repeated?.outcome === "differs") return { ...findings, canary: repeated };
  if (canary.outcome !== "differs" && runs.repeats.includes("failed")) {
    return { ...findings, unsteady: runs.repeats };
  } // T6

  runs.announce("do its tests notice the work?");
  const mutant =
    mutation === null ? null : await runMutant(mutation, { omitted, now: lab.now, runs });

  return { ...findings, ...(await examineWork(bench, { work, mutation, mutant, covered })) };
}

/** What make makes of the work by itself, and was committed. */
async function findBuilt(
  { parts: { workspace }, base }: CheckTrial,
  { differences }: PassingCheck,
): Promise<readonly string[]> {
  if (differences.length === 0) return [];
  const basePaths = asSet(await workspace.pathsAt(base));
  const textAtBase = (path: string) => workspace.textAt(base, path, textBytesMax);
  return [...(await findBuiltFiles(differences, basePaths, textAtBase))];
}

/** A result that passes now without a change is not believed at once. */
async function repeatUnchanged(
  trial: CheckTrial,
  subject: PassingCheck,
  runs: ExperimentRuns,
): Promise<ExperimentFindings> {
  if (isNewPass(trial, subject)) await runs.repeat([]);
  return runs.repeats.includes("failed") ? { unsteady: runs.repeats } : {};
}

/** The work, if this check is to show it: without criteria, the project's checks decide. */
function findJudgedWork({ request }: CheckTrial, subject: PassingCheck): CheckoutChange | null {
  const { check } = subject.result;
  const decides = isCriterion(check) || !request.checks.some(isCriterion);
  return decides && !isReadOnly(check.command) ? findWork(subject.differences) : null;
}

type WorkTrial = {
  readonly work: CheckoutChange | null;
  readonly mutation: MutatedFunctions | null;
  readonly mutant: Mutant | null;
  readonly covered: Repetition["covered"];
};

/** Removes the work, and asks every further question about it. */
async function examineWork(
  bench: Bench,
  { work, mutation, mutant, covered }: WorkTrial,
): Promise<Omit<ExperimentFindings, "canary">> {
  const { subject, runs, lab } = bench;
  const { check, gap } = subject.result;
  const unnoticed = mutant?.unnoticed ?? [];
  // Then it depends on the functions, and if it was red before on the work as well.
  const isNoticed = mutant?.unnoticed?.length === 0;

  runs.announce("does it pass without the work?");
  // Tests of code that was there before pass without the work, as a project's checks may.
  const isAskedWithout = isCriterion(check) && !(isNoticed && lab.wasRed);
  const withoutWork =
    work === null || !isAskedWithout
      ? null
      : await runs.runWith("it passes without the work", work);

  // A check that does not run the new tests says nothing about them.
  const areNewTestsRun =
    isNoticed ||
    (withoutWork?.passed !== true && unnoticed.length === 0) ||
    (await runsNewTests(lab, subject.differences));
  const without = areNewTestsRun || withoutWork?.passed === false ? withoutWork : null;

  const isMutantKnown = mutation !== null && mutant !== null && areNewTestsRun;
  const answers = await askQuestions(bench, {
    branches: bench.marks === null ? null : { marks: bench.marks, covered },
    areNewTestsRun,
    mutant: isMutantKnown ? { change: mutation, observed: mutant.observed } : null,
  });

  const mutated =
    mutation === null || mutant?.unnoticed == null
      ? null
      : {
          noticed: mutation.functions.filter((one) => !mutant.unseen.includes(one)),
          unnoticed: areNewTestsRun ? mutant.unseen : [],
        };

  const gaps = [...(gap === undefined ? [] : [gap]), ...answers.gaps, ...runs.late];

  return {
    ...(isNoticed && mutation !== null
      ? { without_work: reportMutation(listFunctions(mutation.functions)) }
      : {}),
    ...(without === null ? {} : { without_work: reportWithoutWork(without.passed) }),
    ...(answers.programs === null ? {} : { programs: [...answers.programs] }),
    ...(answers.madeAgain.length === 0 ? {} : { made_again: [...answers.madeAgain] }),
    ...(gaps.length === 0 ? {} : { gap: gaps.join("; ") }),
    ...(mutated === null ? {} : { mutated }),
    ...(answers.open.length === 0 ? {} : { open: answers.open.join("; ") }),
  };
}

function askQuestions(
  { trial, subject, runs, rules, lab }: Bench,
  found: Pick<QuestionContext, "areNewTestsRun" | "mutant" | "branches">,
): ReturnType<typeof askAll> {
  const { request } = trial;
  const { workspace } = trial.parts;
  const { check, duration_ms: checkMs } = subject.result;
  const passedNames = subject.evidence?.names?.passed ?? [];

  return askAll({
    check,
    checkMs,
    checkCommands: request.checks.map(({ command }) => command),
    passingCommands: request.checks
      .filter(({ id }) => trial.failedChecks?.has(id) !== true)
      .map(({ command }) => command),
    userCommands: request.checks
      .filter((other) => other.id !== check.id && isOfUser(other))
      .map(({ command }) => command),
    isFirst: isFirstDeciding(trial, check),
    lab,
    workspace,
    hasCommit: (name) => workspace.hasCommit(request.attempt, name),
    commit: request.commit,
    rules,
    differences: subject.differences,
    passed: passedNames.length === 0 ? null : passedNames,
    goal: request.goal,
    announce: runs.announce,
    runWith: runs.runWith,
    elsewhere: runs.elsewhere,
    ...found,
  });
}

/** The first criterion, or the first check if there is none. */
const isFirstDeciding = ({ request: { checks } }: CheckTrial, { id }: Check): boolean =>
  (checks.find(isCriterion) ?? checks[0])?.id === id;

const isCriterion = ({ kind }: Check): boolean => kind === "criterion";

/** An experiment that could not be prepared did not take too long (T7). */
const nameObstacle = (result: Experiment, { describeObstacle }: ExperimentRuns): Experiment =>
  result === lateResult ? { ...result, detail: `${describeObstacle()} to find out` } : result;

function loadRules({ parts, base }: CheckTrial, { command }: Check): Promise<ProtectionRules> {
  const { protect = [], restores = [], restoreFrom, workspace } = parts;
  return loadProtectionRules(
    { workspace, protect, restores: restores.length > 0 || restoreFrom !== undefined },
    base,
    [command],
  );
}

function createLab(
  { parts: { workspace }, request, base, taken }: CheckTrial,
  { result: { check, tests }, evidence, baseline, differences }: PassingCheck,
  { runs, rules }: { readonly runs: ExperimentRuns; readonly rules: ProtectionRules },
): Lab {
  const baseTexts = new Map((taken?.written ?? []).map(({ path, text }) => [path, text]));
  const fromBase = new Set(taken?.paths ?? []);
  const judging = withoutStyleReaders(check.command);
  /** It names no tests, so it can only fail as a whole. */
  const isWholeOnly = (evidence?.names?.passed ?? []).length === 0;

  const overridesFor = (
    side: Side,
    edits: readonly Edit[],
    gone: readonly string[],
  ): CheckoutOverrides =>
    side === "base"
      ? { from: base, paths: [], without: gone, written: edits }
      : runs.override({ edits, without: [...runs.built, ...gone] });

  return {
    run: (side, edits, gone = [], command) =>
      runs.run(side, overridesFor(side, edits, gone), {
        command: command ?? (edits.length === 0 ? check.command : judging),
        failsIfEndless: command === undefined && edits.length > 0 && isWholeOnly,
      }),
    repeat: (edits, countsFailure) =>
      runs.repeat(edits, countsFailure, edits.length === 0 ? check.command : judging),
    textAt: async (side, path) => {
      const text = side === "work" ? baseTexts.get(path) : undefined;
      if (text !== undefined) return text;
      const commit = side === "base" || fromBase.has(path) ? base : request.commit;
      return workspace.textAt(commit, path, textBytesMax);
    },
    pathsAt: (side) => workspace.pathsAt(side === "base" ? base : request.commit),
    commands: rules.named.usedCommands,
    changedPaths: differences.filter(({ kind }) => kind !== "deleted").map(({ path }) => path),
    before: baseline === null ? null : readObservedBefore(baseline),
    wasRed: baseline !== null && baseline.status !== "passed",
    now: {
      passed: true,
      failed: new Set(evidence?.names?.failed),
      tests: tests ?? null,
      passedNames: new Set(evidence?.names?.passed),
    },
    seed: `${request.commit} ${check.command}`,
  };
}

type MutantRun = {
  readonly omitted: readonly string[];
  readonly now: Observed;
  readonly runs: ExperimentRuns;
};

/** So many functions are changed alone: tests may call them through a helper. */
const aloneMax = 3;

/**
 * Runs the check with the work's functions changed, first without the tests that can be left out
 * (K4); finds functions no test noticed.
 */
async function runMutant(
  mutation: MutatedFunctions,
  { omitted, now, runs }: MutantRun,
): Promise<Mutant | null> {
  const { edits, functions } = mutation;

  if (omitted.length > 0) {
    const quick = await runs.runWith(null, { edits, without: omitted });
    const isNoticed = quick !== null && findUnnoticed(mutation, now, quick)?.length === 0;
    if (isNoticed) return { observed: quick, unnoticed: [], unseen: [] };
  }

  const whether = `a test notices when ${listFunctions(functions)} answers something else`;
  const observed = await runs.runWith(whether, { edits });
  if (observed === null) return null;
  const found = findUnnoticed(mutation, now, observed);
  if (found === null || !failsIndirectly(mutation, now, observed)) {
    return { observed, unnoticed: found, unseen: found ?? [] };
  }

  const unseen: WrittenFunction[] = [];
  for (const [index, one] of found.entries()) {
    const alone =
      index < aloneMax ? await runs.runWith(null, { edits: mutation.editsOf([one]) }) : null;
    if (alone === null || listNewFailures(now, alone).length === 0) unseen.push(one);
  }

  return { observed, unnoticed: found, unseen };
}

/**
 * The run with changed functions. `unnoticed`: those that no test noticed which calls them; null if
 * it does not show which. `unseen`: those of them that no other test noticed either.
 */
type Mutant = {
  readonly observed: Observed;
  readonly unnoticed: ReturnType<typeof findUnnoticed>;
  readonly unseen: readonly WrittenFunction[];
};

/**
 * Reads the result of a check before the work from its evidence; null if it failed and which tests
 * is unknown: nothing to compare with.
 */
function readObservedBefore({ status, names, tests }: Evidence): Observed | null {
  if (status !== "passed" && (names?.failed ?? []).length === 0) return null;
  return {
    passed: status === "passed",
    failed: new Set(names?.failed ?? []),
    tests: tests ?? null,
    passedNames: new Set(names?.passed ?? []),
  };
}
