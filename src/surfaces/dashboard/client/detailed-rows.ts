// detailed-rows: decides how many rows of a long list are drawn with all details. The others show
// only their names, so that they can be searched and focused, and get their details when the
// browser is idle. Otherwise 500 phases would be thousands of elements before the first is visible.

import { draw } from "./store.ts";

const rowsFirst = 30;
/** Each time the browser is idle, this many times as many rows get their details. */
const growthFactor = 4;
/** How long to wait for an idle moment at most, and instead of one. */
const idleWaitMs = 1_000;
const idleDelayMs = 100;

let progress = { list: "", rows: rowsFirst };
let isPlanned = false;

/**
 * `list`: a name for the list, because another list starts over. Draws again by itself until all
 * rows have their details.
 */
export function countDetailedRows(list: string, total: number): number {
  if (progress.list !== list) progress = { list, rows: rowsFirst };
  if (progress.rows < total && !isPlanned) {
    isPlanned = true;
    whenIdle(() => {
      isPlanned = false;
      progress.rows *= growthFactor;
      draw();
    });
  }

  return progress.rows;
}

/** Safari has no requestIdleCallback. */
const whenIdle = (callback: () => void): void =>
  void ("requestIdleCallback" in window
    ? requestIdleCallback(callback, { timeout: idleWaitMs })
    : setTimeout(callback, idleDelayMs));
