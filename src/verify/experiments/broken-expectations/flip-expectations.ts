// flip-expectations: tries out a check with tests by making expectations wrong ("flipping" them): a
// sample in tests that passed before, and at least one in every test that the pass depends on.
// Invariants K1 and on: verify/experiments/canary.ts.

import { listSome } from "../../../kit/list-some.ts";
import type { Check, Experiment } from "../../../contracts/evidence.ts";
import { findCandidates, findDecidingTests } from "./candidates.ts";
import { findTestCases } from "../source-text/test-cases.ts";
import { chooseFlips, createNonce } from "./choose-flips.ts";
import { createAssertionFlips } from "./assertion-flips.ts";
import { findRedefined } from "../source-text/definitions.ts";
import { type Flip, formatPositions } from "./flip.ts";
import {
  filesReadMax,
  type Lab,
  reportMissed,
  reportNoticed,
  lateResult,
  reportUnknown,
} from "../lab.ts";
import { confirmBlind, missesAnyway } from "./confirm-blind.ts";
import { reportAnyway } from "./emptied-files.ts";
import type { FlipOutcome } from "./noticed-flips.ts";
import { runFlips } from "./run-flips.ts";
import { tryEquivalentTests } from "../equivalent-tests/equivalent-tests.ts";
import {
  type DecidingTest,
  describeSilent,
  findSilentTests,
  type FlipRunner,
} from "./deciding-tests.ts";

/** How often a sample is drawn, and how many flips it has (K3). */
const roundsMax = 3;
const flipsMax = 4;
/** How many flips about functions that the work changed are tried besides. */
const relevantMax = 12;
const placebosMax = 20;

/**
 * Flips a sample of expectations, up to three times. Null if no expectation was found that could be
 * flipped.
 */
export async function flipSample(check: Check, lab: Lab): Promise<Experiment | null> {
  const candidates = await findCandidates(check, lab);
  const paths = [...new Set(candidates.map(({ path }) => path))];
  const placebos = paths.slice(0, placebosMax);
  const ran = lab.now.tests?.ran ?? 0;
  const { tests: allTests, singles, controls, textOf } = await findDecidingTests(check, lab);

  const runner: FlipRunner = {
    runFlips: (flips) => runFlips(lab, flips, { side: "work", before: lab.now, placebos }),
    run: (edits) => lab.run("work", edits),
    textOf,
  };

  if (ran === 0) {
    const result = await flipOneByOne(check, lab, { singles, controls, runner, placebos });
    if (result !== null) return result;
  }

  const tests = ran > 0 ? allTests : []; // what is not run cannot fail
  const names = ran > 0 ? await findChangedFunctions(lab) : new Set<string>();
  let untried = candidates.filter(isInOtherTest(tests, textOf));
  let isStillGreen = false;

  for (let round = 0; round < roundsMax; round += 1) {
    const sample = chooseSample(untried, lab, { round, names });
    const decidingFlips = round === 0 ? tests.flatMap(({ flips }) => flips.slice(0, 1)) : [];
    const flips = [...sample, ...decidingFlips];
    if (flips.length === 0) break;
    untried = untried.filter((flip) => !sample.includes(flip));

    const result = await runRound(lab, {
      flips,
      sample,
      tests: round === 0 ? tests : [],
      runner,
      placebos,
    });
    if (result !== "still green") return result;
    isStillGreen = true;
  }

  if (!isStillGreen) return null;
  if (!lab.wasRed) return negateAssertions(lab, placebos);
  // The check may not depend on those files: then it passes without them too.
  const withoutFiles = await lab.run("work", [], paths);

  return withoutFiles?.passed === true
    ? null
    : reportUnknown("an expectation that was broken on purpose went unnoticed");
}

/**
 * Whether a flip is in a test that the pass does not depend on. Code around those tests (setup)
 * would break them for another reason.
 */
function isInOtherTest(
  tests: readonly DecidingTest[],
  textOf: (path: string) => string,
): (flip: Flip) => boolean {
  const cases = new Map(
    [...new Set(tests.map(({ test }) => test.path))].map((path) => [
      path,
      findTestCases(path, textOf(path)),
    ]),
  );

  const isDeciding = ({ path, was }: Flip): boolean =>
    tests.some(
      ({ test }) =>
        test.path === path && (test.text.includes(was.trim()) || was.includes(test.text.trim())),
    );

  const isInTest = ({ path, was }: Flip): boolean =>
    cases.get(path)?.some(({ text }) => text.includes(was)) ?? true;
  return (flip) => !isDeciding(flip) && isInTest(flip);
}

/**
 * Chooses flips for one round; in the first, those about functions that the work changed come first
 * (K6).
 */
function chooseSample(
  candidates: readonly Flip[],
  lab: Lab,
  { round, names }: { readonly round: number; readonly names: ReadonlySet<string> },
): readonly Flip[] {
  const seed = `${lab.seed}:${round}`;
  const isRelevant = ({ was }: Flip): boolean =>
    [...was.matchAll(/([\w$]+)\s*\(/g)].some(([, name = ""]) => names.has(name));

  const relevant =
    round === 0
      ? chooseFlips(candidates.filter(isRelevant), {
          changed: lab.changedPaths,
          seed,
          max: relevantMax,
        })
      : [];
  const others = candidates.filter((flip) => !relevant.includes(flip));
  return [...relevant, ...chooseFlips(others, { changed: lab.changedPaths, seed, max: flipsMax })];
}

type Round = {
  readonly flips: readonly Flip[];
  /** Those of the flips that are in tests which passed before the work. */
  readonly sample: readonly Flip[];
  /** The tests the pass depends on, in the first round; then none. */
  readonly tests: readonly DecidingTest[];
  readonly runner: FlipRunner;
  readonly placebos: readonly string[];
};

/** Runs the check with these flips and judges what it noticed; `still green` if it noticed none. */
async function runRound(
  lab: Lab,
  { flips, sample, tests, runner, placebos }: Round,
): Promise<Experiment | "still green"> {
  const first = await runner.runFlips(flips);
  const hasOthers = first !== null && first.missed.length === 0 && first.otherFailures.length > 0;
  const work = hasOthers ? await runner.runFlips(flips) : first; // a flaky test proves nothing
  if (work === null) return lateResult;
  const missedTests = tests.filter(
    ({ flips: [flip] }) => flip === undefined || work.missed.includes(flip),
  );
  const silence = await findSilentTests(missedTests, work, runner); // K5
  if (silence === "late") return lateResult;
  const { silent } = silence;
  const allNoticed = [...work.noticed, ...silence.noticed];
  const missedSample = work.missed.filter((flip) => sample.includes(flip));
  if (missedSample.length === 0 && silent.length === 0 && work.otherFailures.length > 0) {
    return reportDiffers(work);
  }

  const blind = await confirmBlind(lab, missedSample);
  if (blind === "late") return lateResult;
  if (blind.length > 0 && !(await missesAnyway(lab, blind))) {
    return reportMissed(describeFlips(blind)); // K1, K2
  }
  if (blind.length > 0) return reportAnyway(formatPositions(blind));
  if (silent.length > 0) return { outcome: "partly", detail: describeSilent(silent) };
  if (allNoticed.length === 0) return "still green";
  // If most tests were broken, few were left to show that nothing else changes when a test is
  // edited (K4).
  const isMostlyBroken = missedSample.length === 0 && (lab.now.tests?.ran ?? 0) < 2 * flips.length;

  return isMostlyBroken
    ? tryEquivalentTests(lab, placebos, allNoticed)
    : reportNoticed(formatPositions(allNoticed));
}

/**
 * Negates assertions, for tests whose literals near assertions are only messages (`t.equal(a, b,
 * "the same")`). The result may confirm a check, never accuse it.
 */
async function negateAssertions(lab: Lab, paths: readonly string[]): Promise<Experiment | null> {
  const texts = await Promise.all(
    paths.map(async (path) => ({ path, text: (await lab.textAt("work", path)) ?? "" })),
  );
  const all = texts.flatMap(({ path, text }) =>
    createAssertionFlips(path, text, createNonce(lab.seed)),
  );
  const flips = chooseFlips(all, { changed: lab.changedPaths, seed: lab.seed, max: flipsMax });
  const result =
    flips.length === 0
      ? null
      : await runFlips(lab, flips, { side: "work", before: lab.now, placebos: paths });

  return result === null || result.missed.length > 0 || result.otherFailures.length > 0
    ? null
    : reportNoticed(formatPositions(result.noticed));
}

type SingleFlips = {
  readonly singles: readonly Flip[];
  /** Other assertions of the same files, to see whether those files are run at all. */
  readonly controls: readonly Flip[];
  readonly runner: FlipRunner;
  readonly placebos: readonly string[];
};

/**
 * Flips expectations one by one: a check that names and counts no tests stops at the first failure.
 * Null if nothing could be shown.
 */
async function flipOneByOne(
  check: Check,
  lab: Lab,
  { singles, controls, runner, placebos }: SingleFlips,
): Promise<Experiment | null> {
  const noticedFlips: Flip[] = [];
  for (const flip of singles) {
    const result = await runner.runFlips([flip]);
    if (result === null) return lateResult;
    if (result.missed.length === 0) {
      noticedFlips.push(flip);
      continue;
    }

    // A compiler does not run what it reads: a missed assertion means something only beside a
    // noticed one, or in a file that a testing command cannot do without.
    const program = flip.readBy ?? flip.path;
    const control =
      noticedFlips.find(({ path }) => path === program) ??
      controls.find(({ path }) => path === program);
    const isControlKnown = control !== undefined && noticedFlips.includes(control);
    const controlResult =
      control === undefined || isControlKnown ? undefined : await runner.runFlips([control]);
    if (controlResult === null) return lateResult;
    const isRun = isControlKnown || controlResult?.missed.length === 0;

    const isNeeded =
      !isRun &&
      lab.wasRed &&
      namesTests.test(check.command) &&
      (await lab.run("work", [], [flip.path]))?.passed === false;
    const again = isRun || isNeeded ? await runner.runFlips([flip]) : undefined;
    if (again === null) return lateResult;
    if (again?.missed.length === 1) {
      return {
        outcome: "partly",
        detail: `it passes as well with another expectation in ${formatPositions([flip])}`,
      };
    }

    if (!isRun) return null;
  }

  return noticedFlips.length === 0 ? null : tryEquivalentTests(lab, placebos, noticedFlips);
}

/** Names the functions that existed before the work and that it changed. */
async function findChangedFunctions(lab: Lab): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const path of lab.changedPaths.slice(0, filesReadMax)) {
    const [was, is] = [await lab.textAt("base", path), await lab.textAt("work", path)];
    if (was === null || is === null) continue;
    for (const { is: definition } of findRedefined(path, was, is)) {
      if (definition.isFunction) names.add(definition.name);
    }
  }

  return names;
}

/** A command with a word for testing: `npm test`, `sh check.sh`. */
const namesTests = /(?:^|[\s/._-])(?:tests?|check|spec|verify)(?:[\s/._-]|$)/i;

const shownCharsMax = 120;
const shownMax = 3;

const describeFlips = (flips: readonly Flip[]): string =>
  flips
    .slice(0, shownMax)
    .map(({ path, line, broken }) => `${path}:${line} (${broken.trim().slice(0, shownCharsMax)})`)
    .join("; ");

/** The result if other tests failed besides those that were flipped (K4). */
const reportDiffers = ({ otherFailures: beside, noticed: flips }: FlipOutcome): Experiment => ({
  outcome: "differs",
  detail: `with ${formatPositions(flips)} broken, ${listSome(beside)} failed too`,
});
