// sampled: what an everyday run of the suite plays of a table of whole stories. `npm run test:long`
// plays all of them.
//
// Invariants:
//   S1. A case is left out of an everyday run only if others of its table are played, and a story
//       only if another test, named beside it, holds its promise; test/conformance-table.test.ts
//       looks the names up.
//   S2. Every run plays the same cases, one of each stretch of a table, so that no result depends
//       on anything but the code. AUTOPILOT_TEST_SEED plays others, and one in eight of the stories
//       of long runs. The seed is in the title of each test of a sample, with how many of how many
//       are played.

import { test } from "vitest";

export const isLong = process.env["AUTOPILOT_TEST_LONG"] === "all";
const chosenSeed = process.env["AUTOPILOT_TEST_SEED"];
export const seed = Number(chosenSeed ?? 0);

/** All in a long run, otherwise `count` of them. */
export function sampled<Case>(count: number, cases: readonly Case[]): readonly Case[] {
  if (isLong || cases.length <= count) return cases;
  return Array.from(
    { length: count },
    (_, n) => (Math.floor((n * cases.length) / count) + seed) % cases.length,
  ) // S2
    .toSorted((one, other) => one - other)
    .flatMap((place) => cases.slice(place, place + 1));
}

/** For the title of what plays a sample. */
export const playedOf = (count: number, all: number): string =>
  isLong || all <= count ? "" : ` (${count} of ${all}, AUTOPILOT_TEST_SEED=${seed})`;

/** `aFew(3).each(table)` instead of `test.each(table)`. */
export const aFew = (count: number): { readonly each: typeof test.each } => ({
  each: ((cases: readonly unknown[]) =>
    (title: string, ...story: [never]): void =>
      test.each(sampled(count, cases) as unknown[])(
        title + playedOf(count, cases.length),
        ...story,
      )) as typeof test.each,
});

const turns = 8;
/**
 * Whether what has this name is played by an everyday run with this seed: by one in eight. A run
 * that was given none plays none of them.
 */
export const hasTurn = (name: string): boolean => {
  if (chosenSeed === undefined) return false;
  let sum = seed;
  for (let index = 0; index < name.length; index += 1) sum += name.charCodeAt(index);

  return sum % turns === 0;
};

const inTurn =
  chosenSeed === undefined ? "(long runs)" : `(long runs; in turn, AUTOPILOT_TEST_SEED=${seed})`;

/**
 * A story of long runs, and of one in eight runs with a seed; in all others the test named here as
 * "file › title" holds its promise (S1).
 */
export const longTest = (
  title: string,
  _heldBy: string,
  story: () => Promise<void>,
  timeoutMs?: number,
): void => test.runIf(isLong || hasTurn(title))(`${title} ${inTurn}`, story, timeoutMs);

/**
 * One of several tests of one thing, others of which are always played (S1): of long runs, and of
 * one in eight runs with a seed.
 */
export const turnTest = (title: string, story: () => void | Promise<void>): void =>
  test.runIf(isLong || hasTurn(title))(`${title} ${inTurn}`, story);

/**
 * How many cases a property is tried on that needs more than others: `all` in a long run, a fifth
 * of them otherwise.
 */
export const tries = (all: number): number => (isLong ? all : Math.ceil(all / 5));
