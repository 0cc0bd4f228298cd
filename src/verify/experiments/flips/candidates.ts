// candidates: which files contain a check's expectations, and what in them can be broken.

import type { Check } from "../../../contracts/evidence.ts";
import { asSet, type StringSet } from "../../../kit/as-set.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { programsAmong, testsAmong } from "../../protected/listed-kinds.ts";
import { judgingParts, pathsNamedIn } from "../../protected/programs.ts";
import { findStarted } from "../questions/non-code-files.ts";
import { findTestCases, type TestCase } from "../source/test-cases.ts";
import { createNonce, shuffled } from "./choose-flips.ts";
import { areExamplesRun, exampleFlips, exampleCases } from "./examples.ts";
import { assertionFlips } from "./assertion-flips.ts";
import { withFlips, type Flip, literalFlips, shellFile } from "./literal-flips.ts";
import { filesReadMax, type ExperimentTools, type Side } from "../experiment-tools.ts";
import { areFailuresAttributed, omittableFiles } from "./needed-test-files.ts";
import { findComparedFiles, flipDataFile } from "./shell-expectations.ts";
import { flipsForTests, filterDeciding, decidingTestsMax, mentionsAny, addedIdentifiers, relevanceOf } from "./deciding-tests.ts";

const singlesMax = 2;
/** What is directly beside an assertion, not merely near one. */
const strongScore = 3;

/**
 * Literals near assertions: in the files the command names, else in tests and in programs that the base's scripts start, with the files
 * beside them. Those of the base first: the work's own tests judge only the work.
 */
export async function findCandidates(check: Check, lab: ExperimentTools): Promise<readonly Flip[]> {
  const workPrograms = programsAmong(await lab.pathsAt("work"));
  const basePaths = asSet(await lab.pathsAt("base"));
  const hasTests = (lab.now.tests?.ran ?? 0) > 0;
  const tests = testsAmong(workPrograms);
  for (const isJudge of [await findJudges(check, lab), await findJudges(null, lab)]) {
    const judges = workPrograms.filter(isJudge);
    const baseFlips = await readFlips(
      judges.filter((path) => basePaths.has(path)),
      "base",
      lab,
    );
    if (baseFlips.length > 0) return baseFlips;
    // A program that the work wrote and the command names is the work. If tests run beside it, they judge.
    const workFlips = await readFlips(hasTests ? judges.filter((path) => tests.has(path)) : judges, "work", lab);
    if (workFlips.length > 0) return workFlips;
  }
  return [];
}

/** Which of the work's files contain a check's expectations; if there is no check, all that may. */
async function findJudges(check: Check | null, lab: ExperimentTools): Promise<(path: string) => boolean> {
  const work = await lab.pathsAt("work");
  const isHere = (path: string): boolean => isProgramText(path) && work.includes(path); // called for the few that a command names
  const parts = check === null ? [] : judgingParts(check.command);
  const namedBy = (part: string): readonly string[] => [...pathsNamedIn([part])].filter(isHere);
  const named = new Set(parts.flatMap(namedBy));
  // A part that names no program (`npm test`) may be what ran the tests. A file that none of them runs is told by its run.
  const isAllNamed = (lab.now.tests?.ran ?? 0) === 0 || parts.every((part) => namedBy(part).length > 0);
  if (named.size > 0 && isAllNamed) return (path) => named.has(path);
  const base = asSet(await lab.pathsAt("base"));
  const started = findStarted(lab.commands, { has: (path) => base.has(path) && isHere(path) });
  const isStarted = (path: string): boolean => started.paths.has(path) || started.folders.some((folder) => path.startsWith(`${folder}/`));
  const tests = testsAmong(work);
  return (path) => isProgramText(path) && (named.has(path) || tests.has(path) || isStarted(path));
}

async function readFlips(paths: readonly string[], side: Side, lab: ExperimentTools): Promise<readonly Flip[]> {
  const flips: Flip[] = [];
  for (const path of shuffled(paths, lab.seed, (one) => one).slice(0, filesReadMax)) {
    const [text, workText] = [await lab.textAt(side, path), side === "work" ? null : await lab.textAt("work", path)];
    if (text === null) continue;
    const usable = literalFlips(path, text).filter((flip) => workText === null || withFlips(workText, [flip]) !== null);
    flips.push(...usable);
  }
  return flips;
}

/**
 * The tests the pass depends on, with what can be broken in each; for a check that names no tests, the assertions about the work. If the
 * files that the command names hold no expectation (a script that compiles and starts the tests), all test files are searched.
 */
export async function findDecidingTests(check: Check, lab: ExperimentTools) {
  const named = await decidingTestsIn(await findJudges(check, lab), check, lab);
  return named.hasExpectations ? named : decidingTestsIn(await findJudges(null, lab), check, lab);
}

async function decidingTestsIn(isJudge: (path: string) => boolean, check: Check, lab: ExperimentTools) {
  const [here, base] = [await lab.pathsAt("work"), asSet(await lab.pathsAt("base"))];
  const judges = shuffled(here.filter(isJudge), lab.seed, (path) => path).toSorted(
    (one, other) => Number(lab.changedPaths.includes(other)) - Number(lab.changedPaths.includes(one)),
  );
  const texts = new Map<string, string>();
  const earlierCases: TestCase[] = [];
  const reportedNames = [...(lab.before?.failed ?? []), ...(lab.before?.held ?? [])];
  const hasExamples = (path: string): boolean => areExamplesRun(path, [check.command, ...lab.commands], reportedNames);
  const documented = lab.changedPaths.filter((path) => !isJudge(path) && isProgramText(path) && hasExamples(path));
  const casesAndExamples = (path: string, text: string): readonly TestCase[] => [
    ...findTestCases(path, text),
    ...(hasExamples(path) ? exampleCases(path, text) : []),
  ];
  for (const path of [...judges, ...documented].slice(0, filesReadMax)) {
    const text = await lab.textAt("work", path);
    if (text !== null) texts.set(path, text);
    const was = base.has(path) ? await lab.textAt("base", path) : null;
    if (was !== null) earlierCases.push(...casesAndExamples(path, was));
  }
  const source = lab.changedPaths.filter((path) => isProgramText(path) && !texts.has(path)).slice(0, filesReadMax);
  const changed = await Promise.all(
    source.map(async (path) => ({ was: await lab.textAt("base", path), is: (await lab.textAt("work", path)) ?? "" })),
  );
  const addedWords = addedIdentifiers(changed);
  const nonce = createNonce(lab.seed);
  const cases = [...texts].flatMap(([path, text]) => casesAndExamples(path, text));
  const deciding = shuffled(
    filterDeciding(cases, earlierCases, lab.before, lab.wasRed),
    lab.seed,
    ({ path, from }) => `${path}:${from}`,
  ).slice(0, decidingTestsMax);
  const textOf = (path: string): string => texts.get(path) ?? "";
  const flipsOf = (path: string): readonly Flip[] => [
    ...(hasExamples(path) ? exampleFlips(path, textOf(path), nonce) : []),
    ...(documented.includes(path) ? [] : [...assertionFlips(path, textOf(path), nonce), ...literalFlips(path, textOf(path))]),
  ];
  const tests = flipsForTests(deciding, textOf, { seed: lab.seed, nonce, words: addedWords, flipsOf });
  const flips = [...texts.keys()].flatMap(flipsOf);
  const strongest = shuffled(flips, lab.seed, ({ path, line }) => `${path}:${line}`)
    .filter(({ score, was }) => mentionsAny(was, addedWords) || (lab.wasRed && score >= strongScore))
    .toSorted((one, other) => relevanceOf(other, addedWords) - relevanceOf(one, addedWords));
  const singles = strongest.filter(
    ({ path, line }, index) => strongest.findIndex((one) => one.path === path && one.line === line) === index,
  );
  const controls = flips
    .filter(({ score }) => score >= strongScore)
    .filter((flip) => !singles.slice(0, singlesMax).some(({ line, path }) => path === flip.path && line === flip.line));
  const data = await readDataFlips(texts, base, lab);
  return {
    tests,
    singles: [...data, ...singles.slice(0, singlesMax)],
    controls,
    textOf,
    hasExpectations: flips.length > 0 || data.length > 0,
    isExplained: !lab.wasRed || areFailuresAttributed(lab.before, deciding),
  };
}

/** In the files of the base that scripts compare with, one line each. */
async function readDataFlips(texts: ReadonlyMap<string, string>, base: StringSet, lab: ExperimentTools): Promise<readonly Flip[]> {
  const paths = new Set([...texts].flatMap(([path, text]) => (shellFile.test(path) ? findComparedFiles(path, text) : [])));
  const unchanged = [...paths].filter((path) => base.has(path) && !lab.changedPaths.includes(path)).slice(0, dataMax);
  const flips = await Promise.all(unchanged.map(async (path) => flipDataFile(path, (await lab.textAt("work", path)) ?? "")));
  return flips.flatMap((flip) => flip ?? []);
}
const dataMax = 2;

/**
 * Test files that can be left out if only the tests that the pass depends on matter, and those the work brought; and the files that matter.
 */
export async function findOmittableTests(
  check: Check,
  lab: ExperimentTools,
): Promise<{ readonly omitted: readonly string[]; readonly kept: readonly string[] }> {
  const { tests, textOf, isExplained } = await findDecidingTests(check, lab);
  const paths = await lab.pathsAt("work");
  const isTest = testsAmong(paths);
  const kept = new Set([...tests.map(({ test }) => test.path), ...lab.changedPaths.filter((path) => isTest.has(path))]);
  return {
    omitted: isExplained ? omittableFiles(paths, kept, { used: [check.command, ...lab.commands], textOf }) : [],
    kept: [...kept].slice(0, keptMax),
  };
}

const keptMax = 20;
