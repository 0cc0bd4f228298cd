// noticed-flips: finds out which of the deliberately wrong expectations (flips) a check has
// reported. Pure.
//
// Invariants:
//   N1. A failing test counts for the flip in it, and for nothing else. If a file's tests cannot be
//       distinguished, it counts for the nearest flip at or below the line that names it.
//   N2. A check that names its failures must name this test. A check that names none must count as
//       many failures as flips; one that counts none is judged by its exit code alone, which shows
//       nothing if it failed without the flips too.

import type { TestTally } from "../../../contracts/evidence.ts";
import { detectLanguage } from "../../protected/kinds.ts";
import {
  canNameBeIn,
  findTestCases,
  isNameOfTest,
  isNameOfFile,
  type TestCase,
} from "../source-text/test-cases.ts";
import { findExampleCases } from "./examples.ts";
import { type Flip, findFlipLine, isInTestOfLine } from "./flip.ts";

/**
 * The result of one run of a check: whether it passed, and the names of the tests that it reports
 * as failed.
 */
export type Observed = {
  readonly passed: boolean;
  readonly failed: ReadonlySet<string>;
  readonly tests: TestTally | null;
  /** The tests it names as passed, if it names those. */
  readonly passedNames?: ReadonlySet<string>;
  /** What it printed, its two ends if that was much. */
  readonly readOutput?: () => string;
};

export type FlipOutcome = {
  readonly noticed: readonly Flip[];
  readonly missed: readonly Flip[];
  /** Tests without a flip that fail and did not before. */
  readonly otherFailures: readonly string[];
  /** Missed flips that may not have been run: their file could not be loaded with them. */
  readonly unloaded: readonly Flip[];
};

type EarlierRun = Pick<Observed, "failed" | "tests"> & Partial<Pick<Observed, "passed">>;

/** `texts`: the files the flips are in, by path, as they were before. */
export function findNoticedFlips(
  flips: readonly Flip[],
  before: EarlierRun,
  now: Observed,
  texts: ReadonlyMap<string, string>,
): FlipOutcome {
  if (now.passed) return reportAllMissed(flips);
  const names = [...now.failed].filter((name) => !before.failed.has(name));
  if (names.length === 0) return judgeByCounts(flips, before, now); // N2

  const cases = [...texts].flatMap(([path, text]) => [
    ...findTestCases(path, text),
    ...findExampleCases(path, text),
  ]);
  const testOf = new Map(flips.map((flip) => [flip, findTestOf(flip, cases, texts)]));

  const areAttributable = areTestsNamed(names, flips, cases);
  if (!areAttributable && countNewFailures(before, now) >= flips.length) {
    return reportAllNoticed(flips);
  }

  const titleless = areAttributable
    ? flips.filter((flip) => (testOf.get(flip)?.title ?? null) === null)
    : flips;

  const attribution = attributeNames(names, { flips, titleless, cases, testOf, texts });
  const { noticed, otherTests, unknownNames, loadedPaths } = attribution;

  // A name that is in no file was computed (from a table of cases, for example): it counts for a
  // flip that is still unnoticed.
  const unnoticed = titleless.filter((flip) => !noticed.has(flip));
  for (const flip of unnoticed.slice(0, unknownNames.length)) noticed.add(flip);
  const surplusNames = unknownNames.slice(unnoticed.length);
  const mayBelongToFlips = titleless.some((flip) => testOf.get(flip) !== null);

  const missed = flips.filter((flip) => !noticed.has(flip));
  const isUnloaded = ({ path }: Flip): boolean =>
    !loadedPaths.has(path) && names.some((name) => isNameOfFile(name, path));

  return {
    noticed: flips.filter((flip) => noticed.has(flip)),
    missed,
    otherFailures: mayBelongToFlips ? otherTests : [...otherTests, ...surplusNames],
    unloaded: missed.filter(isUnloaded),
  };
}

const reportAllNoticed = (flips: readonly Flip[]): FlipOutcome => ({
  noticed: flips,
  missed: [],
  otherFailures: [],
  unloaded: [],
});

const reportAllMissed = (flips: readonly Flip[], unloaded: readonly Flip[] = []): FlipOutcome => ({
  noticed: [],
  missed: flips,
  otherFailures: [],
  unloaded,
});

const countNewFailures = (before: EarlierRun, now: Observed): number =>
  (now.tests?.failed ?? 0) - (before.tests?.failed ?? 0);

/** Judges a run that failed and names no new failure, by its counts or its exit code (N2). */
function judgeByCounts(flips: readonly Flip[], before: EarlierRun, now: Observed): FlipOutcome {
  if (countsTests(before, now)) {
    return countNewFailures(before, now) >= flips.length
      ? reportAllNoticed(flips)
      : reportAllMissed(flips);
  }

  const isExitCodeEnough = before.tests === null && before.passed !== false;
  return isExitCodeEnough ? reportAllNoticed(flips) : reportAllMissed(flips, flips);
}

/** A compiler counts errors; if tests ran before and none does now, nothing was tested. */
function countsTests(before: EarlierRun, { tests }: Observed): boolean {
  if (tests === null) return false;
  if (tests.ran > 0) return true;
  return tests.failed > 0 && (before.tests?.ran ?? 0) === 0;
}

/**
 * Whether failures can be attributed to tests. Some JavaScript runners name assertions and not
 * tests: then failures are only counted.
 */
function areTestsNamed(
  names: readonly string[],
  flips: readonly Flip[],
  cases: readonly TestCase[],
): boolean {
  if (flips.some(({ path }) => detectLanguage(path) !== "js")) return true;
  return names.some(
    (name) =>
      cases.some((test) => isNameOfTest(name, test)) ||
      flips.some(({ path }) => isNameOfFile(name, path)),
  );
}

type AttributedTo = {
  readonly flips: readonly Flip[];
  /** Those of the flips that a name leads to only by its place in the file. */
  readonly titleless: readonly Flip[];
  readonly cases: readonly TestCase[];
  readonly testOf: ReadonlyMap<Flip, TestCase | null>;
  readonly texts: ReadonlyMap<string, string>;
};

type Attribution = {
  readonly noticed: Set<Flip>;
  /** Names of tests without a flip. */
  readonly otherTests: readonly string[];
  /** Names that are in no file. */
  readonly unknownNames: readonly string[];
  /** Files of which a test was named: they were loaded. */
  readonly loadedPaths: ReadonlySet<string>;
};

/** Finds out for which flip each failing test counts (N1). */
function attributeNames(
  names: readonly string[],
  { flips, titleless, cases, testOf, texts }: AttributedTo,
): Attribution {
  const noticed = new Set<Flip>();
  const otherTests: string[] = [];
  const unknownNames: string[] = [];
  const loadedPaths = new Set<string>();

  const isFileOrGroup = (name: string): boolean =>
    flips.some(({ path }) => isNameOfFile(name, path)) ||
    names.some((other) => other.startsWith(`${name} > `));

  for (const name of names) {
    if (isFileOrGroup(name)) continue;
    const tests = cases.filter((test) => isNameOfTest(name, test));
    for (const { path } of tests) loadedPaths.add(path);

    if (tests.length === 0) {
      const nearest = findNearest(name, titleless, texts);
      if (nearest !== null) noticed.add(nearest);
      else if (findNearest(name, flips, texts) === null) unknownNames.push(name);
      continue;
    }

    const flipsInTests = flips.filter((flip) => tests.some((test) => test === testOf.get(flip)));
    // Of tests with the same name, each failure counts for one that has not failed yet.
    const chosen = flipsInTests.find((flip) => !noticed.has(flip)) ?? flipsInTests[0];
    if (chosen === undefined) {
      otherTests.push(name);
      continue;
    }

    for (const flip of flipsInTests) {
      if (testOf.get(flip) === testOf.get(chosen)) noticed.add(flip);
    }
  }

  return { noticed, otherTests, unknownNames, loadedPaths };
}

/** The innermost test that a flip is in. */
function findTestOf(
  flip: Flip,
  cases: readonly TestCase[],
  texts: ReadonlyMap<string, string>,
): TestCase | null {
  const line = findFlipLine((texts.get(flip.path) ?? "").split("\n"), flip) + 1;
  const around = cases.filter(
    ({ path, from, to, text }) =>
      path === flip.path && from <= line && line <= to && isInTestOfLine(flip, text),
  );
  return around.toSorted((left, right) => left.to - left.from - (right.to - right.from))[0] ?? null;
}

/** The flip that is nearest below a line with a failing test's name. */
function findNearest(
  name: string,
  flips: readonly Flip[],
  texts: ReadonlyMap<string, string>,
): Flip | null {
  const leaf = toLeafName(name);
  const near: { readonly flip: Flip; readonly distance: number }[] = [];

  for (const [path, text] of texts) {
    const fileFlips = flips
      .filter((flip) => flip.path === path)
      .toSorted((left, right) => left.line - right.line);
    if (fileFlips.length === 0 || !canNameBeIn(name, path)) continue;
    for (const line of findLines(text, leaf)) {
      const flip = fileFlips.find((candidate) => candidate.line >= line);
      if (flip !== undefined) near.push({ flip, distance: flip.line - line });
    }
  }

  return near.toSorted((left, right) => left.distance - right.distance)[0]?.flip ?? null;
}

/** The test's own name, without suites, files and arguments. */
function toLeafName(name: string): string {
  const leaf = name.split(/ > |::| › /).at(-1) ?? name;
  const method = /^(\w+) \([\w.]+\)/.exec(leaf)?.[1]; // unittest
  const subject = /^\S+ (Test\w+(?:\/.*)?)$/.exec(leaf)?.[1]?.split("/")[0]; // go: package and test

  return (method ?? subject ?? leaf).replace(/\[.*\]$/, "").trim();
}

function findLines(text: string, leaf: string): readonly number[] {
  if (leaf === "") return [];
  const isWord = /^\w+$/.test(leaf);
  return text.split("\n").flatMap((line, lineIndex) => {
    const index = line.indexOf(leaf);
    if (index === -1) return [];
    const isApart =
      !isWord || (!/\w/.test(line[index - 1] ?? "") && !/\w/.test(line[index + leaf.length] ?? ""));

    return isApart ? [lineIndex + 1] : [];
  });
}
