// system-clock: the Clock port on the system's time, with cached timestamps.

import type { Clock } from "../../ports/clock.ts";

let last = { ms: Number.NaN, text: "" };

/** The time as text; writing it out costs more than a line of the journal otherwise does, so one millisecond is written once. */
function now(): string {
  const ms = Date.now();
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}

export const systemClock: Clock = {
  now,
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
