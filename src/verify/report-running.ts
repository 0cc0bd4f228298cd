// report-running: reports once a second how long a check has been running.

import type { Clock } from "../ports/clock.ts";

const intervalMs = 1_000;

/**
 * Reports periodically how long something has been running, until the returned function is called.
 */
export function reportRunning(clock: Clock, report: (elapsedMs: number) => void): () => void {
  const startedMs = clock.monotonicMs();
  let stop = clock.after(intervalMs, function tick() {
    report(clock.monotonicMs() - startedMs);
    stop = clock.after(intervalMs, tick);
  });
  return () => stop();
}
