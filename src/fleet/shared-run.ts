// shared-run: opens a run or portfolio whose journal is in a store. Its folder on this machine
// holds a copy, for everything that reads files.
//
// Invariants:
//   S1. The store comes first: a line or blob is in the folder only after the store has
//       acknowledged it.
//   S2. So if the store lacks a line that the folder has, the store has lost it, and the run is not
//       opened.
//   S3. The folder's lock is held too: on the same machine a second process is refused as it is
//       without a store.
//   S4. A line is copied after the blobs it names: an interrupted copy has fewer lines, but never a
//       line without its blobs.
//   S5. A portfolio that moves into the store gets its mark last, while the folder's lock is held.
//       Without the mark the folder's journal counts, with it the store's, and a process that has
//       opened the folder looks for it once more.

import { join } from "node:path";
import { hasBlob, readBlob, writeBlob } from "../journal/blobs.ts";
import { appendFlags, folderMode, nodeDisk, writeAll } from "../journal/disk.ts";
import { JournalFailure } from "../journal/journal-failure.ts";
import type { Journal, Position } from "../journal/journal.ts";
import { journalFile } from "../journal/journal.ts";
import { genesis } from "../journal/line.ts";
import { takeLock } from "../journal/lock.ts";
import { openFile } from "../journal/open-file.ts";
import { hasLineAt, readJournal } from "../journal/read.ts";
import type { OpenedRun, OpenOptions, RunKind, RunStore } from "../ports/run-store.ts";
import { readLeaseMs, requireStoreAddress } from "./address.ts";
import { openPostgresStore, type PostgresStore } from "./postgres/store.ts";
import type { SharedMark } from "./shared-mark.ts";

const stores = new Map<string, Promise<PostgresStore>>();

/**
 * The store that the environment names. A process has one of each address, so that its runs share
 * the connections.
 */
export function openSharedStore(env: NodeJS.ProcessEnv): Promise<PostgresStore> {
  const url = requireStoreAddress(env);
  const opening = stores.get(url) ?? openPostgresStore(url, { leaseMs: readLeaseMs(env) });
  stores.set(url, opening);
  opening.catch(() => stores.delete(url));

  return opening;
}

type SharedRun = {
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly mark: SharedMark;
  readonly options: OpenOptions;
  readonly kind?: RunKind;
};

export async function openShared({
  env,
  folder,
  mark: { key },
  options,
  kind = "run",
}: SharedRun): Promise<OpenedRun> {
  const store = await openSharedStore(env);
  nodeDisk.mkdir(folder, folderMode);
  const lock = await takeLock(nodeDisk, folder); // S3
  let copyFd: number | null = null;

  try {
    const copy = openFile(nodeDisk, join(folder, journalFile), appendFlags);
    copyFd = copy;
    const local = repairCopy(folder, copy, options.from);
    const write = createLineWriter(copy);
    const knownPosition = local.seq === 0 ? {} : { known: local }; // S2
    const opened = await store.open(key, kind, { ...options, ...knownPosition, onKept: write });

    try {
      await copyMissing({ store, key, folder, afterSeq: local.seq, write });
    } catch (error) {
      await opened.journal.close();
      throw error;
    }

    const close = (): void => {
      nodeDisk.close(copy);
      lock.release();
    };

    return { ...opened, journal: mirrorJournal(opened.journal, folder, close) };
  } catch (error) {
    if (copyFd !== null) nodeDisk.close(copyFd);
    lock.release();
    throw error;
  }
}

const newline = Buffer.from("\n");

/** Returns the function that appends lines to the copy of a journal. */
const createLineWriter =
  (copyFd: number) =>
  (lines: readonly Uint8Array[]): void => {
    const bytes = Buffer.concat(lines.flatMap((line) => [line, newline]));
    writeAll(nodeDisk, copyFd, bytes, bytes.length, null);
  };

/**
 * The position at which the copy ends, read on from a known one. Torn or damaged lines are cut off:
 * they are fetched from the store again.
 */
function repairCopy(folder: string, copyFd: number, from: Readonly<Position> = genesis): Position {
  let end: Position = genesis;
  try {
    ({ end } = readJournal(folder, { startAt: hasLineAt(folder, from) ? from : "start" }));
  } catch (error) {
    if (!(error instanceof JournalFailure) || error.kind !== "journal_damaged") throw error;
  }

  nodeDisk.ftruncate(copyFd, end.byte);
  return end;
}

/** A journal that keeps each blob in the folder too; lines are copied by `onKept`. */
function mirrorJournal(storeJournal: Journal, folder: string, onClose: () => void): Journal {
  let isClosed = false;
  return {
    append: (events) => storeJournal.append(events),
    appendSync: (events) => storeJournal.appendSync(events),
    putBlob: async (bytes) => {
      const sum = await storeJournal.putBlob(bytes); // S1
      writeBlob(nodeDisk, folder, bytes);
      return sum;
    },
    readBlob: async (sum) =>
      hasBlob(folder, sum) ? readBlob(folder, sum) : storeJournal.readBlob(sum),
    snapshot: (state) => storeJournal.snapshot(state),
    get position() {
      return storeJournal.position;
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await storeJournal.close();
      onClose();
    },
  };
}

/** Adds to a copy what the store has beyond it; another machine may have written to the run. */
export async function bringCopy(
  store: Pick<RunStore, "lines" | "hasBlob" | "readBlob">,
  key: string,
  folder: string,
): Promise<void> {
  const copyFd = openFile(nodeDisk, join(folder, journalFile), appendFlags);
  try {
    const { seq } = repairCopy(folder, copyFd);
    await copyMissing({ store, key, folder, afterSeq: seq, write: createLineWriter(copyFd) });
  } finally {
    nodeDisk.close(copyFd);
  }
}

type MissingLines = {
  readonly store: Pick<RunStore, "lines" | "hasBlob" | "readBlob">;
  readonly key: string;
  readonly folder: string;
  readonly afterSeq: number;
  readonly write: (lines: readonly Uint8Array[]) => void;
};

/** Copies the lines after a number, and the blobs they name, into the folder (S4). */
export async function copyMissing({
  store,
  key,
  folder,
  afterSeq,
  write,
}: MissingLines): Promise<void> {
  const checkedBlobs = new Set<string>();
  for await (const line of store.lines(key, afterSeq)) {
    const blobNames = new Set<string>();
    addHashes(blobNames, line);

    // A blob may name others: evidence names its output.
    for (const name of blobNames) {
      if (checkedBlobs.has(name)) continue;
      checkedBlobs.add(name);
      const isHere = hasBlob(folder, name);
      if (!isHere && !(await store.hasBlob(key, name))) continue;
      // An interrupted copy may have left a blob here without those that it names.
      const bytes = isHere ? readBlob(folder, name) : await store.readBlob(key, name);
      if (bytes.length <= scannedBytesMax) addHashes(blobNames, bytes);
      if (!isHere) writeBlob(nodeDisk, folder, bytes);
    }

    write([line]);
  }
}

/** Larger blobs hold output or documents, which name no other blob. */
const scannedBytesMax = 1024 * 1024;

/**
 * Adds whatever looks like a hash. What isn't the hash of a blob isn't in the store, so it does no
 * harm.
 */
function addHashes(blobNames: Set<string>, bytes: Uint8Array): void {
  for (const [name] of Buffer.from(bytes)
    .toString("latin1")
    .matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g)) {
    blobNames.add(name);
  }
}
