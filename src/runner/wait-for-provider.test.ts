// When a parked run may go on by itself.

import { describe, expect, test } from "vitest";
import type { RunView } from "../core/state.ts";
import { computeResumeTimeMs } from "./wait-for-provider.ts";

const now = Date.parse("2026-01-01T00:00:00.000Z");
const minute = 60_000;
const parked = (
  more: Partial<NonNullable<RunView["parked"]>> = {},
  run: Partial<RunView> = {},
): RunView =>
  ({
    status: "paused",
    reason: "provider_limit_reached",
    asked: null,
    parked: { fault: "limit", until: null, detail: "", times: 1, ...more },
    ...run,
  }) as RunView;

describe("a run parked at a provider", () => {
  test("goes on when the provider said it would answer again", () =>
    expect(computeResumeTimeMs(parked({ until: "2026-01-01T05:00:00.000Z" }), now)).toBe(
      now + 300 * minute,
    ));

  test("waits a minute at least when the time it was told has not helped before", () =>
    expect(computeResumeTimeMs(parked({ until: "2025-12-31T00:00:00.000Z", times: 2 }), now)).toBe(
      now + minute,
    ));

  test.each([
    ["limit", 1, 5],
    ["limit", 2, 10],
    ["limit", 9, 60],
    ["service", 1, 1],
    ["service", 3, 4],
    ["service", 12, 60],
  ] as const)(
    "with no time told, a %s waits longer each time (%i: %i minutes)",
    (fault, times, minutes) =>
      expect(computeResumeTimeMs(parked({ fault, times }), now)).toBe(now + minutes * minute),
  );

  test("not for ever", () => expect(computeResumeTimeMs(parked({ times: 13 }), now)).toBeNull());
  test("not where the reset is days away", () =>
    expect(computeResumeTimeMs(parked({ until: "2026-01-04T00:00:00.000Z" }), now)).toBeNull());
  test.each(["request", "access"] as const)(
    "not after a fault that time does not fix: %s",
    (fault) => expect(computeResumeTimeMs(parked({ fault }), now)).toBeNull(),
  );

  test("not once somebody asked for a pause or a stop", () =>
    expect(computeResumeTimeMs(parked({}, { asked: "pause" }), now)).toBeNull());
  test("not where it is paused for another reason", () =>
    expect(
      computeResumeTimeMs(parked({}, { reason: "budget_threshold_reached" }), now),
    ).toBeNull());

  test("an unreadable time is no time", () =>
    expect(computeResumeTimeMs(parked({ until: "soon" }), now)).toBe(now + 5 * minute));
});
