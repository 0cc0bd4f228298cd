// sampled: what an everyday run of the suite plays of a table of whole stories. `npm run test:long` plays all of them.
//
// Invariants:
//   S1. A case is left out of an everyday run only if others of its table are played, and a story only if another test, named
//       beside it, holds its promise; test/conformance-table.test.ts looks the names up.
//   S2. Which cases are played isn't a chance: the first, the last, and others spread between them.

import { test } from "vitest";

export const isLong = process.env["AUTOPILOT_TEST_LONG"] === "all";

/** All in a long run, otherwise `count` of them. */
export function sampled<Case>(count: number, cases: readonly Case[]): readonly Case[] {
  if (isLong || cases.length <= count) return cases;
  const places = Array.from({ length: count }, (_, at) => Math.round((at * (cases.length - 1)) / Math.max(1, count - 1)));
  return places.flatMap((place) => cases.slice(place, place + 1)); // S2
}

/** `aFew(3).each(table)` instead of `test.each(table)`. */
export const aFew = (count: number): { readonly each: typeof test.each } => ({
  each: ((cases: readonly unknown[]) => test.each(sampled(count, cases) as unknown[])) as typeof test.each,
});

/** A story of long runs; an everyday run holds its promise by the test named here as "file › title" (S1). */
export const longTest = (title: string, _heldBy: string, story: () => Promise<void>): void => test.runIf(isLong)(title, story);

/** How many cases a property is tried on that needs more than others: `all` in a long run, a fifth of them otherwise. */
export const tries = (all: number): number => (isLong ? all : Math.ceil(all / 5));
