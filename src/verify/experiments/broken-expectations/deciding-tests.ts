// deciding-tests: finds the tests that a pass depends on (they did not pass before the work and
// pass now), and those of them that don't fail when their expectation is made wrong.
//
// Invariants:
//   R1. An expectation in every one of them is made wrong, all in one run; each has to be reported.
//       A test that stays green is tried again, without those that did not.
//   R2. The tests that failed before are those that the check reported then. If it did not report
//       each, all tests count that it did not name as passed.
//   R3. A test that stays green is reported by name, never as an accusation: before the work it
//       could not pass, so nothing shows what it would have noticed then.
//   R4. A test that is marked as skipped does not count: it shows nothing. (To mark one is a change
//       of a protected file.)
//   R5. A test in a file that the check does not run is none of its own: if it names all tests that
//       ran, and none of that file.

import { listSome } from "../../../kit/list-some.ts";
import { listBreakages } from "./breakages.ts";
import { isNameOfTest, isNameOfFile, type TestCase } from "../source-text/test-cases.ts";
import { shuffle } from "./choose-flips.ts";
import { createAssertionFlips } from "./assertion-flips.ts";
import { type Flip, isInTestOfLine } from "./flip.ts";
import { createLiteralFlips } from "./literal-flips.ts";
import type { FlipOutcome, Observed } from "./noticed-flips.ts";

/**
 * A test that the pass depends on. `flips`: ways to make one of its expectations wrong, the
 * strongest first.
 */
export type DecidingTest = { readonly test: TestCase; readonly flips: readonly Flip[] };
/**
 * A test that stays green. `flip`: what it did not notice; null if nothing in it could be made
 * wrong.
 */
export type SilentTest = { readonly test: TestCase; readonly flip: Flip | null };

/**
 * So many tests of the judging files are considered, and so many of those that decide are broken.
 */
const casesMax = 600;
export const decidingTestsMax = 200;

/**
 * The tests that a pass depends on. `current` and `earlier`: the tests of the files that judge, as
 * they are judged and as they were before the work. `before` and `wasRed`: what the check reported
 * then, and whether it failed.
 */
export function filterDeciding(
  current: readonly TestCase[],
  earlier: readonly TestCase[],
  before: Observed | null,
  wasRed: boolean,
): readonly TestCase[] {
  const earlierKeys = new Set(earlier.map(testKey));
  const candidates = current
    .slice(0, casesMax)
    .filter((test) => !test.isSkipped && !containsOther(test, current)); // R4

  const isNew = (test: TestCase): boolean => !earlierKeys.has(testKey(test));
  if (!wasRed) return candidates.filter(isNew);
  const failures = attributeFailures(before, candidates);

  return candidates.filter((test) => isNew(test) || mayHaveFailed(test, failures)); // R2
}

/** The tests of files that the check runs, as far as the names of its tests tell (R5). */
export function filterRunFiles(tests: readonly TestCase[], now: Observed): readonly TestCase[] {
  const names = [...(now.passedNames ?? []), ...now.failed];
  const { ran, skipped } = now.tests ?? { ran: 0, skipped: 0 };
  if (names.length === 0 || names.length < ran - skipped) return tests;

  const isRun = (path: string): boolean =>
    tests.some((test) => test.path === path && (test.title === null || hasName(test, names))) ||
    names.some((name) => isNameOfFile(name, path));
  const runPaths = new Set([...new Set(tests.map(({ path }) => path))].filter(isRun));

  return tests.filter(({ path }) => runPaths.has(path));
}

const testKey = ({ path, text }: TestCase): string => `${path}\n${text.trim()}`;

/** Whether a test is a group of others: those count, and not the group. */
const containsOther = (outer: TestCase, tests: readonly TestCase[]): boolean =>
  tests.some(
    (inner) =>
      inner !== outer &&
      inner.path === outer.path &&
      inner.from >= outer.from &&
      inner.to <= outer.to &&
      inner.text !== outer.text &&
      outer.text.includes(inner.text), // not beside it in one line
  );

/** What is known of the tests that failed before the work. */
type EarlierFailures = {
  /** Names of tests, and of files whose tests were not reported one by one. */
  readonly testNames: readonly string[];
  readonly fileNames: readonly string[];
  /** Files with a test that was reported by name. */
  readonly namedPaths: ReadonlySet<string>;
  /** Whether every failure is attributed to a test, a file or a group of tests. */
  readonly isComplete: boolean;
  readonly passedNames: readonly string[];
};

function attributeFailures(before: Observed | null, tests: readonly TestCase[]): EarlierFailures {
  const failed = [...(before?.failed ?? [])];
  const testNames = failed.filter((name) => tests.some((test) => isNameOfTest(name, test)));
  const fileNames = failed.filter(
    (name) => !testNames.includes(name) && tests.some(({ path }) => isNameOfFile(name, path)),
  );

  const isGroup = (name: string): boolean =>
    failed.some((failedName) => failedName.startsWith(`${name} > `));
  return {
    testNames,
    fileNames,
    namedPaths: new Set(tests.filter((test) => hasName(test, testNames)).map(({ path }) => path)),
    isComplete:
      before !== null &&
      failed.every((name) => testNames.includes(name) || fileNames.includes(name) || isGroup(name)),
    passedNames: [...(before?.passedNames ?? [])],
  };
}

/**
 * By its name, or with its whole file; if not every failure is known, every test that isn't known
 * to have passed. R2
 */
function mayHaveFailed(
  test: TestCase,
  { testNames, fileNames, namedPaths, isComplete, passedNames }: EarlierFailures,
): boolean {
  const isFileReported =
    !namedPaths.has(test.path) && fileNames.some((name) => isNameOfFile(name, test.path));
  return hasName(test, testNames) || isFileReported || (!isComplete && !hasName(test, passedNames));
}

const hasName = (test: TestCase, names: readonly string[]): boolean =>
  names.some((name) => isNameOfTest(name, test));

/**
 * The tests with what can be made wrong in each. `words`: identifiers that the work added;
 * assertions about them come first.
 */
export function findTestFlips(
  tests: readonly TestCase[],
  textOf: (path: string) => string,
  { seed, nonce, words, flipsOf }: FlipSearch,
): readonly DecidingTest[] {
  const findFlips =
    flipsOf ??
    ((path) => [
      ...createAssertionFlips(path, textOf(path), nonce),
      ...createLiteralFlips(path, textOf(path)),
    ]);

  const flipsByPath = new Map(
    [...new Set(tests.map(({ path }) => path))].map((path) => [path, findFlips(path)]),
  );

  return tests.map((test) => {
    const isInside = (flip: Flip): boolean =>
      test.from <= flip.line &&
      flip.line + flip.was.split("\n").length - 1 <= test.to &&
      isInTestOfLine(flip, test.text);
    const flips = (flipsByPath.get(test.path) ?? []).filter(isInside);

    const inRandomOrder = shuffle(
      flips,
      seed,
      ({ path, line, broken }) => `${path}:${line}:${broken}`,
    );

    return {
      test,
      flips: inRandomOrder.toSorted(
        (left, right) => scoreRelevance(right, words) - scoreRelevance(left, words),
      ),
    };
  });
}

type FlipSearch = {
  readonly seed: string;
  readonly nonce: string;
  readonly words: ReadonlySet<string>;
  /** What can be broken in a file, if it is not what its assertions expect. */
  readonly flipsOf?: (path: string) => readonly Flip[];
};

/**
 * By score; what mentions the work gains half a point: more than `otherKindPenalty`, less than the
 * steps between kinds of expectations.
 */
export const scoreRelevance = ({ score, was }: Flip, words: ReadonlySet<string>): number =>
  score * 2 + (mentionsAny(was, words) ? 1 : 0);
export const mentionsAny = (text: string, words: ReadonlySet<string>): boolean =>
  (text.match(/[A-Za-z_$][\w$]+/g) ?? []).some((word) => words.has(word));

const roundsMax = 6;

/** A test and what is to be made wrong in it next. */
type Trial = { readonly deciding: DecidingTest; readonly flip: Flip };

/**
 * Tries the tests again that missed their flip (R1), in rounds. A test is silent if it misses its
 * flip in a round in which nothing else is noticed, or if nothing is left to be made wrong in it.
 * `first`: the result of the run in which they missed it. `late`: it took too long.
 */
export async function findSilentTests(
  missedTests: readonly DecidingTest[],
  first: FlipOutcome,
  { runFlips, run, textOf }: FlipRunner,
): Promise<{ readonly silent: readonly SilentTest[]; readonly noticed: readonly Flip[] } | "late"> {
  const silent: SilentTest[] = [];
  const noticed: Flip[] = [];

  /** The next trial of a test; without one it is silent. */
  const toTrials = (deciding: DecidingTest, flip: Flip | undefined): readonly Trial[] => {
    if (flip !== undefined) return [{ deciding, flip }];
    silent.push({ test: deciding.test, flip: null });
    return [];
  };
  // If nothing could be loaded, another of the flips may be to blame.
  const isBlamed = first.noticed.length > 0 || first.unloaded.length <= missedTests.length;
  let trials = missedTests.flatMap((deciding) =>
    toTrials(
      deciding,
      isBlamed ? chooseNextFlip(deciding, first, deciding.flips[0]) : deciding.flips[0],
    ),
  );
  for (let round = 0; round < roundsMax && trials.length > 0; round += 1) {
    const result = await runFlips(trials.map(({ flip }) => flip));
    if (result === null) return "late";
    noticed.push(...result.noticed);
    const isUndecided = ({ deciding, flip }: Trial): boolean =>
      result.unloaded.includes(flip) ||
      result.noticed.length > 0 || // the run may have ended at the first failure
      (flip.score <= guessedScore && deciding.flips.some(({ score }) => score < flip.score));

    const missed = trials.filter(({ flip }) => result.missed.includes(flip));
    for (const trial of missed) {
      if (!isUndecided(trial)) silent.push({ test: trial.deciding.test, flip: trial.flip });
    }

    trials = missed
      .filter(isUndecided)
      .flatMap(({ deciding, flip }) => toTrials(deciding, chooseNextFlip(deciding, result, flip)));
  }

  silent.push(...trials.map(({ deciding }) => ({ test: deciding.test, flip: null })));
  const silentInRunFiles =
    silent.length === 0 ? [] : await keepTestsInRunFiles(silent, run, textOf);
  return silentInRunFiles === "late" ? "late" : { silent: silentInRunFiles, noticed };
}

export type FlipRunner = {
  /** Breaks these and nothing else; null if it took too long. */
  readonly runFlips: (flips: readonly Flip[]) => Promise<FlipOutcome | null>;
  readonly run: (
    edits: readonly { readonly path: string; readonly text: string }[],
  ) => Promise<Observed | null>;
  readonly textOf: (path: string) => string;
};

/** The expectation was only guessed, by its position among the arguments of a helper. */
const guessedScore = 3;

/**
 * The same flip again or, if its file could not be loaded with it or it was only guessed, the next
 * weaker one.
 */
function chooseNextFlip(
  { flips }: DecidingTest,
  result: FlipOutcome,
  flip: Flip | undefined,
): Flip | undefined {
  if (flip === undefined) return undefined;
  const weaker = flips.find(({ score }) => score < flip.score);
  if (result.unloaded.includes(flip)) return weaker;

  return flip.score > guessedScore ? flip : (weaker ?? flip);
}

/** Without the tests in files that the check does not run: it passes whatever is in those. */
async function keepTestsInRunFiles(
  silent: readonly SilentTest[],
  run: FlipRunner["run"],
  textOf: FlipRunner["textOf"],
): Promise<readonly SilentTest[] | "late"> {
  const paths = [...new Set(silent.map(({ test }) => test.path))];
  const edits = paths.flatMap((path) => {
    const breakage = listBreakages(path).at(-1);
    return breakage === undefined ? [] : [{ path, text: breakage.apply(textOf(path)) }];
  });
  if (edits.length === 0) return silent;
  const observed = await run(edits);
  if (observed === null) return "late";
  if (observed.passed) return [];
  const named = paths.filter((path) =>
    [...observed.failed].some((name) => isNameOfFile(name, path)),
  );

  return named.length === 0 ? silent : silent.filter(({ test }) => named.includes(test.path));
}

const shownMax = 5;

export function describeSilent(silent: readonly SilentTest[]): string {
  const describeTest = ({ test, flip }: SilentTest): string =>
    `${test.name} (${test.path}:${flip?.line ?? test.from})`;
  const list = (tests: readonly SilentTest[]): string =>
    listSome(tests.map(describeTest), shownMax);
  const [unnoticed, unflippable] = [
    silent.filter(({ flip }) => flip !== null),
    silent.filter(({ flip }) => flip === null),
  ];

  return [
    unnoticed.length === 0 ? "" : `with another expectation they pass as well: ${list(unnoticed)}`,
    unflippable.length === 0 ? "" : `nothing they expect could be changed: ${list(unflippable)}`,
  ]
    .filter((text) => text !== "")
    .join("; ");
}

/** Identifiers that the work added: words of its files that the same files did not have before. */
export function findAddedIdentifiers(
  texts: readonly { readonly was: string | null; readonly is: string }[],
): ReadonlySet<string> {
  const words = new Set<string>();
  for (const { was, is } of texts) {
    const before = new Set(was?.match(/[A-Za-z_$][\w$]+/g) ?? []);
    for (const word of is.match(/[A-Za-z_$][\w$]+/g) ?? []) {
      if (!before.has(word) && !commonWord.test(word)) words.add(word);
    }
  }

  return words;
}
const commonWord =
  /^(?:def|return|export|const|let|var|function|import|from|class|self|this|for|while|if|else|elif|pub|fn|func|int|static|void|include|true|false|null|None|True|False|assert\w*|equal|expect|test|range|not|and|or|in|is|of|new|string|number|use|mod|package|as|async|await|pass)$/;
