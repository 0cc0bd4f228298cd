// journal: a run's journal in the store, for the process that holds its lease. Lines are made here,
// as for a file; the store fences and keeps them.
//
// Invariant:
//   B1. One statement of a run is under way at a time. Events that are appended meanwhile go
//       together in the next one, in order.
// Invariants J1 and on: journal/journal.ts.

import type { Entry, Event } from "../../contracts/event.ts";
import type { Hash } from "../../contracts/ids.ts";
import { invariant } from "../../kit/invariant.ts";
import type { Batch } from "../../journal/batch.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import type { Journal, Position } from "../../journal/journal.ts";
import { addLine, appendBytesMax, type Stamp } from "../../journal/line.ts";
import { appendLines, type Leases, refuseLost } from "./append.ts";
import { putBlob, readBlob } from "./blobs.ts";
import type { Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";
import type { RowPosition, SendAppend } from "./group-append.ts";
import { writeSnapshot } from "./snapshot.ts";

type Waiting = {
  readonly entries: readonly Entry[];
  readonly resolve: (entries: readonly Entry[]) => void;
  readonly reject: (error: Error) => void;
};
type PendingAppend = { lines: Buffer[]; bytes: number; tip: Position; waiting: Waiting[] };
type CreatedLines = {
  readonly entries: readonly Entry[];
  readonly lines: readonly Buffer[];
  /** The position after them. */
  readonly tip: Position;
  readonly bytes: number;
};

export type JournalParts = Leases & {
  readonly database: Database;
  readonly send: SendAppend;
  readonly run: string;
  readonly at: Readonly<Position>;
  readonly stamp: () => Stamp;
  /** Told of lines that are in the store. */
  readonly onKept?: (lines: readonly Uint8Array[]) => void;
};

export class StoredJournal implements Journal {
  readonly #parts: JournalParts;
  #acknowledged: Position;
  #tip: Position;
  readonly #queue: PendingAppend[] = [];
  #sending: Promise<void> | null = null;
  #failure: Error | null = null;
  #isClosed = false;

  constructor(parts: JournalParts) {
    this.#parts = parts;
    this.#acknowledged = { ...parts.at };
    this.#tip = this.#acknowledged;
  }

  get position(): Readonly<Position> {
    return this.#acknowledged;
  }

  async append(events: readonly Event[]): Promise<readonly Entry[]> {
    this.#requireOpen();
    if (events.length === 0) return [];

    const pending = this.#openPending();
    const { entries, lines, tip, bytes } = this.#createLines(events);
    this.#tip = tip;
    pending.tip = tip;
    pending.lines.push(...lines);
    pending.bytes += bytes;

    const appended = new Promise<readonly Entry[]>((resolve, reject) => {
      pending.waiting.push({ entries, resolve, reject });
    });
    this.#sending ??= this.#send();
    return appended;
  }

  appendSync(): readonly Entry[] {
    invariant(false, "a journal in a shared store appends by promise");
    return [];
  }

  async putBlob(bytes: string | Uint8Array): Promise<Hash> {
    this.#requireOpen();
    return putBlob(this.#parts.database, bytes);
  }

  readBlob(hash: Hash): Promise<Buffer> {
    return readBlob(this.#parts.database, hash);
  }

  async snapshot(state: { readonly seq: number }): Promise<boolean> {
    this.#requireOpen();
    const { database, lease, run } = this.#parts;
    if (state.seq !== this.#acknowledged.seq) return false;
    try {
      return await writeSnapshot({ database, lease, run, at: this.#acknowledged, state });
    } catch (error) {
      throw storeFailure(error, database.name);
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#sending;
    await this.#parts.lease.release();
  }

  #requireOpen(): void {
    invariant(!this.#isClosed, "a closed journal takes nothing");
    if (this.#failure !== null) throw this.#failure; // J5
    refuseLost(this.#parts);
  }

  /** The lines of these events, to follow those made before; nothing is queued yet. */
  #createLines(events: readonly Event[]): CreatedLines {
    const batch: Batch = { bytes: Buffer.allocUnsafe(1024), used: 0 };
    const tip = { ...this.#tip };
    const stamp = this.#parts.stamp();
    const entries: Entry[] = [];
    const ends: number[] = [];

    for (const event of events) {
      entries.push(addLine(batch, tip, stamp, event));
      ends.push(batch.used);
    }

    if (batch.used > appendBytesMax) {
      throw new JournalFailure({
        kind: "event_too_large",
        bytes: batch.used,
        bytesMax: appendBytesMax,
      });
    }

    const lines = ends.map((end, index) => batch.bytes.subarray(ends[index - 1] ?? 0, end - 1));
    return { entries, lines, tip, bytes: batch.used };
  }

  /** The append that further lines join: the last one in the queue, unless it is full. */
  #openPending(): PendingAppend {
    const last = this.#queue.at(-1);
    if (last !== undefined && last.bytes < appendBytesMax) return last;
    const pending: PendingAppend = { lines: [], bytes: 0, tip: this.#tip, waiting: [] };
    this.#queue.push(pending);

    return pending;
  }

  /** Sends one append after another until none is left (B1). */
  async #send(): Promise<void> {
    await Promise.resolve(); // what is appended in the same turn goes together

    for (let pending = this.#queue.shift(); pending !== undefined; pending = this.#queue.shift()) {
      if (pending.lines.length === 0) continue; // its events were refused

      try {
        await this.#sendPending(pending);
      } catch (error) {
        this.#failAll(pending, error instanceof Error ? error : new Error(String(error)));
      }
    }

    this.#sending = null;
  }

  async #sendPending({ lines, tip, waiting }: PendingAppend): Promise<void> {
    const { database, send, run, onKept } = this.#parts;
    const expectedTip = toRowPosition(this.#acknowledged);
    const newTip = toRowPosition(tip);

    await appendLines(database, send, this.#parts, { run, expectedTip, newTip, lines });
    this.#acknowledged = tip;
    onKept?.(lines);
    for (const { entries, resolve } of waiting) resolve(entries);
  }

  /** Nothing is appended any more: neither what was under way nor what waits behind it (J5). */
  #failAll(pending: PendingAppend, failure: Error): void {
    this.#failure = failure;

    for (const { waiting } of [pending, ...this.#queue.splice(0)]) {
      for (const { reject } of waiting) reject(failure);
    }
  }
}

const toRowPosition = ({ seq, prev }: Position): RowPosition => ({
  seq,
  head: Buffer.from(prev, "hex"),
});
