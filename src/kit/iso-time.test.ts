import * as fc from "fast-check";
import { expect, test } from "vitest";
import { formatIsoTime, parseIsoTime, plusMinutes } from "./iso-time.ts";

test("the calendar agrees with the platform's, over eight centuries", () => {
  const anyMs = fc.integer({ min: Date.UTC(1600, 0, 1), max: Date.UTC(2399, 11, 31) });
  fc.assert(
    fc.property(anyMs, (ms) => {
      const iso = new Date(ms).toISOString();
      expect(formatIsoTime(ms)).toBe(iso);
      expect(parseIsoTime(iso)).toBe(ms);
    }),
  );
});

test("minutes are added over the ends of days, months and leap years", () => {
  expect(plusMinutes("2024-02-28T23:59:30.500Z", 1)).toBe("2024-02-29T00:00:30.500Z");
  expect(plusMinutes("2025-12-31T23:30:00Z", 60)).toBe("2026-01-01T00:30:00.000Z");
});

test("what is no time stays as it is", () => {
  expect(parseIsoTime("yesterday")).toBeNull();
  expect(parseIsoTime("2026-13-01T00:00:00Z")).toBeNull();
  expect(plusMinutes("yesterday", 5)).toBe("yesterday");
});
