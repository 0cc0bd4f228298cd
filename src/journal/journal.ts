// journal: the one truth of a run, as its owner and its readers see it. A file keeps it (file.ts), or memory does (memory.ts).
//
// Promises:
//   J1. What `append` has acknowledged is on disk, and no failure after that loses it.
//   J2. What `append` hands back equals what a replay will hand back.
//   J3. One owner at a time; each has an epoch greater than every line before it.
//   J4. Nothing damaged is accepted. Only a tail that was never acknowledged is cut, and cutting is itself an event.
//   J5. After a failed write or sync this journal takes nothing more; only opening it anew may go on.
//   J6. A snapshot is a short cut, never a truth: in doubt it is ignored.

import type { Entry, Event } from "../contracts/event.ts";
import type { Hash } from "../contracts/ids.ts";
import type { CommitGroup } from "./commit.ts";
import type { Disk } from "./disk.ts";

/** Where a journal is after a line: everything the next line depends on. */
export type Position = {
  /** Lines so far; a line's seq is its line number. */
  seq: number;
  epoch: number;
  activeMs: number;
  /** Bytes so far, newlines included. */
  byte: number;
  /** SHA-256 of the last line without its newline; zeros before the first. */
  prev: Hash;
};

export interface Journal {
  /** Resolves when the events are on disk, in one write and one sync (shared with others under group commit). */
  append(events: readonly Event[]): Promise<readonly Entry[]>;
  /** The same without a promise, only under `commit: "sync"`. */
  appendSync(events: readonly Event[]): readonly Entry[];
  /** Stores bytes under their hash and resolves when they are on disk; do so before the event that names them. */
  putBlob(bytes: string | Uint8Array): Promise<Hash>;
  readBlob(hash: Hash): Promise<Buffer>;
  /** Stores the fold of every acknowledged entry. A state that is behind is not taken, and the answer is false. */
  snapshot(state: { readonly seq: number }): Promise<boolean>;
  /** The last acknowledged place. */
  readonly position: Readonly<Position>;
  /** Waits for what is under way and gives the run free. */
  close(): Promise<void>;
}

/** How a replay hands out what it reads. */
export type Replay = {
  /** Offered the state of a sound snapshot; false refuses it (say, of another product version), and the replay begins at the start. */
  readonly onSnapshot?: (state: unknown) => boolean;
  /**
   * Called with each entry after the snapshot. Without it, opening gathers them in `entries`.
   * A long journal is checked beside its reading: if opening or reading throws, whatever was handed out is to be thrown away.
   */
  readonly onEntry?: (entry: Entry) => void;
};

export type Options = Replay & {
  /**
   * Where an earlier replay of this journal ended: only what came after it is handed out, and no snapshot is offered. A journal that does
   * not hold that line is damaged.
   */
  readonly from?: Readonly<Position>;
  /** `sync` blocks until the disk has it; `group` lets several appends share a sync off the main thread. */
  readonly commit: "sync" | "group";
  /** Under `commit: "group"`: the runs of this process with which it shares its syncs; without it, it syncs its own file. */
  readonly group?: CommitGroup;
  /** ISO 8601 in UTC. */
  readonly now: () => string;
  /** Milliseconds of work, never falling. Only its growth since opening counts: it is added to what the journal already tells. */
  readonly activeMs: () => number;
  readonly disk?: Disk;
};

export type Opened = {
  readonly journal: Journal;
  /** The state of the last sound snapshot that was taken. */
  readonly snapshot: unknown;
  /** Entries since the snapshot; empty if `onEntry` took them. */
  readonly entries: readonly Entry[];
  readonly repaired: { readonly cut_bytes: number; readonly at_byte: number } | null;
};

export const journalFile = "journal.jsonl";
