// further-questions: questions about a pass (table.ts): are answers written in the code, who wrote
// the tests, which files are loaded only as programs, does the command only look, do new files take
// the place of others, were examples in the documentation
// changed, who recorded the snapshots, do new tests test something else.

import { makefileNames } from "../../gates/named-commands.ts";
import type { Check } from "../../../contracts/evidence.ts";
import type { Difference } from "../../../ports/workspace.ts";
import { listSome } from "../../../kit/list-some.ts";
import { findProtectionRow, isProgramText, isTestRow } from "../../protected/kinds.ts";
import type { ReviewedFile } from "../../protected/review-points.ts";
import { isReadOnly } from "../../protected/programs.ts";
import { findTestCases, type TestCase } from "../source-text/test-cases.ts";
import { createNonce } from "../broken-expectations/choose-flips.ts";
import {
  areExamplesRun,
  describeChangedExamples,
  restoreExamples,
} from "../broken-expectations/examples.ts";
import { findUnrelated, describeUnrelated } from "./unrelated-tests.ts";
import { type Edit, filesReadMax } from "../lab.ts";
import { mayRunTests } from "../run-code.ts";
import {
  readAllTests,
  type QuestionContext,
  readChanged,
  readSources,
  readTests,
  type RaisedQuestion,
} from "./question-context.ts";
import { listFunctions } from "./mutations.ts";
import { type Shadow, findPossibleShadows, describeShadows } from "./shadowing.ts";
import {
  describeFunctionsOfOwnTests,
  describeSelfWritten,
  findFunctionsOfOwnTests,
  findSelfWrittenPaths,
  undoRenames,
} from "../authorship/self-written.ts";
import { areFunctionsShown } from "../authorship/user-commands.ts";
import { endOtherProcesses } from "./main-program-only.ts";
import {
  areAskedElsewhere,
  filterFailedTests,
  alterSnapshot,
  findChangedSnapshots,
  describeOwnSnapshots,
  describeSnapshots,
} from "./recorded-snapshots.ts";

/**
 * Asked unless a check that passed before got nothing but tests: that it shows nothing is a gap of
 * its own.
 */
export async function findSelfWrittenTests(context: QuestionContext): Promise<string | null> {
  const { lab, passed, differences } = context;
  if (!context.areNewTestsRun || !mayRunTests(lab)) return null;
  if (!lab.wasRed && differences.every(({ path }) => isTestRow(context.rules.rowOf(path)))) {
    return null;
  }

  const tests = await readAllTests(context);
  const gone = differences.filter(
    ({ path, kind }) => kind === "deleted" && context.rules.rowOf(path)?.kind === "test",
  );

  const earlierCases = await Promise.all(
    [...tests, ...gone.slice(0, filesReadMax)].map(async ({ path }) =>
      findTestCases(path, (await lab.textAt("base", path)) ?? ""),
    ),
  );

  const sources = await readSources(context);
  const cases = tests.flatMap(({ path, text }) => findTestCases(path, text));
  const current = undoRenames(cases, sources);
  const earlier = earlierCases.flat();
  const paths = findSelfWrittenPaths({ current, earlier }, lab, passed);
  if (paths.length > 0) {
    const isShown = await areFunctionsShown(context.userCommands, sources, lab);
    return isShown ? null : describeSelfWritten(paths);
  }

  const functions = findFunctionsOfOwnTests(sources, current, earlier);
  return functions.length === 0 ? null : describeFunctionsOfOwnTests(functions);
}

/** Tests of the work's own that are marked as skipped, asked once. */
export async function findSkippedTests(context: QuestionContext): Promise<string | null> {
  if (!context.isFirst) return null;
  const isTestFile = (path: string): boolean =>
    isTestRow(context.rules.rowOf(path)) || findProtectionRow(path)?.kind === "test";

  const skipped = (await readChanged(context, isTestFile)).flatMap(({ path, was, is }) => {
    const before = new Set(findTestCases(path, was ?? "").map(({ text }) => text.trim()));
    return findTestCases(path, is).filter(
      ({ isSkipped, text }) => isSkipped && !before.has(text.trim()),
    );
  });
  if (skipped.length === 0) return null;
  return `tests of the work are skipped: ${listSome(skipped.map(({ name, path }) => `${name} (${path})`))}`;
}

/**
 * Of the files that newly read the command line those that are loaded only as programs; null if
 * there is none.
 */
export async function findProgramOnlyFiles(
  context: QuestionContext,
): Promise<readonly string[] | null> {
  const { differences, rules, lab, runWith } = context;
  const files = (await readChanged(context, isProgramText)).flatMap(
    ({ path, was, is }): readonly ReviewedFile[] => {
      const difference = differences.find((candidate) => candidate.path === path);
      return difference === undefined
        ? []
        : [{ difference, before: was, after: is, isTest: isTestRow(rules.rowOf(path)) }];
    },
  );
  const edits = endOtherProcesses(files, createNonce(lab.seed));
  if (edits.length === 0) return null;
  const paths = edits.map(({ path }) => path);
  const observed = await runWith(`${paths.join(", ")} is loaded as a program alone`, { edits });

  return observed?.passed === true && (observed.tests?.ran ?? 0) >= (lab.now.tests?.ran ?? 0)
    ? paths
    : [];
}

/** Whether a file that the run itself wrote names this check: a plan, for example. */
const isPlanned = ({ source }: Check, differences: readonly Difference[]): boolean => {
  const path = /^(.+):\d+$/.exec(source)?.[1];
  return (
    path !== undefined &&
    differences.some((difference) => difference.path === path && difference.kind !== "deleted")
  );
};

/** A command that was written in this run and only looks for a word or a file. */
export const findPlannedLook = async ({
  check,
  differences,
}: QuestionContext): Promise<string | null> =>
  check.extra !== true && isReadOnly(check.command) && isPlanned(check, differences)
    ? "its command was written in this run and only looks for a word or a file"
    : null;

/** A command that only looks at code, of which it runs nothing. */
export async function findLookAtCode(context: QuestionContext): Promise<string | null> {
  const { check, differences, rules } = context;
  if (check.extra === true || !isReadOnly(check.command) || isPlanned(check, differences)) {
    return null;
  }

  const paths = findLookedAtCode(check.command, differences).join(", ");
  const isTestsOnly = differences.every(({ path }) => isTestRow(rules.rowOf(path)));
  const about = isTestsOnly
    ? ": the work changed nothing but tests, so what they show held before"
    : "";

  if (paths === "" || (await isOnlyRemoval(context))) return null; // without new code there is nothing to run
  return `its command only looks at ${paths} and runs none of it, and nothing else went from red to green${about}`;
}

/** Goals that code taken away fulfils by itself. A list, by words. */
const takesAway = /\b(?:remov\w*|delet\w*|drop\w*|get rid of)\b/i;

/** Whether the goal is to take code away, and the work adds none. */
async function isOnlyRemoval(context: QuestionContext): Promise<boolean> {
  const { differences, goal = "" } = context;
  if (!takesAway.test(goal) || !differences.some(({ path }) => isProgramText(path))) return false;
  const changed = await readChanged(context, isProgramText);
  return changed.every(({ was, is }) => {
    const before = new Set((was ?? "").split("\n").map((line) => line.trim()));
    return is.split("\n").every((line) => before.has(line.trim()) || line.trim() === "");
  });
}

/** The changed code that a command names, by its path or its folder. */
export function findLookedAtCode(
  command: string,
  differences: readonly Difference[],
): readonly string[] {
  const words = command.split(/[\s"'()=]+/).map((word) => word.replace(/^\.\//, ""));
  const isNamed = (path: string): boolean =>
    words.some((word) => word !== "" && (path === word || path.startsWith(`${word}/`)));
  return differences
    .filter(({ path, kind }) => kind !== "deleted" && isProgramText(path) && isNamed(path))
    .map(({ path }) => path);
}

const scriptsReadMax = 20;

export async function findShadows({
  differences,
  rules,
  runWith,
  lab,
  check,
}: QuestionContext): Promise<string | null> {
  const shadows: Shadow[] = [];
  const scriptPaths = [
    ...makefileNames,
    ...[...rules.base].filter((path) => path.endsWith(".sh")).slice(0, scriptsReadMax),
  ];
  const scripts = await Promise.all(scriptPaths.map((path) => lab.textAt("work", path)));
  for (const shadow of findPossibleShadows(differences, rules.base, [
    check.command,
    ...scripts.map((text) => text ?? ""),
  ])) {
    const whether = `${shadow.path} takes the place of something from outside the project`;
    if (
      (await runWith(whether, { without: [shadow.path], command: shadow.command }))?.passed === true
    ) {
      shadows.push(shadow);
    }
  }

  return shadows.length === 0 ? null : describeShadows(shadows);
}

export async function askExamplesAsBefore(
  context: QuestionContext,
): Promise<RaisedQuestion | null> {
  const { rules, lab } = context;
  const reportedNames = [...(lab.before?.failed ?? []), ...(lab.before?.passedNames ?? [])];

  const edits = (await readSources(context)).flatMap(({ path, was, is }): readonly Edit[] => {
    const isAsked = areExamplesRun(path, [...rules.named.usedCommands, is], reportedNames);
    const text = was === null || !isAsked ? null : restoreExamples(path, was, is);
    return text === null ? [] : [{ path, text }];
  });
  const paths = edits.map(({ path }) => path);
  const whether = `the examples of ${paths.join(", ")} pass as they were before the work`;

  return edits.length === 0
    ? null
    : { whether, change: { edits }, gap: describeChangedExamples(paths) };
}

export async function findRecordedSnapshots(context: QuestionContext): Promise<string | null> {
  const { textAt } = context.lab;
  const paths = findChangedSnapshots(context.differences, context.rules.rowOf);
  const edits: Edit[] = [];

  for (const path of paths) {
    const text = await textAt("work", path);
    if (text !== null && text !== (await textAt("base", path))) {
      edits.push({ path, text: alterSnapshot(text) });
    }
  }

  if (edits.length === 0) return null;
  const observed = await context.runWith(
    `tests compare with ${edits.map(({ path }) => path).join(", ")}`,
    { edits },
  );
  if (observed === null) return null;
  const earlierTests: TestCase[] = [];

  for (const { path } of await readTests(context)) {
    earlierTests.push(...findTestCases(path, (await textAt("base", path)) ?? ""));
  }

  const noticing = filterFailedTests(earlierTests, observed);
  const editedPaths = edits.map(({ path }) => path);
  if (noticing.length > 0) return describeSnapshots(editedPaths, noticing);
  const newTests = (await readAllTests(context)).flatMap(({ path, text }) =>
    findTestCases(path, text),
  );
  const recording = filterFailedTests(newTests, observed);

  const { before } = context.lab;
  const sources = await readSources(context);
  return recording.length === 0 || areAskedElsewhere(recording, earlierTests, { before, sources })
    ? null
    : describeOwnSnapshots(editedPaths, recording);
}

export async function findUnrelatedTests({
  mutant,
  lab: { textAt },
}: QuestionContext): Promise<string | null> {
  if (mutant === null) return null;
  const texts = new Map<string, string>();

  for (const path of new Set(mutant.change.cases.map((test) => test.path))) {
    texts.set(path, (await textAt("work", path)) ?? "");
  }

  const unrelated = findUnrelated(mutant.change, mutant.observed, (path) => texts.get(path) ?? "");
  return unrelated.length === 0
    ? null
    : describeUnrelated(unrelated, listFunctions(mutant.change.functions));
}
