// run-store: port to where journals, blobs and requests are kept: files of this machine, memory, or a database that many machines share.
//
// Promises, besides those of a journal (J1 to J6):
//   T1. The bytes of a journal are the same in every store: its `lines` are those of the `journal.jsonl` of the same events.
//   T2. Whoever lost a run writes nothing more to it, whatever it believes: the store itself refuses.
//   T3. A request is pending until it is forgotten, and once however often it was sent.

import type { Entry } from "../contracts/event.ts";
import type { Hash } from "../contracts/ids.ts";
import type { Opened, Position, Replay } from "../journal/journal.ts";
import type { Inbox, Request } from "./inbox.ts";

export type RunKind = "run" | "portfolio";

/** Who has a run, for people and for a message; the epoch is what counts. */
export type Holder = { readonly worker: string; readonly host: string; readonly pid: number };

/** The right to write to a run. On files it is the kernel's lock, which ends with its process. */
export interface Lease {
  readonly epoch: number;
  /** Asked before anything is spent: false while it is not certain that nobody else has the run. */
  isConfirmed(): boolean;
  /** Fires once, when the run is lost or nothing was heard for too long: everything that works for it is ended. */
  readonly lost: AbortSignal;
}

export type OpenedRun = Opened & { readonly lease: Lease };

export type OpenOptions = Replay & {
  /** Where an earlier replay ended: only what came after is handed out. A journal without that line is damaged. */
  readonly from?: Readonly<Position>;
  /** ISO 8601 in UTC. */
  readonly now: () => string;
  /** Milliseconds of work, never falling. */
  readonly activeMs: () => number;
  /** A line that was acknowledged to this machine once: a store that does not have it has lost lines. */
  readonly known?: { readonly seq: number; readonly prev: Hash };
};

/** The state of a run in the store, without reading its journal. */
export type StoredRun = {
  readonly run: string;
  readonly kind: RunKind;
  readonly seq: number;
  readonly epoch: number;
  /** Null while nobody has it. */
  readonly holder: Holder | null;
  /** How long its holder's lease still lasts, by the store's clock; left out where a lease ends with its process. */
  readonly leaseLeftMs?: number | null;
  /** How often it was taken from an owner that had not given it back. */
  readonly takeOvers: number;
};

export interface RunStore {
  /** Takes a run, made where it is not there. Throws a JournalFailure: `run_locked` while another has it. */
  open(run: string, kind: RunKind, options: OpenOptions): Promise<OpenedRun>;
  /** Reads on from a position without taking the run; a run that is not there has no entries. Throws a JournalFailure at damage. */
  read(run: string, from: Readonly<Position>, onEntry: (entry: Entry) => void): Promise<Position>;
  /** The journal's lines after a number, without their newlines: with them they are what its file would hold. */
  lines(run: string, afterSeq: number): AsyncIterable<Uint8Array>;
  readBlob(run: string, hash: Hash): Promise<Buffer>;
  hasBlob(run: string, hash: Hash): Promise<boolean>;
  runs(): Promise<readonly StoredRun[]>;
  /** Leaves a request with a run, whoever has it. */
  send(run: string, request: Request): Promise<void>;
  inbox(run: string): Promise<Inbox & { readonly close: () => Promise<void> }>;
  close(): Promise<void>;
}
