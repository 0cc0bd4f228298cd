// report-running: reports once a second how long a check has been running.

import type { Clock } from "../ports/clock.ts";

const everyMs = 1_000;

/** Reports periodically how long something has been running, until the returned function is called. */
export function reportRunning(clock: Clock, report: (elapsedMs: number) => void): () => void {
  const beganMs = clock.monotonicMs();
  let stop = clock.after(everyMs, function again() {
    report(clock.monotonicMs() - beganMs);
    stop = clock.after(everyMs, again);
  });
  return () => stop();
}
