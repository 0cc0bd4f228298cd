// lost-tests: describes tests that no longer run, or no longer pass. Pure.

const shownMax = 3;

export const describeFewerTests = (ranBefore: number, ranNow: number): string | null =>
  ranNow < ranBefore ? `it ran ${ranNow} tests, and ${ranBefore} before the work began` : null;

export const describeUnrunTests = (names: readonly string[]): string => `it no longer runs ${joinNames(names)}`;

/** Null if nothing broke. */
export const describeBrokenTests = (names: readonly string[]): string | null =>
  names.length === 0 ? null : `passed before the work began and fails now: ${joinNames(names)}`;

function joinNames(names: readonly string[]): string {
  const more = names.length > shownMax ? ` and ${names.length - shownMax} more` : "";
  return `${names.slice(0, shownMax).join(", ")}${more}`;
}
