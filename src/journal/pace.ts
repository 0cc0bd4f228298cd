// pace: decides whether the runs of a group sync all at once, or in two alternating halves: one
// half works while the other's lines are synced. With two, a round lasts as long as the work; with
// one, as long as the work and a sync. If a sync takes longer than all the work, one is better.

/** Fewer lines than this are not worth a separate sync: they wait for the others. */
const halfMin = 8;
/** A sync that seems longer may only have been noticed late, so the estimate adapts slowly. */
const growth = 1.25;

export interface Pace {
  /** A line has arrived. */
  lineArrived(): void;
  /** A batch is being written. */
  syncStarted(): void;
  /** It is on disk; the number of runs in this round, including those waiting for the next. */
  syncEnded(round: number): void;
  /** While some still work: whether enough lines have arrived for the first of two halves. */
  isHalfBatchReady(waiting: number): boolean;
  /** When a sync has ended: whether those that arrived meanwhile go at once. */
  shouldSyncNow(waiting: number): boolean;
}

/** Decides by the measured duration of a sync, and of the work between two of them. */
export const createMeasuredPace = (nowMs: () => number = () => performance.now()): Pace =>
  new MeasuredPace(nowMs);

class MeasuredPace implements Pace {
  readonly #nowMs: () => number;
  #syncMs = Infinity;
  /** From an answer to the next line of the same run, if each worked alone. */
  #workMs = 0;
  /** How many took part in the last round. */
  #round = 0;
  #startedMs = 0;
  #endedMs = 0;
  #arrivals = 0;
  #lastArrivalMs = 0;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  lineArrived(): void {
    this.#arrivals++;
    this.#lastArrivalMs = this.#nowMs();
  }

  syncStarted(): void {
    this.#startedMs = this.#nowMs();
  }

  syncEnded(round: number): void {
    if (this.#arrivals >= halfMin) {
      this.#workMs = (this.#lastArrivalMs - this.#endedMs) / this.#arrivals;
    }

    this.#endedMs = this.#nowMs();
    this.#syncMs = Math.min(this.#endedMs - this.#startedMs, this.#syncMs * growth);
    this.#round = round;
    this.#arrivals = 0;
  }

  isHalfBatchReady(waiting: number): boolean {
    return waiting >= halfMin && waiting * 2 >= this.#round && this.#areHalvesFaster;
  }

  shouldSyncNow(waiting: number): boolean {
    return waiting >= halfMin && this.#areHalvesFaster;
  }

  get #areHalvesFaster(): boolean {
    return this.#syncMs < this.#round * this.#workMs;
  }
}
