// deciding-tests: the tests that a pass depends on (they did not pass before the work and pass now), and whether each of them can fail.
//
// Invariants:
//   R1. An expectation in every one of them is broken, all in one run; each has to be reported. A test that stays green is tried again,
//       alone.
//   R2. Which tests failed before is what the check reported then. If it did not report each, all that it did not name as passed count.
//   R3. It accuses no one: before the work they could not pass, so nothing shows what they would have noticed. They are reported by name.
//   R4. A test that is marked as skipped, and was before, does not count.

import { breakagesFor } from "./breakages.ts";
import { isNameOfTest, isNameOfFile, type TestCase } from "../source/test-cases.ts";
import { shuffled } from "./choose-flips.ts";
import { assertionFlips } from "./assertion-flips.ts";
import { type Flip, literalFlips } from "./literal-flips.ts";
import type { Noticed, Observed } from "./noticed-flips.ts";

/** A test that the pass depends on. `flips`: ways to make one of its expectations wrong, the strongest first. */
export type DecidingTest = { readonly test: TestCase; readonly flips: readonly Flip[] };
export type SilentTest = {
  readonly test: TestCase;
  /** What went unnoticed; null if nothing could be broken. */ readonly flip: Flip | null;
};

const casesMax = 600;
export const decidingTestsMax = 200;

/** `now` and `then`: the tests of the files that judge, now and before. */
export function filterDeciding(
  now: readonly TestCase[],
  then: readonly TestCase[],
  before: Observed | null,
  wasRed: boolean,
): readonly TestCase[] {
  const keyOf = ({ path, text }: TestCase): string => `${path}\n${text.trim()}`;
  const earlierTests = new Set(then.map(keyOf));
  const containsOther = (one: TestCase): boolean =>
    now.some(
      (other) => other !== one && other.path === one.path && other.from >= one.from && other.to <= one.to && other.text !== one.text,
    );
  const all = now.slice(0, casesMax).filter((one) => !one.isSkipped && !containsOther(one)); // R4
  const isNew = (one: TestCase): boolean => !earlierTests.has(keyOf(one));
  if (!wasRed) return all.filter(isNew);
  const failed = [...(before?.failed ?? [])];
  const reportedNames = failed.filter((name) => all.some((one) => isNameOfTest(name, one)));
  const fileNames = failed.filter((name) => !reportedNames.includes(name) && all.some(({ path }) => isNameOfFile(name, path)));
  const isGroup = (name: string): boolean => failed.some((other) => other.startsWith(`${name} > `));
  const isIncomplete =
    before === null || failed.some((name) => !reportedNames.includes(name) && !fileNames.includes(name) && !isGroup(name));
  const reportedPaths = new Set(all.filter((one) => reportedNames.some((name) => isNameOfTest(name, one))).map(({ path }) => path));
  const passedNames = isIncomplete ? [...(before?.held ?? [])] : [];
  return all.filter(
    (one) =>
      isNew(one) ||
      reportedNames.some((name) => isNameOfTest(name, one)) ||
      (!reportedPaths.has(one.path) && fileNames.some((name) => isNameOfFile(name, one.path))) ||
      (isIncomplete && !passedNames.some((name) => isNameOfTest(name, one))), // R2
  );
}

/** The tests with what can be broken in each. `words`: identifiers that the work added; assertions about them come first. */
export function flipsForTests(
  tests: readonly TestCase[],
  textOf: (path: string) => string,
  {
    seed,
    nonce,
    words,
    flipsOf: breaksOf = (path) => [...assertionFlips(path, textOf(path), nonce), ...literalFlips(path, textOf(path))],
  }: FlipSearch,
): readonly DecidingTest[] {
  const byPath = new Map<string, readonly Flip[]>();
  const fileFlips = (path: string): readonly Flip[] => {
    const cached = byPath.get(path);
    if (cached !== undefined) return cached;
    const flips = breaksOf(path);
    byPath.set(path, flips);
    return flips;
  };
  return tests.map((test) => {
    const isInside = ({ line, was }: Flip): boolean => test.from <= line && line + was.split("\n").length - 1 <= test.to;
    const inside = shuffled(fileFlips(test.path).filter(isInside), seed, ({ path, line, broken }) => `${path}:${line}:${broken}`);
    return { test, flips: inside.toSorted((one, other) => relevanceOf(other, words) - relevanceOf(one, words)) };
  });
}

type FlipSearch = {
  readonly seed: string;
  readonly nonce: string;
  readonly words: ReadonlySet<string>;
  /** What can be broken in a file, if it is not what its assertions expect. */
  readonly flipsOf?: (path: string) => readonly Flip[];
};

/** First of all what an assertion expects of the work. */
export const relevanceOf = ({ score, was }: Flip, words: ReadonlySet<string>): number => score * 2 + (mentionsAny(was, words) ? 1 : 0);
export const mentionsAny = (text: string, words: ReadonlySet<string>): boolean =>
  (text.match(/[A-Za-z_$][\w$]+/g) ?? []).some((word) => words.has(word));

const roundsMax = 6;

/** Of what was missed, what stays green when it is tried alone (R1), in files that the check runs. */
export async function findSilentTests(
  open: readonly DecidingTest[],
  first: Noticed,
  { runFlips, run, textOf }: FlipRunner,
): Promise<{ readonly silent: readonly SilentTest[]; readonly noticed: readonly Flip[] } | "late"> {
  const silent: SilentTest[] = [];
  const noticed: Flip[] = [];
  let rest = open.map((one) => ({ one, flip: nextFlip(one, first, one.flips[0]) }));
  for (let round = 0; round < roundsMax && rest.length > 0; round += 1) {
    silent.push(...rest.filter(({ flip }) => flip === undefined).map(({ one: { test } }) => ({ test, flip: null })));
    const asked = rest.flatMap(({ one, flip }) => (flip === undefined ? [] : [{ one, flip }]));
    const result = asked.length === 0 ? null : await runFlips(asked.map(({ flip }) => flip));
    if (asked.length > 0 && result === null) return "late";
    noticed.push(...(result?.noticed ?? []));
    const missed = asked.filter(({ flip }) => result?.missed.includes(flip));
    const isOpen = ({ one, flip }: { readonly one: DecidingTest; readonly flip: Flip }): boolean =>
      result?.unread.includes(flip) === true ||
      (result?.noticed.length ?? 0) > 0 || // it may have ended with that
      (flip.score <= guessedScore && one.flips.some(({ score }) => score < flip.score));
    const unread = missed.filter(isOpen);
    silent.push(...missed.filter((one) => !unread.includes(one)).map(({ one: { test }, flip }) => ({ test, flip })));
    rest = unread.map(({ one, flip }) => ({ one, flip: result === null ? undefined : nextFlip(one, result, flip) }));
  }
  silent.push(...rest.map(({ one: { test } }) => ({ test, flip: null })));
  const runSilent = silent.length === 0 ? [] : await keepRun(silent, run, textOf);
  return runSilent === "late" ? "late" : { silent: runSilent, noticed };
}

export type FlipRunner = {
  /** Breaks these and nothing else; null if it took too long. */
  readonly runFlips: (flips: readonly Flip[]) => Promise<Noticed | null>;
  readonly run: (edits: readonly { readonly path: string; readonly text: string }[]) => Promise<Observed | null>;
  readonly textOf: (path: string) => string;
};

/** The expectation was only guessed, by its position among the arguments of a helper. */
const guessedScore = 3;

/** The same again, or, if its file could not be loaded with it or it was only guessed, the next of another kind. */
function nextFlip({ flips }: DecidingTest, result: Noticed, flip: Flip | undefined): Flip | undefined {
  if (flip === undefined) return flip;
  const next = flips.find(({ score }) => score < flip.score);
  return result.unread.includes(flip) ? next : flip.score > guessedScore ? flip : (next ?? flip);
}

/** A file that the check does not run, so that it passes with any content, is not what it depends on. */
async function keepRun(
  silent: readonly SilentTest[],
  run: FlipRunner["run"],
  textOf: FlipRunner["textOf"],
): Promise<readonly SilentTest[] | "late"> {
  const paths = [...new Set(silent.map(({ test }) => test.path))];
  const edits = paths.flatMap((path) => {
    const breakage = breakagesFor(path).at(-1);
    return breakage === undefined ? [] : [{ path, text: breakage.apply(textOf(path)) }];
  });
  if (edits.length === 0) return silent;
  const observed = await run(edits);
  if (observed === null) return "late";
  if (observed.passed) return [];
  const named = paths.filter((path) => [...observed.failed].some((name) => isNameOfFile(name, path)));
  return named.length === 0 ? silent : silent.filter(({ test }) => named.includes(test.path));
}

const shownMax = 5;

export function describeSilent(silent: readonly SilentTest[]): string {
  const list = (some: readonly SilentTest[]): string =>
    some
      .slice(0, shownMax)
      .map(({ test, flip }) => `${test.name} (${test.path}:${flip?.line ?? test.from})`)
      .join(", ") + (some.length > shownMax ? ` and ${some.length - shownMax} more` : "");
  const [unnoticed, unflippable] = [silent.filter(({ flip }) => flip !== null), silent.filter(({ flip }) => flip === null)];
  return [
    unnoticed.length === 0 ? "" : `with another expectation they pass as well: ${list(unnoticed)}`,
    unflippable.length === 0 ? "" : `nothing they expect could be changed: ${list(unflippable)}`,
  ]
    .filter((text) => text !== "")
    .join("; ");
}

/** Identifiers that the work added: words of its files that the same files did not have before. */
export function addedIdentifiers(texts: readonly { readonly was: string | null; readonly is: string }[]): ReadonlySet<string> {
  const words = new Set<string>();
  for (const { was, is } of texts) {
    const before = new Set(was?.match(/[A-Za-z_$][\w$]+/g) ?? []);
    for (const word of is.match(/[A-Za-z_$][\w$]+/g) ?? []) if (!before.has(word) && !commonWord.test(word)) words.add(word);
  }
  return words;
}
const commonWord =
  /^(?:def|return|export|const|let|var|function|import|from|class|self|this|for|while|if|else|elif|pub|fn|func|int|static|void|include|true|false|null|None|True|False|assert\w*|equal|expect|test|range|not|and|or|in|is|of|new|string|number|use|mod|package|as|async|await|pass)$/;
