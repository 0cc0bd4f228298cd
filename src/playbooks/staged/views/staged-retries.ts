// staged-retries: the Retry Log of a staged step and its count.
//
// Invariants:
//   R1. Each failed automatic retry adds a row and one to the count. The first attempt is not a
//       retry, and a running retry has not failed yet. So three rows mean that the step failed for
//       good.
//   R2. Both are reset when the step succeeds or a person resets it.

import type { EventOf } from "../../../contracts/event.ts";
import { retriesMax, type RetryRow } from "../../../contracts/staged-state.ts";

export class Retries {
  rows: RetryRow[];
  count = 0;
  /** The number of the running retry, by cursor and step. */
  readonly #runningRetries = new Map<string, number>();
  /** The cursor and step of each open attempt: `6@1/implement#1/task-1 code`. */
  readonly #stepKeys = new Map<string, string>();

  constructor(rows: readonly RetryRow[]) {
    this.rows = [...rows];
  }

  /** The step succeeded, or a person reset it. R2 */
  reset(): void {
    this.rows = [];
    this.count = 0;
    this.#runningRetries.clear();
  }

  onStarted({
    attempt,
    walk,
    step,
  }: Pick<EventOf<"step_started">, "attempt" | "walk" | "step">): void {
    this.#stepKeys.set(attempt, `${walk} ${step}`);
  }

  onRetried({ walk, step, n }: Pick<EventOf<"step_retried">, "walk" | "step" | "n">): void {
    this.#runningRetries.set(`${walk} ${step}`, n);
  }

  onPassed(attempt: string): void {
    const stepKey = this.#stepKeys.get(attempt);
    this.#stepKeys.delete(attempt);
    if (stepKey !== undefined) this.#runningRetries.delete(stepKey);
  }

  /** Adds a row if the attempt was a retry. R1 */
  onFailed(
    attempt: string,
    row: Omit<RetryRow, "attempt" | "sub_step">,
    subStepOf: (path: string, step: string) => string,
  ): void {
    const stepKey = this.#stepKeys.get(attempt);
    const retryNumber = stepKey === undefined ? undefined : this.#runningRetries.get(stepKey);
    this.#stepKeys.delete(attempt);
    if (stepKey === undefined || retryNumber === undefined) return;
    const separator = stepKey.lastIndexOf(" ");
    const subStep = subStepOf(stepKey.slice(0, separator), stepKey.slice(separator + 1));
    this.rows.push({ attempt: retryNumber, ...row, sub_step: subStep });
    this.count = Math.min(retriesMax, retryNumber);
  }
}
