import { expect, test } from "vitest";
import { findReset } from "./reset-time.ts";

const now = Date.parse("2026-03-10T12:00:00.000Z");
const local = (text: string): string => new Date(text).toISOString();

test.each([
  ["Rate limit hit, resets at 2026-03-10T14:00:00Z.", "2026-03-10T14:00:00.000Z"],
  ["limit resets 2026-03-10 16:00:00+02:00", "2026-03-10T14:00:00.000Z"],
  ["reset at 2026-03-10 14:00 UTC", "2026-03-10T14:00:00.000Z"],
  ["usage limit reached|1773151200", "2026-03-10T14:00:00.000Z"],
  ['{"resets_at":1773151200000}', "2026-03-10T14:00:00.000Z"],
  ["Please try again in 12m.", "2026-03-10T12:12:00.000Z"],
  ["Please try again in 6m0s", "2026-03-10T12:06:00.000Z"],
  ["Please retry in 20.5s", "2026-03-10T12:00:20.500Z"],
  ["retry after 30 seconds", "2026-03-10T12:00:30.000Z"],
  ["Try again in 2 days 3 hours 5 minutes.", "2026-03-12T15:05:00.000Z"],
  ["try again in 1 hour and 30 minutes", "2026-03-10T13:30:00.000Z"],
  ["You've hit your limit · resets 3pm (UTC)", "2026-03-10T15:00:00.000Z"],
  ["resets 3:30 pm (Europe/Berlin)", "2026-03-10T14:30:00.000Z"],
  ["resets 11am (America/Los_Angeles)", "2026-03-10T18:00:00.000Z"],
  ["resets at 9am UTC", "2026-03-11T09:00:00.000Z"],
  ["available again at 15:30 UTC", "2026-03-10T15:30:00.000Z"],
  ["try again at Mar 12th, 2026 9:04 AM UTC", "2026-03-12T09:04:00.000Z"],
  ["resets Mar 12, 5pm (UTC)", "2026-03-12T17:00:00.000Z"],
  ["resets at 23:59", local("2026-03-10T23:59:00")],
])("%s", (text, expected) => {
  expect(findReset(text, now)).toBe(expected);
});

test.each([
  ["no time at all", "The limit is reached, try again later."],
  ["a time that nobody waits for", "At 2026-03-10T14:00:00Z the tests passed."],
  ["a time that has gone by", "it was reset at 2026-03-09T14:00:00Z"],
  ["a time no limit lasts to", "resets at 2027-03-09T14:00:00Z"],
  ["a zone that nobody knows", "resets 3pm (Foo/Bar)"],
  ["a zone that may be several", "resets 3pm PST"],
  ["a date in a zone that may be several", "try again at Mar 12th, 2026 9:04 AM CST"],
  ["a bare number", "retry 3 of 5"],
  ["an hour no clock shows", "resets at 27:90"],
  ["a version", "wait for v1.20.3m"],
  ["nothing", ""],
])("not read: %s", (_, text) => {
  expect(findReset(text, now)).toBe(null);
});

test("no text takes long", () => {
  for (const text of [
    "reset ".repeat(100_000),
    `try again in ${"1d ".repeat(100_000)}`,
    `retry ${"9".repeat(300_000)}`,
  ]) {
    expect(() => findReset(text, now)).not.toThrow();
  }
});
