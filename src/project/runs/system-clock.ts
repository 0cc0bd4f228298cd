// system-clock: the Clock port on the system's time, with cached timestamps.

import type { Clock } from "../../ports/clock.ts";

let lastFormatted = { ms: Number.NaN, text: "" };

/**
 * The time as text; formatting costs more than the rest of a journal line, so each millisecond is
 * formatted once.
 */
function now(): string {
  const ms = Date.now();
  if (ms !== lastFormatted.ms) lastFormatted = { ms, text: new Date(ms).toISOString() };
  return lastFormatted.text;
}

export const systemClock: Clock = {
  now,
  monotonicMs: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};
