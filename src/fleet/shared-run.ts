// shared-run: a run or a portfolio whose truth is in a store, opened on this machine. Its folder holds a copy, for everything that reads files.
//
// Invariants:
//   S1. The store comes first: a line or blob is in the folder only after the store has acknowledged it.
//   S2. So a line in the folder that the store does not have is a line the store has lost, and the run is not opened.
//   S3. The folder's lock is held too: on one machine a second process is refused as it is without a store.
//   S4. A line comes into the folder after the blobs it names: a copy that was cut short holds fewer lines, never lines without their blobs.
//   S5. A portfolio that moves into the store gets its mark last, while the folder's lock is held: without it the folder is the truth, with it
//       the store is, and whoever has opened the folder looks for it once more.

import { join } from "node:path";
import { hasBlob, readBlob, writeBlob } from "../journal/blobs.ts";
import { appendFlags, folderMode, nodeDisk, writeAll } from "../journal/disk.ts";
import { JournalFailure } from "../journal/failure.ts";
import type { Journal, Position } from "../journal/journal.ts";
import { journalFile } from "../journal/journal.ts";
import { genesis } from "../journal/line.ts";
import { takeLock } from "../journal/lock.ts";
import { openFile } from "../journal/open-file.ts";
import { hasLineAt, readJournal } from "../journal/read.ts";
import type { OpenedRun, OpenOptions, RunKind, RunStore } from "../ports/run-store.ts";
import { leaseMs, requireStoreAddress } from "./address.ts";
import { openPostgresStore, type PostgresStore } from "./postgres/store.ts";
import type { SharedMark } from "./shared-mark.ts";

const stores = new Map<string, Promise<PostgresStore>>();

/** One store a process: its runs share the connections. */
export function storeIn(env: NodeJS.ProcessEnv): Promise<PostgresStore> {
  const url = requireStoreAddress(env);
  const opening = stores.get(url) ?? openPostgresStore(url, { leaseMs: leaseMs(env) });
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

export async function openShared({ env, folder, mark: { key }, options, kind = "run" }: SharedRun): Promise<OpenedRun> {
  const store = await storeIn(env);
  nodeDisk.mkdir(folder, folderMode);
  const lock = await takeLock(nodeDisk, folder); // S3
  let fd: number | null = null;
  try {
    const copy = openFile(nodeDisk, join(folder, journalFile), appendFlags);
    fd = copy;
    const local = endOfCopy(folder, copy, options.from);
    const write = (lines: readonly Uint8Array[]): void => {
      const bytes = Buffer.concat(lines.flatMap((line) => [line, newline]));
      writeAll(nodeDisk, copy, bytes, bytes.length, null);
    };
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
    return { ...opened, journal: mirrored(opened.journal, folder, close) };
  } catch (error) {
    if (fd !== null) nodeDisk.close(fd);
    lock.release();
    throw error;
  }
}

const newline = Buffer.from("\n");

/**
 * The position of the copy, read on from one where it was whole. It is only a copy: torn or damaged lines are cut off and fetched again.
 */
function endOfCopy(folder: string, fd: number, from: Readonly<Position> = genesis): Position {
  let end: Position = genesis;
  try {
    ({ end } = readJournal(folder, { from: hasLineAt(folder, from) ? from : "start" }));
  } catch (error) {
    if (!(error instanceof JournalFailure) || error.kind !== "journal_damaged") throw error;
  }
  nodeDisk.ftruncate(fd, end.byte);
  return end;
}

function mirrored(inner: Journal, folder: string, onClose: () => void): Journal {
  let isClosed = false;
  return {
    append: (events) => inner.append(events),
    appendSync: (events) => inner.appendSync(events),
    putBlob: async (bytes) => {
      const sum = await inner.putBlob(bytes); // S1
      writeBlob(nodeDisk, folder, bytes);
      return sum;
    },
    readBlob: async (sum) => (hasBlob(folder, sum) ? readBlob(folder, sum) : inner.readBlob(sum)),
    snapshot: (state) => inner.snapshot(state),
    get position() {
      return inner.position;
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await inner.close();
      onClose();
    },
  };
}

/** Brings the copy of a run that another machine has written to up to what the store holds. */
export async function bringCopy(store: Pick<RunStore, "lines" | "hasBlob" | "readBlob">, key: string, folder: string): Promise<void> {
  const fd = openFile(nodeDisk, join(folder, journalFile), appendFlags);
  try {
    const { seq } = endOfCopy(folder, fd);
    await copyMissing({
      store,
      key,
      folder,
      afterSeq: seq,
      write: (lines) => {
        const bytes = Buffer.concat(lines.flatMap((line) => [line, newline]));
        writeAll(nodeDisk, fd, bytes, bytes.length, null);
      },
    });
  } finally {
    nodeDisk.close(fd);
  }
}

type MissingLines = {
  readonly store: Pick<RunStore, "lines" | "hasBlob" | "readBlob">;
  readonly key: string;
  readonly folder: string;
  readonly afterSeq: number;
  readonly write: (lines: readonly Uint8Array[]) => void;
};

/** Lines after a number, and the blobs they name, into the folder. S4 */
export async function copyMissing({ store, key, folder, afterSeq, write }: MissingLines): Promise<void> {
  const checkedBlobs = new Set<string>();
  for await (const line of store.lines(key, afterSeq)) {
    const blobNames = new Set<string>();
    addNames(blobNames, line);
    // A blob may name others: evidence names its output.
    for (const name of blobNames) {
      if (checkedBlobs.has(name)) continue;
      checkedBlobs.add(name);
      if (hasBlob(folder, name) || !(await store.hasBlob(key, name))) continue;
      const bytes = await store.readBlob(key, name);
      if (bytes.length <= scannedBytesMax) addNames(blobNames, bytes);
      writeBlob(nodeDisk, folder, bytes);
    }
    write([line]);
  }
}

const scannedBytesMax = 1024 * 1024;

/** Whatever looks like a hash: one that is none is not in the store. */
function addNames(blobNames: Set<string>, bytes: Uint8Array): void {
  for (const [name] of Buffer.from(bytes)
    .toString("latin1")
    .matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g))
    blobNames.add(name);
}
