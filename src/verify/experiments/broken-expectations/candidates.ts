// candidates: finds the files that contain a check's expectations, and what in them can be made
// wrong.

import type { Check } from "../../../contracts/evidence.ts";
import { asSet, type StringSet } from "../../../kit/as-set.ts";
import { findProtectionRow, isProgramText } from "../../protected/kinds.ts";
import { maskText } from "../../protected/mask-text.ts";
import { filterPrograms, filterTests } from "../../protected/program-and-test-paths.ts";
import { findRustTests, isInside } from "../source-text/rust-places.ts";
import { findRedefined } from "../source-text/definitions.ts";
import { createLineCounter, findTestCases, type TestCase } from "../source-text/test-cases.ts";
import { changeDigit, createNonce, findForm, shuffle } from "./choose-flips.ts";
import { areExamplesRun, createExampleFlips, findExampleCases } from "./examples.ts";
import { createAssertionFlips } from "./assertion-flips.ts";
import { assertionScore } from "./assertion.ts";
import { shellFile } from "./expectation-lines.ts";
import { applyFlips, type Flip } from "./flip.ts";
import { createLiteralFlips } from "./literal-flips.ts";
import { filesReadMax, type Lab, type Side } from "../lab.ts";
import { findJudges } from "./find-judges.ts";
import { areFailuresAttributed, findOmittableFiles } from "./needed-test-files.ts";
import { findComparedFiles, flipDataFile } from "./shell-expectations.ts";
import {
  findAddedIdentifiers,
  type DecidingTest,
  decidingTestsMax,
  filterDeciding,
  filterRunFiles,
  findTestFlips,
  mentionsAny,
  scoreRelevance,
} from "./deciding-tests.ts";

const singlesMax = 2;
/**
 * So many more forms of comparison are tried: those whose expected value code makes, which may then
 * be compared by code as well.
 */
const madeFormsMax = 2;
/** The least score of what is directly beside an assertion, not merely near one. */
const strongScore = 3;

/**
 * Literals near assertions that can be made wrong: in the files the command names, else in tests
 * and in programs that the base's scripts start, with the files beside them. Files of the base come
 * first: the work's own tests judge only the work.
 */
export async function findCandidates(check: Check, lab: Lab): Promise<readonly Flip[]> {
  const workPrograms = filterPrograms(await lab.pathsAt("work"));
  const basePaths = asSet(await lab.pathsAt("base"));
  const hasTests = (lab.now.tests?.ran ?? 0) > 0;
  const tests = filterTests(workPrograms);

  for (const isJudge of [await findJudges(check, lab), await findJudges(null, lab)]) {
    const judges = workPrograms.filter(isJudge);
    // A program that the work wrote or changed, and that the command starts, is the work. If tests
    // run beside it, they judge.
    const changed = hasTests ? await filterChanged(judges, lab) : [];
    const baseFlips = await readFlips(
      judges.filter((path) => basePaths.has(path) && (tests.has(path) || !changed.includes(path))),
      "base",
      lab,
    );
    if (baseFlips.length > 0) return baseFlips;

    const workFlips = await readFlips(
      hasTests ? judges.filter((path) => tests.has(path)) : judges,
      "work",
      lab,
    );
    if (workFlips.length > 0) return workFlips;
  }

  return [];
}

async function filterChanged(paths: readonly string[], lab: Lab): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const path of paths.slice(0, filesReadMax)) {
    if ((await lab.textAt("base", path)) !== (await lab.textAt("work", path))) changed.push(path);
  }

  return changed;
}

async function readFlips(paths: readonly string[], side: Side, lab: Lab): Promise<readonly Flip[]> {
  const flips: Flip[] = [];
  for (const path of shuffle(paths, lab.seed, (candidate) => candidate).slice(0, filesReadMax)) {
    const [text, workText] = [
      await lab.textAt(side, path),
      side === "work" ? null : await lab.textAt("work", path),
    ];
    if (text === null) continue;
    const flipsOfTests = createLiteralFlips(path, text).filter(isInRunTests(path, text, lab));
    const usable = flipsOfTests.filter(
      (flip) => workText === null || applyFlips(workText, [flip]) !== null,
    );
    flips.push(...usable);
  }

  return flips;
}

/**
 * Whether a flip is not in Go's `TestMain`, which prepares all tests of a package (without it none
 * of them runs and fails), nor in tests of Rust if the check runs the code alone.
 */
function isInRunTests(path: string, text: string, lab: Lab): (flip: Flip) => boolean {
  if (path.endsWith(".rs")) {
    const tests = findRustTests(maskText(text, "rust"));
    const lineAt = createLineCounter(text);
    const lines = tests.map(({ from, to }) => ({ from: lineAt(from), to: lineAt(to) + 1 }));
    const isSource = findProtectionRow(path)?.part === "rust_source";
    return ({ line }) =>
      runsRustTests(lab) && (isInside(lines, line) || (tests.length === 0 && !isSource));
  }

  const lines = text.split("\n");
  const from = lines.findIndex((line) => line.startsWith("func TestMain("));
  const to = from === -1 ? -1 : lines.indexOf("}", from);

  return ({ line }) => line <= from || line > to + 1;
}

const runsRustTests = ({ now, commands }: Lab): boolean =>
  (now.tests?.ran ?? 0) > 0 ||
  commands.some((command) => /\bcargo\b[^;&|]*\s(?:t|test|nextest)\b/.test(command));

export type DecidingTests = {
  /** The tests the pass depends on, with what can be made wrong in each. */
  readonly tests: readonly DecidingTest[];
  /** For a check that names no tests: expectations about the work, to be made wrong one by one. */
  readonly singles: readonly Flip[];
  /** Other assertions in the same files. */
  readonly controls: readonly Flip[];
  /** The text of a file with tests, as it is judged. */
  readonly textOf: (path: string) => string;
  /** Whether anything in these files can be made wrong. */
  readonly hasExpectations: boolean;
  /** Whether every failure before the work is attributed to one of the tests. */
  readonly isExplained: boolean;
};

/**
 * If the files that the command names hold no expectation (a script that compiles and starts the
 * tests), all test files are searched.
 */
export async function findDecidingTests(check: Check, lab: Lab): Promise<DecidingTests> {
  const named = await findDecidingTestsIn(await findJudges(check, lab), check, lab);
  return named.hasExpectations
    ? named
    : findDecidingTestsIn(await findJudges(null, lab), check, lab);
}

async function findDecidingTestsIn(
  isJudge: (path: string) => boolean,
  check: Check,
  lab: Lab,
): Promise<DecidingTests> {
  const basePaths = asSet(await lab.pathsAt("base"));
  const reportedNames = [...(lab.before?.failed ?? []), ...(lab.before?.passedNames ?? [])];
  const hasExamples = (path: string): boolean =>
    areExamplesRun(path, [check.command, ...lab.commands], reportedNames);
  const listCases = (path: string, text: string): readonly TestCase[] => [
    ...findTestCases(path, text),
    ...(hasExamples(path) ? findExampleCases(path, text) : []),
  ];

  const changedFirst = (left: string, right: string): number =>
    Number(lab.changedPaths.includes(right)) - Number(lab.changedPaths.includes(left));
  const judges = shuffle(
    (await lab.pathsAt("work")).filter(isJudge),
    lab.seed,
    (path) => path,
  ).toSorted(changedFirst);

  const documented = lab.changedPaths.filter(
    (path) => !isJudge(path) && isProgramText(path) && hasExamples(path),
  );

  const texts = new Map<string, string>();
  const earlierCases: TestCase[] = [];

  for (const path of [...judges, ...documented].slice(0, filesReadMax)) {
    const text = await lab.textAt("work", path);
    if (text !== null) texts.set(path, text);
    const baseText = basePaths.has(path) ? await lab.textAt("base", path) : null;
    if (baseText !== null) earlierCases.push(...listCases(path, baseText));
  }

  const words = await findWordsOfWork(lab, texts);
  const cases = [...texts].flatMap(([path, text]) => listCases(path, text));
  const run = filterRunFiles(cases, lab.now);
  const allDeciding = filterDeciding(run, earlierCases, lab.before, lab.wasRed);
  const deciding = shuffle(allDeciding, lab.seed, ({ path, from }) => `${path}:${from}`).slice(
    0,
    decidingTestsMax,
  );

  const nonce = createNonce(lab.seed);
  const textOf = (path: string): string => texts.get(path) ?? "";

  const flipsOf = (path: string): readonly Flip[] => [
    ...(hasExamples(path) ? createExampleFlips(path, textOf(path), nonce) : []),
    ...(documented.includes(path)
      ? []
      : [
          ...createAssertionFlips(path, textOf(path), nonce),
          ...createLiteralFlips(path, textOf(path)),
        ]),
  ];
  const flips = [...texts.keys()].flatMap((path) =>
    flipsOf(path).filter(isInRunTests(path, textOf(path), lab)),
  );
  const singles = chooseSingles(flips, words, lab);
  const isSingle = (flip: Flip): boolean =>
    singles.some(({ line, path }) => path === flip.path && line === flip.line);
  const dataFlips = await readDataFlips(texts, basePaths, lab);

  return {
    tests: findTestFlips(deciding, textOf, { seed: lab.seed, nonce, words, flipsOf }),
    singles: [...dataFlips, ...singles],
    controls: flips.filter((flip) => flip.score >= strongScore && !isSingle(flip)),
    textOf,
    hasExpectations: flips.length > 0 || dataFlips.length > 0,
    isExplained: !lab.wasRed || areFailuresAttributed(lab.before, deciding),
  };
}

/**
 * What the work is about: identifiers that it added to its code, functions that it changed, and the
 * names of its files. `texts`: the files with tests, which don't count.
 */
async function findWordsOfWork(
  lab: Lab,
  texts: ReadonlyMap<string, string>,
): Promise<ReadonlySet<string>> {
  const sources = lab.changedPaths
    .filter((path) => isProgramText(path) && !texts.has(path))
    .slice(0, filesReadMax);
  const changes = await Promise.all(
    sources.map(async (path) => ({
      path,
      was: await lab.textAt("base", path),
      is: (await lab.textAt("work", path)) ?? "",
    })),
  );
  const redefined = changes.flatMap(({ path, was, is }) =>
    was === null ? [] : findRedefined(path, was, is).map((pair) => pair.is.name),
  );
  const fileNames = sources.map((path) => /([\w$]+)[^/]*$/.exec(path)?.[1] ?? "");

  return new Set([...findAddedIdentifiers(changes), ...redefined, ...fileNames]);
}

/**
 * The few flips that concern the work most, at most one in a line, and one of each form with a
 * value that code makes.
 */
function chooseSingles(
  flips: readonly Flip[],
  words: ReadonlySet<string>,
  lab: Lab,
): readonly Flip[] {
  const strongest = shuffle(flips, lab.seed, ({ path, line }) => `${path}:${line}`)
    .filter(({ score, was }) => mentionsAny(was, words) || (lab.wasRed && score >= strongScore))
    .toSorted((left, right) => scoreRelevance(right, words) - scoreRelevance(left, words));

  const isFirstInLine = ({ path, line }: Flip, index: number): boolean =>
    strongest.findIndex((flip) => flip.path === path && flip.line === line) === index;
  const all = strongest.filter(isFirstInLine);
  const expected = all.filter((flip) => !isAsked(flip));
  const ordered = expected.length > 0 ? expected : all;
  const chosen = ordered.slice(0, singlesMax);
  const isAboutWork = ({ was }: Flip): boolean => mentionsAny(was, words);
  const first = chosen.some(isAboutWork) ? undefined : ordered.find(isAboutWork);
  if (first !== undefined) chosen.unshift(first);
  const forms = new Set<string>();

  for (const flip of ordered.filter((candidate) => findForm(candidate).calls.length > 1)) {
    const form = findForm(flip).calls.join();
    if (forms.size === madeFormsMax || forms.has(form)) continue;
    forms.add(form);
    const changed = changeDigit(flip);
    if (changed !== null || !chosen.includes(flip)) chosen.push(changed ?? flip);
  }

  return chosen;
}

/**
 * Whether a flip seems to change what a test asks, not what it expects: another question may well
 * have the same answer.
 */
function isAsked(flip: Flip): boolean {
  const { calls, isLast } = findForm(flip);
  return calls.length > 1 && !isLast && flip.score < assertionScore;
}

/** One flip in each of the base's files that shell scripts compare with. */
async function readDataFlips(
  texts: ReadonlyMap<string, string>,
  base: StringSet,
  lab: Lab,
): Promise<readonly Flip[]> {
  const scripts = [...texts].filter(([path]) => shellFile.test(path));
  const scriptByData = new Map(
    scripts.flatMap(([script, text]) =>
      findComparedFiles(script, text).map((path) => [path, script] as const),
    ),
  );
  const unchanged = [...scriptByData]
    .filter(([path]) => base.has(path) && !lab.changedPaths.includes(path))
    .slice(0, dataMax);

  const flips = await Promise.all(
    unchanged.map(async ([path, readBy]) => {
      const flip = flipDataFile(path, (await lab.textAt("work", path)) ?? "");
      return flip === null ? [] : [{ ...flip, readBy }];
    }),
  );
  return flips.flat();
}
const dataMax = 2;

/**
 * Test files that a run can do without, and those it needs: those of tests that the pass depends
 * on, and those that the work changed.
 */
export async function findOmittableTests(
  check: Check,
  lab: Lab,
): Promise<{ readonly omitted: readonly string[]; readonly kept: readonly string[] }> {
  const { tests, textOf, isExplained } = await findDecidingTests(check, lab);
  const paths = await lab.pathsAt("work");
  const isTest = filterTests(paths);
  const kept = new Set([
    ...tests.map(({ test }) => test.path),
    ...lab.changedPaths.filter((path) => isTest.has(path)),
  ]);

  return {
    omitted: isExplained
      ? findOmittableFiles(paths, kept, { used: [check.command, ...lab.commands], textOf })
      : [],
    kept: [...kept].slice(0, keptMax),
  };
}

const keptMax = 20;
