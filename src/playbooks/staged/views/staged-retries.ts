// staged-retries: the Retry Log of a staged step and its count.
//
// Invariants:
//   R1. A row, and one more on the count, for each automatic retry that has failed: the first try isn't a retry, and a retry that is under
//       way has not failed. So three rows mean that the step failed for good.
//   R2. Both begin again when the step succeeds or a person resets it.

import type { EventOf } from "../../../contracts/event.ts";
import { retriesMax, type RetryRow } from "../../../contracts/staged-state.ts";

export class Retries {
  rows: RetryRow[];
  count = 0;
  /** Which retry is under way, by the cursor and the step that it is of. */
  readonly #underWay = new Map<string, number>();
  readonly #begun = new Map<string, string>();

  constructor(rows: readonly RetryRow[]) {
    this.rows = [...rows];
  }

  /** R2 */
  reset(): void {
    this.rows = [];
    this.count = 0;
    this.#underWay.clear();
  }

  begin({ attempt, walk, step }: Pick<EventOf<"step_started">, "attempt" | "walk" | "step">): void {
    this.#begun.set(attempt, `${walk} ${step}`);
  }

  retry({ walk, step, n }: Pick<EventOf<"step_retried">, "walk" | "step" | "n">): void {
    this.#underWay.set(`${walk} ${step}`, n);
  }

  passed(attempt: string): void {
    const of = this.#begun.get(attempt);
    this.#begun.delete(attempt);
    if (of !== undefined) this.#underWay.delete(of);
  }

  /** R1 */
  failed(attempt: string, row: Omit<RetryRow, "attempt" | "sub_step">, placeOf: (path: string, step: string) => string): void {
    const of = this.#begun.get(attempt);
    const n = of === undefined ? undefined : this.#underWay.get(of);
    this.#begun.delete(attempt);
    if (of === undefined || n === undefined) return;
    const index = of.lastIndexOf(" ");
    this.rows.push({ attempt: n, ...row, sub_step: placeOf(of.slice(0, index), of.slice(index + 1)) });
    this.count = Math.min(retriesMax, n);
  }
}
