// in-parts: how many rows of a long list are drawn whole. Those below show their names at once, so that they can be found and reached, and
// the rest of them while the browser has nothing else to do. Without it 500 phases would be thousands of elements before the first is seen.

import { draw } from "./store.ts";

const rowsFirst = 30;
const growth = 4;

let shown = { list: "", rows: rowsFirst };
let isPlanned = false;

export function wholeRows(list: string, total: number): number {
  if (shown.list !== list) shown = { list, rows: rowsFirst };
  if (shown.rows < total && !isPlanned) {
    isPlanned = true;
    whenIdle(() => {
      isPlanned = false;
      shown.rows *= growth;
      draw();
    });
  }
  return shown.rows;
}

/** Safari has no such call. */
const whenIdle = (then: () => void): void =>
  void ("requestIdleCallback" in window ? requestIdleCallback(then, { timeout: 1_000 }) : setTimeout(then, 100));
