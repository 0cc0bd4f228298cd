// clock: port to time: wall clock, monotonic clock and timers.

/** Time: the wall clock, and a clock that cannot be set back. */
export interface Clock {
  /** ISO 8601 in UTC, to the millisecond. */
  now(): string;
  /** Milliseconds that only grow; deadlines and budgets are measured with it. */
  monotonicMs(): number;
  /** Calls back once after `ms`; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}
