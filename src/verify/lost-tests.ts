// lost-tests: the message about tests that no longer run, or no longer pass. Pure.

const shownMax = 3;

export const fewerSince = (was: number, is: number): string | null =>
  is < was ? `it ran ${is} tests, and ${was} before the work began` : null;

export const unrunTestsMessage = (names: readonly string[]): string => `it no longer runs ${listed(names)}`;

/** Null if nothing broke. */
export const brokenTestsMessage = (names: readonly string[]): string | null =>
  names.length === 0 ? null : `passed before the work began and fails now: ${listed(names)}`;

const listed = (names: readonly string[]): string =>
  `${names.slice(0, shownMax).join(", ")}${names.length > shownMax ? ` and ${names.length - shownMax} more` : ""}`;
