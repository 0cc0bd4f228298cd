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
import { loadProtectionRules } from "../protected/load-protection-rules.ts";
import { textBytesMax } from "../protected/read-change.ts";
import { isReadOnly } from "../protected/programs.ts";
import type { ProtectionRules } from "../protected/judge.ts";
import { runCanary } from "./canary.ts";
import {
  type CheckTrial,
  type ExperimentRuns,
  mayRepeat,
  openExperimentRuns,
  type PassingCheck,
} from "./experiment-runs.ts";
import { findOmittableTests } from "./broken-expectations/candidates.ts";
import { createNonce } from "./broken-expectations/choose-flips.ts";
import type { Observed } from "./broken-expectations/noticed-flips.ts";
import { type Edit, type Lab, lateResult, type Side } from "./lab.ts";
import { mayRunTests, runsNewTests } from "./run-code.ts";
import { rewriteTestFiles, tryEquivalentTests } from "./equivalent-tests/equivalent-tests.ts";
import { findUnnoticed, listFunctions, type MutatedFunctions } from "./questions/mutations.ts";
import { mutateWork } from "./questions/raised-questions.ts";
import { askAll } from "./questions/table.ts";
import { findWork, reportMutation, reportWithoutWork } from "./questions/without-work.ts";

export type ExperimentFindings = Pick<
  CheckResult,
  "canary" | "without_work" | "gap" | "programs"
> & {
  /** The check's results on the same tree, if they differ. */
  readonly unsteady?: readonly CheckStatus[];
  /** What would be a gap if no other check shows the work (T8). */
  readonly open?: string;
};

export async function runExperiments(
  trial: CheckTrial,
  subject: PassingCheck,
): Promise<ExperimentFindings> {
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
  const canaryResult = nameObstacle(await runCanary(check, lab), runs);
  const findings = { canary: canaryResult, ...known };
  if (canaryResult.outcome === "missed") return findings; // the check has failed: the rest would be wasted (T1)

  const ran = result.tests?.ran ?? 0;
  const { checks } = trial.request;
  const decides = isCriterion(check) || !checks.some(isCriterion); // without criteria, the project's checks decide
  const work = decides && !isReadOnly(check.command) ? findWork(differences) : null;
  const mutation =
    work === null || !mayRunTests(lab)
      ? null
      : await mutateWork({ differences, lab }, createNonce(lab.seed));

  const owesRepeat = isNewPass && runs.repeats.length === 1; // T6
  runs.announce("does it pass again?");
  const { omitted, kept } =
    ran > 0 && (owesRepeat || mutation !== null)
      ? await findOmittableTests(check, lab)
      : { omitted: [], kept: [] };
  const isNarrow =
    omitted.length > 0 &&
    (await runs.elsewhereFirst({ edits: await rewriteTestFiles(lab, kept), without: omitted }))
      ?.passed === true; // K4
  const repeated = owesRepeat && !isNarrow ? await tryEquivalentTests(lab, kept, []) : null;
  if (repeated?.outcome === "unknown") {
    runs.late.push(`${runs.describeObstacle()} to find out whether it passes every time`);
  }

  if (repeated?.outcome === "differs") return { ...findings, canary: repeated };
  if (canaryResult.outcome !== "differs" && runs.repeats.includes("failed")) {
    return { ...findings, unsteady: runs.repeats };
  } // T6

  runs.announce("do its tests notice the work?");
  const mutant =
    mutation === null
      ? null
      : await runMutant(mutation, { omitted: isNarrow ? omitted : [], now: lab.now, runs });
  const isNoticed = mutant?.unnoticed?.length === 0; // then it depends on the functions, and if it was red before on the work as well
  runs.announce("does it pass without the work?");
  // Tests of code that was there before pass without the work, as a project's checks may.
  const isAskedWithout = isCriterion(check) && !(isNoticed && lab.wasRed);
  const withoutWork =
    work === null || !isAskedWithout
      ? null
      : await runs.runWith("it passes without the work", work);

  const unnoticed = mutant?.unnoticed ?? [];
  // A check that does not run the new tests says nothing about them.
  const areNewTestsRun =
    isNoticed ||
    (withoutWork?.passed !== true && unnoticed.length === 0) ||
    (await runsNewTests(lab, differences));
  const without = areNewTestsRun || withoutWork?.passed === false ? withoutWork : null;
  const passedNames = subject.evidence?.names?.passed ?? [];

  const answers = await askAll({
    check,
    checkCommands: checks.map(({ command }) => command),
    isFirst: (checks.find(isCriterion) ?? checks[0])?.id === check.id,
    lab,
    workspace: parts.workspace,
    hasCommit: (name) => parts.workspace.hasCommit(trial.request.attempt, name),
    commit: trial.request.commit,
    rules,
    differences,
    passed: passedNames.length === 0 ? null : passedNames,
    goal: trial.request.goal,
    announce: runs.announce,
    runWith: runs.runWith,
    elsewhere: runs.elsewhere,
    areNewTestsRun,
    mutant:
      mutation === null || mutant === null || !areNewTestsRun
        ? null
        : { change: mutation, observed: mutant.observed },
  });
  const gaps = [
    ...(gap === undefined ? [] : [gap]),
    ...describeUnnoticed(areNewTestsRun ? unnoticed : []),
    ...answers.gaps,
    ...runs.late,
  ];

  return {
    ...findings,
    ...(isNoticed && mutation !== null
      ? { without_work: reportMutation(listFunctions(mutation.functions)) }
      : {}),
    ...(without === null ? {} : { without_work: reportWithoutWork(without.passed) }),
    ...(answers.programs === null ? {} : { programs: [...answers.programs] }),
    ...(gaps.length === 0 ? {} : { gap: gaps.join("; ") }),
    ...(answers.open.length === 0 ? {} : { open: answers.open.join("; ") }),
  };
}

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

const describeUnnoticed = (functions: Parameters<typeof listFunctions>[0]): readonly string[] =>
  functions.length === 0
    ? []
    : [`no test notices when ${listFunctions(functions)} answers something else`];

function createLab(
  { parts: { workspace }, request, base, taken }: CheckTrial,
  { result: { check, tests }, evidence, baseline, differences }: PassingCheck,
  { runs, rules }: { readonly runs: ExperimentRuns; readonly rules: ProtectionRules },
): Lab {
  const written = new Map((taken?.written ?? []).map(({ path, text }) => [path, text]));
  const fromBase = new Set(taken?.paths ?? []);

  const overridesFor = (
    side: Side,
    edits: readonly Edit[],
    gone: readonly string[],
  ): CheckoutOverrides =>
    side === "base"
      ? { from: base, paths: [], without: gone, written: edits }
      : runs.override({ edits, without: gone });

  return {
    run: (side, edits, gone = [], command = check.command) =>
      runs.run(side, overridesFor(side, edits, gone), { command }),
    repeat: runs.repeat,
    textAt: async (side, path) =>
      (side === "work" ? written.get(path) : undefined) ??
      workspace.textAt(
        side === "base" || fromBase.has(path) ? base : request.commit,
        path,
        textBytesMax,
      ),
    pathsAt: (side) => workspace.pathsAt(side === "base" ? base : request.commit),
    commands: rules.named.usedCommands,
    changedPaths: differences.filter(({ kind }) => kind !== "deleted").map(({ path }) => path),
    before: baseline === null ? null : readObservedBefore(baseline),
    wasRed: baseline !== null && baseline.status !== "passed",
    now: { passed: true, failed: new Set(evidence?.names?.failed), tests: tests ?? null },
    seed: `${request.commit} ${check.command}`,
  };
}

type MutantRun = {
  readonly omitted: readonly string[];
  readonly now: Observed;
  readonly runs: ExperimentRuns;
};

/**
 * Runs the check with the work's functions changed, first without the tests that can be left out
 * (K4); finds functions no test noticed.
 */
async function runMutant(mutation: MutatedFunctions, { omitted, now, runs }: MutantRun) {
  const { edits, functions } = mutation;
  const quick = omitted.length === 0 ? null : await runs.runWith(null, { edits, without: omitted });
  if (quick !== null && findUnnoticed(mutation, now, quick)?.length === 0) {
    return { observed: quick, unnoticed: [] };
  }

  const observed = await runs.runWith(
    `a test notices when ${listFunctions(functions)} answers something else`,
    { edits },
  );
  return observed === null ? null : { observed, unnoticed: findUnnoticed(mutation, now, observed) };
}

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
