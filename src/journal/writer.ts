// writer: writes events to the disk: one write and one sync per batch.
//
// Invariants:
//   W1. An entry is returned only after the sync that covers its line has returned.
//   W2. At most one batch is written and not yet synced, so a crash tears at most one.
//   W3. The first failure is final: the file is truncated to what was acknowledged, if the disk
//       lets it, and nothing is retried on this descriptor.

import type { Entry, Event } from "../contracts/event.ts";
import { invariant } from "../kit/invariant.ts";
import { type Batch, toByteView } from "./batch.ts";
import { type Commit, createFileCommit, settledPromise } from "./commit.ts";
import type { Disk } from "./disk.ts";
import { writeAll } from "./disk.ts";
import { toJournalFailure, JournalFailure } from "./journal-failure.ts";
import type { Position } from "./journal.ts";
import type { Stamp } from "./line.ts";
import { addLine, appendBytesMax, batchBytesMax } from "./line.ts";

type Waiter = {
  readonly entries: readonly Entry[];
  readonly resolve: (entries: readonly Entry[]) => void;
  readonly reject: (failure: Error) => void;
};
type PendingBatch = Batch & { tip: Position; readonly waiting: Waiter[] };

/** A buffer that exceeded this for one large batch is released afterwards. */
const keptBytesMax = 256 * 1024;
/** Of a new buffer. */
const firstBytes = 16 * 1024;

export class Writer {
  readonly #disk: Disk;
  readonly #fd: number;
  readonly #stamp: () => Stamp;
  #commit: Commit;
  /** After the last encoded line. */
  #tip: Position;
  /** After the last line on disk. */
  #acknowledged: Position;
  #failure: Error | null = null;
  readonly #queue: PendingBatch[] = [];
  #isSyncing = false;
  #isScheduled = false;
  /** Buffers of settled batches, for the next ones. */
  readonly #spare: Buffer[] = [];
  #onIdle: (() => void) | null = null;

  constructor(disk: Disk, fd: number, position: Position, stamp: () => Stamp) {
    this.#disk = disk;
    this.#fd = fd;
    this.#tip = position;
    this.#acknowledged = position;
    this.#stamp = stamp;
    this.#commit = createFileCommit(disk, fd);
  }

  /** From now on this journal's syncs are shared with other runs. */
  share(commit: Commit): void {
    invariant(!this.#isBusy, "a journal joins others while nothing is under way");
    this.#commit = commit;
  }

  /** Nothing more is written: this journal no longer shares its syncs. */
  leave(): void {
    this.#commit.leave();
  }

  get position(): Readonly<Position> {
    return this.#acknowledged;
  }

  appendSync(events: readonly Event[]): readonly Entry[] {
    if (this.#failure !== null) throw this.#failure; // W3
    invariant(!this.#isBusy, "no synchronous append while a shared one is under way");
    const batch = this.#emptyBatch();
    const entries = this.#encode(batch, events);
    this.#write(batch);

    try {
      this.#disk.fdatasync(this.#fd);
    } catch (error) {
      throw this.#fail(error, "syncing the journal", batch);
    }

    this.#settle(batch); // W1
    return entries;
  }

  append(events: readonly Event[]): Promise<readonly Entry[]> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== null) throw this.#failure; // W3
      const batch = this.#openBatch();
      const entries = this.#encode(batch, events);
      // Refused events leave no batch behind: nobody would write it, and closing would wait for it.
      if (batch.waiting.length === 0) this.#queue.push(batch);
      batch.waiting.push({ entries, resolve, reject });
      // A microtask later, everything else appended in this event-loop turn shares the write.
      if (this.#isSyncing || this.#isScheduled) return;
      this.#isScheduled = true;
      void settledPromise.then(this.#flush);
    });
  }

  /**
   * Nothing more is accepted, because the disk failed elsewhere; waiting callers still get an
   * answer.
   */
  refuse(failure: Error): void {
    this.#failure ??= failure;
  }

  async idle(): Promise<void> {
    if (!this.#isBusy) return;
    await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }

  get #isBusy(): boolean {
    return this.#isSyncing || this.#queue.length > 0;
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const batch = this.#isSyncing ? undefined : this.#queue.shift(); // W2
    if (batch === undefined) return;
    this.#isSyncing = true;

    try {
      this.#write(batch);
    } catch {
      // Every waiting caller has been answered.
      return;
    }

    this.#commit.commitLater(
      toByteView(batch.bytes, 0, batch.used),
      this.#acknowledged.byte,
      (error) => {
        if (error !== null && error !== undefined) {
          this.#fail(error, "syncing the journal", batch);
          return;
        }

        this.#isSyncing = false;
        this.#settle(batch); // W1
        this.#flush();
        if (!this.#isBusy) this.#onIdle?.();
      },
    );
  };

  #encode(batch: PendingBatch, events: readonly Event[]): readonly Entry[] {
    const { seq, epoch, activeMs, byte, prev } = this.#tip;
    const position = { seq, epoch, activeMs, byte, prev };
    const used = batch.used;

    try {
      const stamp = this.#stamp();
      const entries = events.map((event) => addLine(batch, position, stamp, event));
      const bytes = batch.used - used;
      if (bytes > appendBytesMax) {
        throw new JournalFailure({ kind: "event_too_large", bytes, bytesMax: appendBytesMax });
      }

      this.#tip = position;
      batch.tip = position;
      return entries;
    } catch (error) {
      batch.used = used;
      throw error;
    }
  }

  #write(batch: PendingBatch): void {
    try {
      writeAll(this.#disk, this.#fd, batch.bytes, batch.used, null);
    } catch (error) {
      throw this.#fail(error, "writing the journal", batch);
    }
  }

  #settle(batch: PendingBatch): void {
    this.#acknowledged = batch.tip;
    if (batch.bytes.length <= keptBytesMax) this.#spare.push(batch.bytes);
    for (const { entries, resolve } of batch.waiting) resolve(entries);
  }

  #fail(error: unknown, doing: string, batch: PendingBatch): Error {
    const failure = toJournalFailure(error, doing);
    this.#failure = failure;

    try {
      // After a failed sync the kernel may consider lines clean that never reached the disk: they
      // must not be found again.
      this.#commit.cut(this.#acknowledged.byte);
    } catch {
      // The rest is a torn tail or an unacknowledged line, and the next opening handles both.
    }

    for (const { waiting } of [batch, ...this.#queue.splice(0)]) {
      for (const { reject } of waiting) reject(failure);
    }

    this.#isSyncing = false;
    this.#onIdle?.();
    return failure;
  }

  /** The batch that the next events go into; a new one is queued with its first. */
  #openBatch(): PendingBatch {
    const last = this.#queue.at(-1);
    return last !== undefined && last.used <= batchBytesMax - appendBytesMax
      ? last
      : this.#emptyBatch();
  }

  #emptyBatch(): PendingBatch {
    return {
      bytes: this.#spare.pop() ?? Buffer.allocUnsafeSlow(firstBytes),
      used: 0,
      tip: this.#tip,
      waiting: [],
    };
  }
}
