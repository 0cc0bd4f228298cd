// run-store: port to where journals, blobs and requests are kept: files of this machine, memory, or
// a database that many machines share.
//
// Promises, besides those of a journal (J1 to J6):
//   T1. The bytes of a journal are the same in every store: its `lines` are those of the
//       `journal.jsonl` of the same events.
//   T2. A process that lost a run writes nothing more to it, whatever it believes: the store
//       refuses.
//   T3. A journal that was opened under another lease is appended to only while that one is held
//       too: the store asks it in the same step.
//   T4. A request is pending until it is removed, and counts once however often it was sent.

import type { Entry } from "../contracts/event.ts";
import type { Hash } from "../contracts/ids.ts";
import type { OpenedJournal, Position, Replay } from "../journal/journal.ts";
import type { RequestQueue, RunRequest } from "./request-queue.ts";

export type RunKind = "run" | "portfolio";

/** Who has a run, for people and messages; only the epoch counts. */
export type Holder = { readonly worker: string; readonly host: string; readonly pid: number };

/** The right to write to a run. On files it is the kernel's lock, which ends with its process. */
export interface Lease {
  readonly run: string;
  readonly epoch: number;
  /**
   * Checked before anything is spent: false unless it is certain that no other process has the run.
   */
  isConfirmed(): boolean;
  /**
   * Fires once, when the run is lost or the store was silent for too long: everything that works
   * for it is ended.
   */
  readonly lost: AbortSignal;
}

export type OpenedRun = OpenedJournal & { readonly lease: Lease };

export type OpenOptions = Replay & {
  /**
   * Where an earlier replay ended: only later lines are returned. A journal without that line is
   * damaged.
   */
  readonly from?: Readonly<Position>;
  /** ISO 8601 in UTC. */
  readonly now: () => string;
  /** Milliseconds of work, never falling. */
  readonly activeMs: () => number;
  /** A line that was once acknowledged to this machine: a store without it has lost lines. */
  readonly known?: { readonly seq: number; readonly prev: Hash };
  /**
   * A lease of the same store without which nothing may be appended, whoever has the journal (T3).
   */
  readonly under?: Lease;
};

/** The state of a run in the store, without reading its journal. */
export type StoredRun = {
  readonly run: string;
  readonly kind: RunKind;
  readonly seq: number;
  readonly epoch: number;
  /** Null while no process has it. */
  readonly holder: Holder | null;
  /**
   * How long its holder's lease still lasts, by the store's clock; left out if a lease ends with
   * its process.
   */
  readonly leaseLeftMs?: number | null;
  /** How often it was taken from an owner that had not given it back. */
  readonly takeOvers: number;
};

export interface RunStore {
  /**
   * Takes a run, creating it if needed. Throws a JournalFailure: `run_locked` while another process
   * has it.
   */
  open(run: string, kind: RunKind, options: OpenOptions): Promise<OpenedRun>;
  /**
   * Reads on from a position without taking the run; an absent run has no entries. Throws a
   * JournalFailure if it is damaged.
   */
  read(run: string, from: Readonly<Position>, onEntry: (entry: Entry) => void): Promise<Position>;
  /**
   * The journal's lines after a number, without their newlines: joined with them they equal its
   * file.
   */
  lines(run: string, afterSeq: number): AsyncIterable<Uint8Array>;
  readBlob(run: string, hash: Hash): Promise<Buffer>;
  hasBlob(run: string, hash: Hash): Promise<boolean>;
  runs(): Promise<readonly StoredRun[]>;
  /** Leaves a request for a run, whichever process has it. */
  send(run: string, request: RunRequest): Promise<void>;
  requests(run: string): Promise<RequestQueue & { readonly close: () => Promise<void> }>;
  close(): Promise<void>;
}
