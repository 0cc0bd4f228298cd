// candidates: which files contain a check's expectations, and what in them can be broken.

import type { Check } from "../../../contracts/evidence.ts";
import { asSet, type StringSet } from "../../../kit/as-set.ts";
import { isProgramText } from "../../protected/kinds.ts";
import { programsAmong, testsAmong } from "../../protected/listed-kinds.ts";
import { pathsNamedIn } from "../../protected/programs.ts";
import { startedBy } from "../questions/non-code-files.ts";
import { casesIn, type TestCase } from "../source/test-cases.ts";
import { nonceOf, shuffled } from "./choose-breaks.ts";
import { areExamplesRun, exampleBreaks, exampleCases } from "./examples.ts";
import { breaksIn } from "./expectations.ts";
import { broken, type Flip, flipsIn, isShell } from "./flips.ts";
import { filesReadMax, type Laboratory, type Side } from "../laboratory.ts";
import { areExplained, leftOut } from "./needed-test-files.ts";
import { comparedFiles, dataFlip } from "./shell-expectations.ts";
import { breaksFor, decidingTestsIn, decidingTestsMax, mentionsAny, addedIdentifiers, relevanceOf } from "./deciding-tests.ts";

const singlesMax = 2;
/** What is directly beside an assertion, not merely near one. */
const strong = 3;

/**
 * Literals near assertions: in the files the command names, else in tests and in programs that the base's scripts start, with the files
 * beside them. Those of the base first: the work's own tests judge only the work.
 */
export async function candidatesFor(check: Check, lab: Laboratory): Promise<readonly Flip[]> {
  const here = programsAmong(await lab.pathsAt("work"));
  const there = asSet(await lab.pathsAt("base"));
  const hasTests = (lab.now.tests?.ran ?? 0) > 0;
  const tests = testsAmong(here);
  for (const isJudge of [await judgesOf(check, lab), await judgesOf(null, lab)]) {
    const judges = here.filter(isJudge);
    const base = await flipsOf(
      judges.filter((path) => there.has(path)),
      "base",
      lab,
    );
    if (base.length > 0) return base;
    // A program that the work wrote and the command names is the work. If tests run beside it, they judge.
    const own = await flipsOf(hasTests ? judges.filter((path) => tests.has(path)) : judges, "work", lab);
    if (own.length > 0) return own;
  }
  return [];
}

/** Which of the work's files contain a check's expectations; if there is no check, all that may. */
async function judgesOf(check: Check | null, lab: Laboratory): Promise<(path: string) => boolean> {
  const work = await lab.pathsAt("work");
  const isHere = (path: string): boolean => isProgramText(path) && work.includes(path); // called for the few that a command names
  const named = check === null ? new Set<string>() : pathsNamedIn([check.command]);
  if ([...named].some(isHere)) return (path) => isProgramText(path) && named.has(path);
  const base = asSet(await lab.pathsAt("base"));
  const started = startedBy(lab.used, { has: (path) => base.has(path) && isHere(path) });
  const isStarted = (path: string): boolean => started.paths.has(path) || started.folders.some((folder) => path.startsWith(`${folder}/`));
  const tests = testsAmong(work);
  return (path) => isProgramText(path) && (tests.has(path) || isStarted(path));
}

async function flipsOf(paths: readonly string[], side: Side, lab: Laboratory): Promise<readonly Flip[]> {
  const flips: Flip[] = [];
  for (const path of shuffled(paths, lab.seed, (one) => one).slice(0, filesReadMax)) {
    const [own, work] = [await lab.textAt(side, path), side === "work" ? null : await lab.textAt("work", path)];
    if (own === null) continue;
    const usable = flipsIn(path, own).filter((flip) => work === null || broken(work, [flip]) !== null);
    flips.push(...usable);
  }
  return flips;
}

/** The tests the pass depends on, with what can be broken in each; for a check that names no tests, the assertions about the work. */
export async function decidingTestsFor(check: Check, lab: Laboratory) {
  const isJudge = await judgesOf(check, lab);
  const [here, base] = [await lab.pathsAt("work"), asSet(await lab.pathsAt("base"))];
  const judges = shuffled(here.filter(isJudge), lab.seed, (path) => path).toSorted(
    (one, other) => Number(lab.changed.includes(other)) - Number(lab.changed.includes(one)),
  );
  const texts = new Map<string, string>();
  const then: TestCase[] = [];
  const told = [...(lab.before?.failed ?? []), ...(lab.before?.held ?? [])];
  const hasExamples = (path: string): boolean => areExamplesRun(path, [check.command, ...lab.used], told);
  const documented = lab.changed.filter((path) => !isJudge(path) && isProgramText(path) && hasExamples(path));
  const allIn = (path: string, text: string): readonly TestCase[] => [
    ...casesIn(path, text),
    ...(hasExamples(path) ? exampleCases(path, text) : []),
  ];
  for (const path of [...judges, ...documented].slice(0, filesReadMax)) {
    const text = await lab.textAt("work", path);
    if (text !== null) texts.set(path, text);
    const was = base.has(path) ? await lab.textAt("base", path) : null;
    if (was !== null) then.push(...allIn(path, was));
  }
  const source = lab.changed.filter((path) => isProgramText(path) && !texts.has(path)).slice(0, filesReadMax);
  const changed = await Promise.all(
    source.map(async (path) => ({ was: await lab.textAt("base", path), is: (await lab.textAt("work", path)) ?? "" })),
  );
  const words = addedIdentifiers(changed);
  const nonce = nonceOf(lab.seed);
  const now = [...texts].flatMap(([path, text]) => allIn(path, text));
  const rested = shuffled(decidingTestsIn(now, then, lab.before, lab.wasRed), lab.seed, ({ path, from }) => `${path}:${from}`).slice(
    0,
    decidingTestsMax,
  );
  const textOf = (path: string): string => texts.get(path) ?? "";
  const breaksOf = (path: string): readonly Flip[] => [
    ...(hasExamples(path) ? exampleBreaks(path, textOf(path), nonce) : []),
    ...(documented.includes(path) ? [] : [...breaksIn(path, textOf(path), nonce), ...flipsIn(path, textOf(path))]),
  ];
  const tests = breaksFor(rested, textOf, { seed: lab.seed, nonce, words, breaksOf });
  const flips = [...texts.keys()].flatMap(breaksOf);
  const strongest = shuffled(flips, lab.seed, ({ path, line }) => `${path}:${line}`)
    .filter(({ score, was }) => mentionsAny(was, words) || (lab.wasRed && score >= strong))
    .toSorted((one, other) => relevanceOf(other, words) - relevanceOf(one, words));
  const singles = strongest.filter(
    ({ path, line }, index) => strongest.findIndex((one) => one.path === path && one.line === line) === index,
  );
  const controls = flips
    .filter(({ score }) => score >= strong)
    .filter((flip) => !singles.slice(0, singlesMax).some(({ line, path }) => path === flip.path && line === flip.line));
  const data = await dataFlips(texts, base, lab);
  return {
    tests,
    singles: [...data, ...singles.slice(0, singlesMax)],
    controls,
    textOf,
    isExplained: !lab.wasRed || areExplained(lab.before, rested),
  };
}

/** In the files of the base that scripts compare with, one line each. */
async function dataFlips(texts: ReadonlyMap<string, string>, base: StringSet, lab: Laboratory): Promise<readonly Flip[]> {
  const paths = new Set([...texts].flatMap(([path, text]) => (isShell.test(path) ? comparedFiles(path, text) : [])));
  const own = [...paths].filter((path) => base.has(path) && !lab.changed.includes(path)).slice(0, dataMax);
  const flips = await Promise.all(own.map(async (path) => dataFlip(path, (await lab.textAt("work", path)) ?? "")));
  return flips.flatMap((flip) => flip ?? []);
}
const dataMax = 2;

/**
 * Test files that can be left out if only the tests that the pass depends on matter, and those the work brought; and the files that matter.
 */
export async function narrowFor(
  check: Check,
  lab: Laboratory,
): Promise<{ readonly out: readonly string[]; readonly kept: readonly string[] }> {
  const { tests, textOf, isExplained } = await decidingTestsFor(check, lab);
  const paths = await lab.pathsAt("work");
  const isTest = testsAmong(paths);
  const kept = new Set([...tests.map(({ test }) => test.path), ...lab.changed.filter((path) => isTest.has(path))]);
  return {
    out: isExplained ? leftOut(paths, kept, { used: [check.command, ...lab.used], textOf }) : [],
    kept: [...kept].slice(0, keptMax),
  };
}

const keptMax = 20;
