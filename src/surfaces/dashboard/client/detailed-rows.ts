// detailed-rows: how many rows of a long list are drawn whole. The others show only their names, so that they can be found and reached, and are
// drawn when the browser is idle. Otherwise 500 phases would be thousands of elements before the first is visible.

import { draw } from "./store.ts";

const rowsFirst = 30;
const growth = 4;

let progress = { list: "", rows: rowsFirst };
let isPlanned = false;

export function countDetailedRows(list: string, total: number): number {
  if (progress.list !== list) progress = { list, rows: rowsFirst };
  if (progress.rows < total && !isPlanned) {
    isPlanned = true;
    whenIdle(() => {
      isPlanned = false;
      progress.rows *= growth;
      draw();
    });
  }
  return progress.rows;
}

/** Safari has no such call. */
const whenIdle = (then: () => void): void =>
  void ("requestIdleCallback" in window ? requestIdleCallback(then, { timeout: 1_000 }) : setTimeout(then, 100));
