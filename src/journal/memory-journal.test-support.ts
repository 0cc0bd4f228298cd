// memory-journal: opens a journal with the same promises and no disk, for tests and simulations.
// Its lines are the same bytes as a file's.

import { hash } from "node:crypto";
import type { Entry, Event } from "../contracts/event.ts";
import type { Hash } from "../contracts/ids.ts";
import type { Batch } from "./batch.ts";
import { toBlobBytes } from "./blobs.ts";
import { damaged, JournalFailure } from "./journal-failure.ts";
import type { Journal, OpenedJournal, JournalOptions, Position } from "./journal.ts";
import type { Stamp } from "./line.ts";
import { addLine, genesis } from "./line.ts";
import { createStamp } from "./stamp.ts";

/** The disk that a run leaves behind when its process dies; the next owner opens it. */
export class MemoryStore {
  readonly lines: string[] = [];
  readonly blobs = new Map<Hash, Buffer>();
  snapshot: { readonly json: string; readonly seq: number } | null = null;
  position: Position = { ...genesis };
  owner: object | null = null;

  /** Like kill -9: the owner is gone, and its remains can write no more. */
  crash(): void {
    this.owner = null;
  }
}

export async function openMemoryJournal(
  store: MemoryStore,
  options: Omit<JournalOptions, "disk">,
): Promise<OpenedJournal> {
  if (store.owner !== null) {
    throw new JournalFailure({ kind: "run_locked", pid: process.pid, host: null });
  }

  const entries: Entry[] = [];
  const onEntry = options.onEntry ?? ((entry: Entry) => void entries.push(entry));
  const { from } = options;
  if (from !== undefined && findPrevAfter(store, from.seq) !== from.prev) {
    throw damaged(from.seq, from.byte, "a line that was read before is not there any more");
  }

  const state =
    store.snapshot === null || from !== undefined
      ? null
      : (JSON.parse(store.snapshot.json) as unknown);
  const isSnapshotUsed = state !== null && (options.onSnapshot?.(state) ?? true);
  for (const line of store.lines.slice(from?.seq ?? (isSnapshotUsed ? store.snapshot?.seq : 0))) {
    onEntry(JSON.parse(line) as Entry);
  }

  return {
    journal: new MemoryJournal(store, createStamp(options, store.position)),
    snapshot: isSnapshotUsed ? state : null,
    entries,
    repaired: null,
  };
}

/** The hash that the line after this number names; at the end the store's own. */
function findPrevAfter(store: MemoryStore, seq: number): Hash | undefined {
  const next = store.lines[seq];
  if (next !== undefined) return (JSON.parse(next) as Entry).prev;
  return seq === store.position.seq ? store.position.prev : undefined;
}

class MemoryJournal implements Journal {
  readonly #store: MemoryStore;
  readonly #stamp: () => Stamp;
  readonly #batch: Batch = { bytes: Buffer.allocUnsafeSlow(4096), used: 0 };

  constructor(store: MemoryStore, stamp: () => Stamp) {
    this.#store = store;
    this.#stamp = stamp;
    store.owner = this;
  }

  get position(): Readonly<Position> {
    return this.#store.position;
  }

  async append(events: readonly Event[]): Promise<readonly Entry[]> {
    return this.appendSync(events);
  }

  appendSync(events: readonly Event[]): readonly Entry[] {
    this.#mustOwn();
    if (events.length === 0) return [];
    const position = { ...this.#store.position };
    this.#batch.used = 0;
    const stamp = this.#stamp();
    const entries = events.map((event) => addLine(this.#batch, position, stamp, event));
    this.#store.lines.push(
      ...this.#batch.bytes.toString("utf8", 0, this.#batch.used - 1).split("\n"),
    );

    this.#store.position = position;
    return entries;
  }

  async putBlob(content: string | Uint8Array): Promise<Hash> {
    this.#mustOwn();
    const bytes = Buffer.from(toBlobBytes(content));
    const name = hash("sha256", bytes);
    this.#store.blobs.set(name, bytes);

    return name;
  }

  async readBlob(name: Hash): Promise<Buffer> {
    const bytes = this.#store.blobs.get(name);
    if (bytes === undefined) throw damaged(null, null, `blob ${name} cannot be read (ENOENT)`);
    return Buffer.from(bytes);
  }

  async snapshot(state: { readonly seq: number }): Promise<boolean> {
    this.#mustOwn();
    if (state.seq !== this.#store.position.seq) return false;
    this.#store.snapshot = { json: JSON.stringify(state), seq: state.seq };

    return true;
  }

  async close(): Promise<void> {
    if (this.#store.owner === this) this.#store.owner = null;
  }

  #mustOwn(): void {
    // A file is protected by the kernel's lock, which ends with its process; here the left-over
    // owner itself must be refused.
    if (this.#store.owner !== this) {
      throw new JournalFailure({ kind: "run_locked", pid: null, host: null });
    }
  }
}
