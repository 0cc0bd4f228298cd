// choose-breaks: which expectations are broken, and in which order, for one check. Pure; the code under test cannot predict it.

import { createHash } from "node:crypto";
import type { Flip } from "./flips.ts";

/** A pseudo-random order, the same for the same seed. */
export function shuffled<T>(items: readonly T[], seed: string, keyOf: (item: T) => string): readonly T[] {
  const rank = (item: T): string =>
    createHash("sha256")
      .update(`${seed}\n${keyOf(item)}`)
      .digest("hex");
  return items
    .map((item) => [rank(item), item] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, item]) => item);
}

/** A value that no honest result equals: derived from what the code under test cannot predict. */
export const nonceOf = (seed: string): string => `n${createHash("sha256").update(`nonce ${seed}`).digest("hex").slice(0, 12)}`;

const apartLines = 3;

/**
 * Chooses at most `max` expectations: those in changed files before others, the likeliest first, each in another file while there are
 * files, and never two within three lines of each other.
 */
export function chooseFlips(candidates: readonly Flip[], changedFiles: readonly string[], seed: string, max: number): readonly Flip[] {
  const worth = ({ path, score }: Flip): number => score + (changedFiles.includes(path) ? 10 : 0);
  const order = shuffled(candidates, seed, ({ path, line }) => `${path}:${line}`).toSorted((one, other) => worth(other) - worth(one));
  const chosen: Flip[] = [];
  const isApart = (flip: Flip): boolean => chosen.every((one) => one.path !== flip.path || Math.abs(one.line - flip.line) >= apartLines);
  for (const flip of order) if (chosen.length < max && chosen.every(({ path }) => path !== flip.path)) chosen.push(flip);
  for (const flip of order) if (chosen.length < max && !chosen.includes(flip) && isApart(flip)) chosen.push(flip);
  return chosen;
}
