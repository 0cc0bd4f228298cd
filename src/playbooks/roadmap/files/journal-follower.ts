// journal-follower: applies the entries of an active run's journal in order and without gaps.
//
// Invariants:
//   F1. No acknowledgement waits: `push` only queues an entry, which is applied later.
//   F2. If entries were missed, the journal is read again.

import type { Entry } from "../../../contracts/event.ts";

/** A long journal must not block the event loop for long. */
const entriesPerTurn = 1_000;
const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

type FollowerParts = {
  /** The whole journal so far, read again. */
  readonly entries: () => Iterable<Entry>;
  /** The number of the newest entry. */
  readonly latestSeq: () => number;
  /** Called once for each entry, in order. */
  readonly apply: (entry: Entry) => void;
};

export class JournalFollower {
  readonly #parts: FollowerParts;
  #queue: Entry[] = [];
  #appliedSeq = 0; // the first entry has 1

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  /** Takes a new entry. F1 */
  push(entry: Entry): void {
    this.#queue.push(entry);
  }

  /**
   * Applies queued entries up to the first missing one and drops the others: `catchUp` reads those
   * from the journal.
   */
  applyQueue(): void {
    for (const entry of this.#queue) if (entry.seq === this.#appliedSeq + 1) this.#apply(entry);
    this.#queue = [];
  }

  /** Applies every entry that the journal has. Not to be called twice at once. F2 */
  async catchUp(): Promise<void> {
    this.applyQueue();
    let appliedCount = 0;
    let seqBefore: number | null = null;
    // Ends as well if a reading brings nothing new.
    while (this.#appliedSeq < this.#parts.latestSeq() && seqBefore !== this.#appliedSeq) {
      seqBefore = this.#appliedSeq;
      for (const entry of this.#parts.entries()) {
        if (entry.seq <= this.#appliedSeq) continue;
        this.#apply(entry);
        if (++appliedCount % entriesPerTurn === 0) await yieldToEventLoop();
      }

      this.applyQueue();
    }
  }

  #apply(entry: Entry): void {
    this.#parts.apply(entry);
    this.#appliedSeq = entry.seq;
  }
}
