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
} from "../source/test-cases.ts";
import { findExampleCases } from "./examples.ts";
import { type Flip, findFlipLine } from "./literal-flips.ts";

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

/** `texts`: the files the flips are in, by path, as they were before. */
export function findNoticedFlips(
  flips: readonly Flip[],
  before: Pick<Observed, "failed" | "tests"> & Partial<Pick<Observed, "passed">>,
  now: Observed,
  texts: ReadonlyMap<string, string>,
): FlipOutcome {
  if (now.passed) return { noticed: [], missed: flips, otherFailures: [], unloaded: [] };
  const names = [...now.failed].filter((name) => !before.failed.has(name));
  if (names.length === 0) {
    const counted = now.tests === null ? null : now.tests.failed - (before.tests?.failed ?? 0);
    // A compiler counts errors; if tests ran before and none does now, nothing was tested.
    const isSilent =
      counted === null ||
      (now.tests?.ran === 0 && (now.tests.failed === 0 || (before.tests?.ran ?? 0) > 0));
    if (isSilent ? before.tests === null && before.passed !== false : counted >= flips.length) {
      return { noticed: flips, missed: [], otherFailures: [], unloaded: [] };
    } // N2

    return { noticed: [], missed: flips, otherFailures: [], unloaded: isSilent ? flips : [] };
  }

  const cases = [...texts].flatMap(([path, text]) => [
    ...findTestCases(path, text),
    ...findExampleCases(path, text),
  ]);
  const testOf = new Map(flips.map((flip) => [flip, findTestOf(flip, cases, texts)]));

  // Some JavaScript runners name assertions and not tests: then nothing can be attributed, and
  // failures are counted.
  const namesTests =
    flips.some(({ path }) => detectLanguage(path) !== "js") ||
    names.some(
      (name) =>
        cases.some((test) => isNameOfTest(name, test)) ||
        flips.some(({ path }) => isNameOfFile(name, path)),
    );
  if (!namesTests && (now.tests?.failed ?? 0) - (before.tests?.failed ?? 0) >= flips.length) {
    return { noticed: flips, missed: [], otherFailures: [], unloaded: [] };
  }

  const unattributable = namesTests
    ? flips.filter((flip) => (testOf.get(flip)?.title ?? null) === null)
    : flips;

  const noticed = new Set<Flip>();
  const loadedPaths = new Set<string>();
  const unknownNames: string[] = [];
  const beside: string[] = [];

  for (const name of names) {
    if (
      flips.some(({ path }) => isNameOfFile(name, path)) ||
      names.some((other) => other.startsWith(`${name} > `))
    ) {
      continue;
    }

    const fitting = cases.filter((test) => isNameOfTest(name, test));
    const itsFlips = flips.filter((flip) => fitting.some((test) => test === testOf.get(flip)));

    if (fitting.length > 0) {
      for (const { path } of fitting) loadedPaths.add(path);
      const first = itsFlips.find((flip) => !noticed.has(flip)) ?? itsFlips[0];
      if (first === undefined) beside.push(name);
      for (const flip of itsFlips) {
        if (first !== undefined && testOf.get(flip) === testOf.get(first)) noticed.add(flip);
      }

      continue;
    }

    const near = findNearest(name, unattributable, texts); // N1
    if (near !== null) noticed.add(near);
    else if (findNearest(name, flips, texts) === null) unknownNames.push(name);
  }

  // A name that is in no file was computed (from a table of cases, for example): it counts for a
  // flip that is still unnoticed.
  const unnoticed = unattributable.filter((flip) => !noticed.has(flip));
  for (const flip of unnoticed.slice(0, unknownNames.length)) noticed.add(flip);
  const missed = flips.filter((flip) => !noticed.has(flip));

  return {
    noticed: flips.filter((flip) => noticed.has(flip)),
    missed,
    otherFailures: [
      ...beside,
      ...(unattributable.some((flip) => testOf.get(flip) !== null)
        ? []
        : unknownNames.slice(unnoticed.length)),
    ],
    unloaded: missed.filter(
      ({ path }) => !loadedPaths.has(path) && names.some((name) => isNameOfFile(name, path)),
    ),
  };
}

/** The innermost test that a flip is in. */
function findTestOf(
  flip: Flip,
  cases: readonly TestCase[],
  texts: ReadonlyMap<string, string>,
): TestCase | null {
  const line = findFlipLine((texts.get(flip.path) ?? "").split("\n"), flip) + 1;
  const around = cases.filter(
    ({ path, from, to }) => path === flip.path && from <= line && line <= to,
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
