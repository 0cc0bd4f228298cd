// choose-flips: chooses which expectations are made wrong, in an order that the code under test
// cannot predict. Pure.

import { createHash } from "node:crypto";
import type { Flip } from "./flip.ts";

/** Sorts in a pseudo-random order, the same for the same seed. */
export function shuffle<T>(
  items: readonly T[],
  seed: string,
  keyOf: (item: T) => string,
): readonly T[] {
  const rank = (item: T): string =>
    createHash("sha256")
      .update(`${seed}\n${keyOf(item)}`)
      .digest("hex");
  return items
    .map((item) => [rank(item), item] as const)
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([, item]) => item);
}

/**
 * Creates a word that no honest result equals: it is derived from a seed that the code under test
 * cannot predict.
 */
export const createNonce = (seed: string): string =>
  `n${createHash("sha256").update(`nonce ${seed}`).digest("hex").slice(0, 12)}`;

type Form = {
  /**
   * The calls around what a flip changes: `eq` of `eq(area(2), 4)`, and `eq Point` of `eq(move(a),
   * Point(2, 4))`, whose value code makes.
   */
  readonly calls: readonly string[];
  /**
   * Whether it is in the last argument of the outermost call, where most expectations are, and not
   * in what has to fail (`() -> parse("x")`).
   */
  readonly isLast: boolean;
};

export function findForm({ was, broken }: Pick<Flip, "was" | "broken">): Form {
  const code = was.replaceAll(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, (text) =>
    "_".repeat(text.length),
  );

  let at = 0;
  while (at < was.length && was[at] === broken[at]) at += 1;
  const calls: string[] = [];

  for (const [, name, close] of code.slice(0, at).matchAll(/([\w$]*)!?\s*\(|(\))/g)) {
    if (close === undefined) calls.push(name ?? "");
    else calls.pop();
  }

  let depth = calls.length;
  for (const letter of code.slice(at)) {
    if (letter === "(") depth += 1;
    if (letter === ")") depth -= 1;
    if (depth === 0 || (depth === 1 && letter === ",")) break;
  }

  const hasToFail =
    /->|=>|\blambda\b|\bfunc\(/.test(code.slice(0, at)) || failing.test(calls[0] ?? "");
  return { calls: calls.filter((name) => name !== ""), isLast: depth === 0 && !hasToFail };
}
const failing = /throw|fail|raise|reject|panic|error/i;

/**
 * A flip of a text that has digits besides what is changed (`"2.01 EUR"`), with one of those
 * changed instead; null if it has none.
 */
export function changeDigit(flip: Flip): Flip | null {
  const { was, broken } = flip;
  let at = 0;
  while (at < was.length && was[at] === broken[at]) at += 1;
  const start = was.lastIndexOf('"', at - 1) + 1;
  const index = was.slice(start, at).search(/\d(?=\D*$)/);
  if (start === 0 || index === -1) return null;
  const digit = Number(was[start + index]);

  return {
    ...flip,
    broken: `${was.slice(0, start + index)}${digit === 9 ? 8 : digit + 1}${was.slice(start + index + 1)}`,
  };
}

const distanceLinesMin = 3;
/** More than any score: flips in changed files come before all others. */
const changedBonus = 10;

type Choice = {
  /** Paths that the work changed. */
  readonly changed: readonly string[];
  readonly seed: string;
  readonly max: number;
};

/**
 * Chooses at most `max` expectations: those in changed files before others, the likeliest first,
 * each in another file while there are files, and never two that are less than three lines apart.
 */
export function chooseFlips(
  candidates: readonly Flip[],
  { changed, seed, max }: Choice,
): readonly Flip[] {
  const weight = ({ path, score }: Flip): number =>
    score + (changed.includes(path) ? changedBonus : 0);
  const byWeight = shuffle(candidates, seed, ({ path, line }) => `${path}:${line}`).toSorted(
    (left, right) => weight(right) - weight(left),
  );

  const chosen: Flip[] = [];
  const isDistant = (flip: Flip): boolean =>
    chosen.every(
      (earlier) =>
        earlier.path !== flip.path || Math.abs(earlier.line - flip.line) >= distanceLinesMin,
    );

  for (const flip of byWeight) {
    if (chosen.length < max && chosen.every(({ path }) => path !== flip.path)) chosen.push(flip);
  }

  for (const flip of byWeight) {
    if (chosen.length < max && !chosen.includes(flip) && isDistant(flip)) chosen.push(flip);
  }

  return chosen;
}
