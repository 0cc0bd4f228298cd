// store: keeps journals, blobs and requests in PostgreSQL, for workers on many machines.
// Invariants J1 and on: journal/journal.ts.

import { hostname } from "node:os";
import { hash } from "node:crypto";
import type { Entry } from "../../contracts/event.ts";
import { damaged, JournalFailure } from "../../journal/journal-failure.ts";
import type { Position } from "../../journal/journal.ts";
import { invariant } from "../../kit/invariant.ts";
import { genesis } from "../../journal/line.ts";
import { createStamp } from "../../journal/stamp.ts";
import type {
  Holder,
  Lease,
  OpenedRun,
  OpenOptions,
  RunKind,
  RunStore,
  StoredRun,
} from "../../ports/run-store.ts";
import { leaseMsDefault, computeLeaseTimes } from "../lease-times.ts";
import { hasBlob, readBlob } from "./blobs.ts";
import { connect, type Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";
import { openGroupAppend } from "./group-append.ts";
import { StoredJournal } from "./journal.ts";
import {
  type HeldLease,
  holdLease,
  leaseClock,
  type LeaseClock,
  leaseLeftColumn,
  parseMs,
  type TakenRun,
  takeRun,
} from "./lease.ts";
import { requireSound } from "./migrate.ts";
import { refuseLossy } from "./settings.ts";
import { readLinesAfter, readLines, refuseNewerRun } from "./read.ts";
import { openStoredRequests, sendRequest } from "./requests.ts";
import { seedJournal, type Seed } from "./seed.ts";
import { readSnapshot } from "./snapshot.ts";

export type StoreOptions = {
  readonly leaseMs?: number;
  /** Who opens runs here. */
  readonly worker?: string;
  readonly clock?: LeaseClock;
  readonly usesMax?: number;
};

export type PostgresStore = Omit<RunStore, "open"> & {
  readonly database: Database;
  /** How often a run was taken; 0 if it is not there. */
  epochOf(run: string): Promise<number>;
  /** Takes in a journal that was begun elsewhere. */
  seed(journal: Seed): Promise<void>;
  /** `onKept` is called with lines once they are durable, before their append resolves. */
  open(
    run: string,
    kind: RunKind,
    options: OpenOptions & { readonly onKept?: (lines: readonly Uint8Array[]) => void },
  ): Promise<OpenedRun>;
};

/**
 * Refuses a store with another schema than this product's, or one that may lose acknowledged lines.
 */
export async function openPostgresStore(
  url: string,
  options: StoreOptions = {},
): Promise<PostgresStore> {
  const times = computeLeaseTimes(options.leaseMs ?? leaseMsDefault);
  const database = connect(url, {
    answerMs: times.answerMs,
    ...(options.usesMax === undefined ? {} : { usesMax: options.usesMax }),
  });
  const send = openGroupAppend(database);
  const clock = options.clock ?? leaseClock;

  const holder: Holder = {
    worker: options.worker ?? `${hostname()}-${process.pid}`,
    host: hostname(),
    pid: process.pid,
  };

  try {
    await requireSound(database);
  } catch (error) {
    await database.close();
    throw error;
  }

  const heldLeases = new WeakMap<Lease, HeldLease>();
  const requireHeldLease = (lease: Lease): HeldLease => {
    const heldLease = heldLeases.get(lease);
    invariant(heldLease !== undefined, "T3: a second lease is one of the same store");
    return heldLease;
  };

  const open: PostgresStore["open"] = async (run, kind, requested) => {
    const under = requested.under === undefined ? null : requireHeldLease(requested.under);
    const taken = await takeRun(database, { run, kind, holder, leaseMs: times.leaseMs, clock });
    const lease = holdLease(database, { row: { table: "run", id: run }, taken, times, clock });
    heldLeases.set(lease, lease);

    try {
      refuseLossy(database.name, taken.faults);
      const { at, snapshot, entries } = await replayTaken(database, run, taken, requested);
      // A line's epoch is its owner's, which the store counts, so it is higher than that of every
      // line before.
      const stamp = createStamp(requested, { ...at, epoch: taken.epoch - 1 });
      const kept = requested.onKept === undefined ? {} : { onKept: requested.onKept };
      const journal = new StoredJournal({ database, send, lease, under, run, at, stamp, ...kept });

      return { journal, lease, snapshot, entries, repaired: null };
    } catch (error) {
      await lease.release();
      throw storeFailure(error, database.name);
    }
  };

  return {
    database,
    open,
    seed: (journal) => seedJournal(database, journal),
    read: (run, from, onEntry) => readLines(database, run, from, onEntry),
    lines: (run, afterSeq) => readLinesAfter(database, run, afterSeq),
    readBlob: (_run, sum) => readBlob(database, sum),
    hasBlob: (_run, sum) => hasBlob(database, sum),
    runs: () => listRuns(database),
    epochOf: async (run) => {
      try {
        const { rows } = await database.query(
          "select epoch::text from autopilot.run where run_id = $1",
          [run],
        );
        return Number(rows[0]?.["epoch"] ?? 0);
      } catch (error) {
        throw storeFailure(error, database.name);
      }
    },
    send: (run, request) => sendRequest(database, run, request),
    requests: async (run) => openStoredRequests(database, run),
    close: () => database.close(),
  };
}

type ReplayedRun = Pick<OpenedRun, "snapshot" | "entries"> & { readonly at: Position };

/**
 * Reads a run that was taken to its end. Refuses one that isn't what its row says, lost lines, or
 * has a newer format.
 */
async function replayTaken(
  database: Database,
  run: string,
  taken: TakenRun,
  requested: OpenOptions,
): Promise<ReplayedRun> {
  await refuseLostLines(database, run, taken.seq, requested.known);
  const entries: Entry[] = [];
  const onEntry = requested.onEntry ?? ((entry: Entry) => void entries.push(entry));
  await refuseNewerRun(database, run); // a snapshot would hide its first line
  const snapshot = requested.from === undefined ? await readSnapshot(database, run) : null;
  const isSnapshotUsed = snapshot !== null && (requested.onSnapshot?.(snapshot.state) ?? true);

  const at = await readLines(
    database,
    run,
    requested.from ?? (isSnapshotUsed ? snapshot.at : genesis),
    onEntry,
  );

  const head = taken.head.toString("hex");
  if (at.seq !== taken.seq || at.prev !== head || at.byte !== taken.bytes) {
    throw damaged(
      at.seq,
      at.byte,
      `the store's own note of this run says line ${taken.seq}, ${head.slice(0, 12)}`,
    );
  } // J4

  return { at, snapshot: isSnapshotUsed ? snapshot.state : null, entries };
}

/** Refuses if the store no longer has the last line that this machine knows was acknowledged. */
async function refuseLostLines(
  { query }: Database,
  run: string,
  seq: number,
  known: OpenOptions["known"],
): Promise<void> {
  if (known === undefined || known.seq === 0) return;
  const { rows } = await query("select line from autopilot.entry where run_id = $1 and seq = $2", [
    run,
    known.seq,
  ]);
  const line = rows[0]?.["line"];
  if (line instanceof Buffer && hash("sha256", line) === known.prev) return;
  const detail = `line ${known.seq} of ${run} was acknowledged to this machine, and the store ${seq < known.seq ? `ends at line ${seq}` : "has another one"}`;
  throw new JournalFailure({ kind: "store_lost_lines", detail });
}

async function listRuns({ query, name }: Database): Promise<readonly StoredRun[]> {
  try {
    const { rows } = await query(
      `select run_id, kind, seq::text, epoch::text, take_overs::text,
        case when lease_until > clock_timestamp() then owner end as holder, ${leaseLeftColumn} as left_ms from autopilot.run order by run_id`,
    );
    return rows.map((row) => ({
      run: String(row["run_id"]),
      kind: row["kind"] as RunKind,
      seq: Number(row["seq"]),
      epoch: Number(row["epoch"]),
      holder: (row["holder"] ?? null) as Holder | null,
      leaseLeftMs: parseMs(row["left_ms"]),
      takeOvers: Number(row["take_overs"]),
    }));
  } catch (error) {
    throw storeFailure(error, name);
  }
}
