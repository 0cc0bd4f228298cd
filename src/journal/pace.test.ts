import { expect, test } from "vitest";
import { createMeasuredPace, type Pace } from "./pace.ts";

/**
 * Rounds in which each of `runs` works for `workMs` and then all their lines are synced together.
 */
function paceOf(runs: number, workMs: number, syncMs: number): Pace {
  let nowMs = 0;
  const pace = createMeasuredPace(() => nowMs);

  for (let round = 0; round < 3; round++) {
    for (let run = 0; run < runs; run++) {
      nowMs += workMs;
      pace.lineArrived();
    }

    pace.syncStarted();
    nowMs += syncMs;
    pace.syncEnded(runs);
  }

  return pace;
}

test("where all the work takes longer than a sync, the runs go in two halves", () => {
  const pace = paceOf(64, 0.02, 0.15);
  expect([31, 32, 64].map((waiting) => pace.isHalfBatchReady(waiting))).toEqual([
    false,
    true,
    true,
  ]);

  expect(pace.shouldSyncNow(32)).toBe(true);
});

test("where a sync takes longer than all the work, they go together", () => {
  const pace = paceOf(16, 0.02, 1);
  expect(pace.isHalfBatchReady(16)).toBe(false);
  expect(pace.shouldSyncNow(8)).toBe(false);
});

test("a handful of lines always waits for the others", () => {
  const pace = paceOf(12, 1, 0.1);
  expect(pace.isHalfBatchReady(7)).toBe(false);
  expect(pace.shouldSyncNow(7)).toBe(false);
  expect(pace.isHalfBatchReady(8)).toBe(true);
});

test("before anything was measured, all go together", () => {
  expect(createMeasuredPace().isHalfBatchReady(64)).toBe(false);
});

test("a sync that is noticed late because the runs were at work does not join the halves again", () => {
  let nowMs = 0;
  const pace = createMeasuredPace(() => nowMs);

  const round = (noticedMs: number): void => {
    for (let run = 0; run < 64; run++) {
      nowMs += 0.02;
      pace.lineArrived();
    }

    pace.syncStarted();
    nowMs += noticedMs;
    pace.syncEnded(64);
  };
  for (const noticedMs of [0.1, 0.1, 5]) round(noticedMs);
  expect(pace.isHalfBatchReady(32)).toBe(true);
});
