// file-journal: opens the journal of a run in its folder: locks it, verifies it, repairs it, and
// then appends to it.
// Invariants J1 and on: journal/journal.ts.

import { join } from "node:path";
import { fstatSync } from "node:fs";
import type { Entry, Event } from "../contracts/event.ts";
import type { Hash } from "../contracts/ids.ts";
import { invariant } from "../kit/invariant.ts";
import { readBlob, writeBlob } from "./blobs.ts";
import { replayFrom } from "./replay.ts";
import type { Disk } from "./disk.ts";
import { appendFlags, folderMode, nodeDisk, syncFolder } from "./disk.ts";
import { damaged, toJournalFailure, JournalFailure } from "./journal-failure.ts";
import type { Journal, OpenedJournal, JournalOptions, Position } from "./journal.ts";
import { journalFile } from "./journal.ts";
import { genesis } from "./line.ts";
import type { Lock } from "./lock.ts";
import { takeLock } from "./lock.ts";
import { openFile } from "./open-file.ts";
import { recoverFromLog } from "./recover-from-commit-log.ts";
import { findPositionAfter, readSnapshot, writeSnapshot } from "./snapshot.ts";
import { createStamp } from "./stamp.ts";
import { truncateTorn } from "./repair.ts";
import { Writer } from "./writer.ts";

/**
 * Opens a run's journal for writing, creating the folder and the file if needed. Throws a
 * JournalFailure.
 */
export async function openJournal(dir: string, options: JournalOptions): Promise<OpenedJournal> {
  const disk = options.disk ?? nodeDisk;
  try {
    disk.mkdir(dir, folderMode);
    const lock = await takeLock(disk, dir);

    try {
      const fd = openFile(disk, join(dir, journalFile), appendFlags);
      try {
        await recoverFromLog(disk, dir, fd);
        return openLocked({ disk, dir, lock, fd }, options);
      } catch (error) {
        disk.close(fd);
        throw error;
      }
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    throw toJournalFailure(error, "opening the journal");
  }
}

/** A run's folder whose lock is taken, and its open journal file. */
type LockedFile = {
  readonly disk: Disk;
  readonly dir: string;
  readonly lock: Lock;
  readonly fd: number;
};

function openLocked(file: LockedFile, options: JournalOptions): OpenedJournal {
  const { disk, dir, fd } = file;
  if (fstatSync(fd).size === 0) {
    syncFolder(disk, dir);
    syncFolder(disk, join(dir, ".."));
  }

  const entries: Entry[] = [];
  const onEntry = options.onEntry ?? ((entry: Entry) => void entries.push(entry));
  const { from } = options;
  const snapshot = from === undefined ? readSnapshot(dir, fd) : null;
  const isSnapshotUsed = snapshot !== null && (options.onSnapshot?.(snapshot.state) ?? true);
  if (from !== undefined) requireLine(fd, from);
  const scanned = replayFrom(fd, from ?? (isSnapshotUsed ? snapshot.position : genesis), onEntry);

  const repaired = truncateTorn(disk, fd, scanned);
  // Lines that a killed owner wrote and never synced are read here and acted upon, so they must be
  // on disk first (J1).
  disk.fdatasync(fd);
  const writer = new Writer(disk, fd, scanned.end, createStamp(options, scanned.end));

  // If nothing is left, nothing was ever acknowledged, and the first line must be the run's first
  // event, not a repair.
  if (repaired !== null && scanned.end.seq > 0) {
    writer
      .appendSync([
        {
          event: "journal_repaired",
          actor: "system",
          reason_code: "journal_repaired",
          ...repaired,
        },
      ])
      .forEach(onEntry);
  }

  if (options.commit === "group" && options.commitGroup !== undefined) {
    writer.share(options.commitGroup.join(dir, fd));
  }

  const journal = new FileJournal(file, writer, options.commit);
  return { journal, snapshot: isSnapshotUsed ? snapshot.state : null, entries, repaired };
}

/** J4: a line that was read before is still there. */
function requireLine(fd: number, { seq, byte, prev }: Readonly<Position>): void {
  if (seq === 0) return;
  const position = findPositionAfter(fd, byte);
  if (position?.seq !== seq || position.prev !== prev) {
    throw damaged(seq, byte, "a line that was read before is not there any more");
  }
}

class FileJournal implements Journal {
  readonly #disk: Disk;
  readonly #dir: string;
  readonly #lock: Lock;
  readonly #fd: number;
  readonly #writer: Writer;
  readonly #commit: JournalOptions["commit"];
  #isClosed = false;

  constructor(
    { disk, dir, lock, fd }: LockedFile,
    writer: Writer,
    commit: JournalOptions["commit"],
  ) {
    this.#disk = disk;
    this.#dir = dir;
    this.#lock = lock;
    this.#fd = fd;
    this.#writer = writer;
    this.#commit = commit;
  }

  get position(): Readonly<Position> {
    return this.#writer.position;
  }

  append(events: readonly Event[]): Promise<readonly Entry[]> {
    // Not `async`, which would wrap the writer's promise in two more.
    try {
      if (this.#commit === "sync") return Promise.resolve(this.appendSync(events));
      invariant(!this.#isClosed, "a closed journal takes no events");
      return events.length === 0 ? Promise.resolve([]) : this.#writer.append(events);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  appendSync(events: readonly Event[]): readonly Entry[] {
    invariant(this.#commit === "sync", "a journal with group commit appends by promise");
    invariant(!this.#isClosed, "a closed journal takes no events");
    return events.length === 0 ? [] : this.#writer.appendSync(events);
  }

  async putBlob(bytes: string | Uint8Array): Promise<Hash> {
    invariant(!this.#isClosed, "a closed journal takes no blobs");
    try {
      return writeBlob(this.#disk, this.#dir, bytes);
    } catch (error) {
      const failure = toJournalFailure(error, "writing a blob");
      if (!(failure instanceof JournalFailure) || failure.kind !== "event_too_large") {
        this.#writer.refuse(failure);
      } // J5

      throw failure;
    }
  }

  async readBlob(hash: Hash): Promise<Buffer> {
    return readBlob(this.#dir, hash);
  }

  async snapshot(state: { readonly seq: number }): Promise<boolean> {
    invariant(!this.#isClosed, "a closed journal takes no snapshot");
    const { position } = this.#writer;
    if (state.seq !== position.seq) return false;
    try {
      return writeSnapshot(this.#disk, this.#dir, position, state);
    } catch (error) {
      throw toJournalFailure(error, "writing the snapshot");
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#writer.idle();

    try {
      this.#writer.leave();
    } finally {
      this.#disk.close(this.#fd);
      this.#lock.release();
    }
  }
}
