// journal: declares the interface of a run's journal, its only source of truth. It is stored in a
// file (file-journal.ts), in a database that several machines share (fleet/postgres/journal.ts),
// or, for tests, in memory (memory-journal.test-support.ts).
//
// Promises:
//   J1. What `append` has acknowledged is durable, and no failure after that loses it.
//   J2. What `append` returns equals what a replay will return.
//   J3. One owner at a time; each has an epoch greater than every line before it.
//   J4. Nothing damaged is accepted. Only a tail that was never acknowledged is cut, and cutting is
//       itself an event, unless nothing is left.
//   J5. After a failed write or sync of lines or of a blob this journal accepts nothing more; only
//       reopening it may continue.
//   J6. A snapshot is a cache, never authoritative: in doubt it is ignored.

import type { Entry, Event } from "../contracts/event.ts";
import type { Hash } from "../contracts/ids.ts";
import type { CommitGroup } from "./commit.ts";
import type { Disk } from "./disk.ts";

/**
 * A position in a journal, after a line: everything the next line depends on. It changes in place
 * while a replay moves on.
 */
export type Position = {
  /** Lines so far; a line's seq is its line number. */
  seq: number;
  /** The last line's: which owner wrote it, and the time worked up to it. */
  epoch: number;
  activeMs: number;
  /** Bytes so far, newlines included. */
  byte: number;
  /**
   * The `prev` of the next line: SHA-256 of the last line without its newline, zeros before the
   * first.
   */
  prev: Hash;
};

export interface Journal {
  /**
   * Resolves when the events are on disk, in one write and one sync (shared with others under group
   * commit).
   */
  append(events: readonly Event[]): Promise<readonly Entry[]>;
  /** The same without a promise, only in a file or in memory, and only under `commit: "sync"`. */
  appendSync(events: readonly Event[]): readonly Entry[];
  /**
   * Stores bytes under their hash and resolves when they are on disk; do so before the event that
   * names them.
   */
  putBlob(bytes: string | Uint8Array): Promise<Hash>;
  readBlob(hash: Hash): Promise<Buffer>;
  /**
   * Stores the fold of every acknowledged entry. A state of any other position, or one that
   * is too large, is refused with false.
   */
  snapshot(state: { readonly seq: number }): Promise<boolean>;
  /** The last acknowledged position. */
  readonly position: Readonly<Position>;
  /** Waits for pending writes and releases the run. */
  close(): Promise<void>;
}

/** How a replay returns what it reads. */
export type Replay = {
  /**
   * Called with the state of an intact snapshot; false rejects it (for example of another product
   * version), and the replay begins at the start.
   */
  readonly onSnapshot?: (state: unknown) => boolean;
  /**
   * Called with each entry after the snapshot. Without it, opening gathers them in `entries`.
   * A long journal is checked while it is read: if opening or reading throws, entries already
   * returned must be discarded.
   */
  readonly onEntry?: (entry: Entry) => void;
};

/** How a journal is opened for writing. */
export type JournalOptions = Replay & {
  /**
   * Where an earlier replay of this journal ended: only later entries are returned, and no snapshot
   * is offered. A journal without that line is damaged.
   */
  readonly from?: Readonly<Position>;
  /**
   * `sync`: an append blocks until it is on disk. `group`: several appends share a sync, which runs
   * off the main thread.
   */
  readonly commit: "sync" | "group";
  /**
   * Under `commit: "group"`: the runs of this process with which it shares its syncs; without it,
   * it syncs its own file.
   */
  readonly commitGroup?: CommitGroup;
  /** ISO 8601 in UTC. */
  readonly now: () => string;
  /**
   * Milliseconds of work, never decreasing. Only its growth since opening counts: it is added to
   * the journal's total.
   */
  readonly activeMs: () => number;
  readonly disk?: Disk;
};

export type OpenedJournal = {
  readonly journal: Journal;
  /** The state of the last intact snapshot that was accepted. */
  readonly snapshot: unknown;
  /** Entries since the snapshot; empty if `onEntry` is given. */
  readonly entries: readonly Entry[];
  /** The torn tail that was cut when it was opened; null if there was none. */
  readonly repaired: { readonly cut_bytes: number; readonly at_byte: number } | null;
};

export const journalFile = "journal.jsonl";
