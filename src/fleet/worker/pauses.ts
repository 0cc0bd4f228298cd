// pauses: how long a worker leaves orders alone that it had to give back: longer each time. Other
// workers may take them meanwhile.

import type { OrderEnd } from "../../ports/dispatch.ts";

export const pauseMsMin = 5_000;
export const pauseMsMax = 300_000;
const ordersMax = 1_000;

export class OrderPauses {
  readonly #pauses = new Map<string, { readonly times: number; readonly untilMs: number }>();

  /** Called with each order's end. `nowMs`: a clock that never goes back. */
  note(id: string, end: OrderEnd, nowMs: number): void {
    const times = (this.#pauses.get(id)?.times ?? 0) + 1;
    this.#pauses.delete(id); // set again below, so that the map begins with the order that was noted longest ago
    if (end.kind === "ended" || end.isTrouble !== true) return;
    this.#pauses.set(id, {
      times,
      untilMs: nowMs + Math.min(pauseMsMin * 2 ** (times - 1), pauseMsMax),
    });

    const [oldest] = this.#pauses.keys();
    if (this.#pauses.size > ordersMax && oldest !== undefined) this.#pauses.delete(oldest);
  }

  /** The orders that are not to be taken yet. */
  listPaused(nowMs: number): readonly string[] {
    return [...this.#pauses].filter(([, { untilMs }]) => untilMs > nowMs).map(([id]) => id);
  }
}
