import { expect, test } from "vitest";
import type { Clock } from "../ports/clock.ts";
import { reportRunning } from "./report-running.ts";

test("a running check tells how long it has been running, until it ends", () => {
  let now = 0;
  let due: (() => void) | null = null;

  const clock: Clock = {
    now: () => "",
    monotonicMs: () => now,
    after: (_ms, callback) => {
      due = callback;
      return () => (due = null);
    },
  };

  const reported: number[] = [];
  const stop = reportRunning(clock, (elapsedMs) => reported.push(elapsedMs));
  for (now = 1_000; now <= 3_000; now += 1_000) (due as (() => void) | null)?.();
  expect(reported).toEqual([1_000, 2_000, 3_000]);
  stop();
  expect(due).toBeNull();
});
