// recover-from-commit-log: completes a journal with lines that only a shared commit log kept through a power cut,
// and removes logs that are no longer needed.
//
// Invariants:
//   R1. A note is removed only when the journal's own file, synced, has everything that the log has
//       of it.
//   R2. The log of another process is removed only when that process is gone and no run named in it
//       has a note of it.

import { closeSync, fstatSync, readdirSync, readFileSync, readSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { LogRecord } from "./commit-log.ts";
import { findRecords } from "./commit-log.ts";
import { readNote, removeNote } from "./commit-note.ts";
import type { Disk } from "./disk.ts";
import { editFlags, nodeDisk, readFlags, unlinkQuietly, writeAll } from "./disk.ts";
import { errorCode, damaged } from "./journal-failure.ts";
import { loadTryLock } from "./lock.ts";
import { openFile } from "./open-file.ts";

/** As group.ts names it: commit-4711-0123456789abcdef.log */
const logName = /^commit-\d+-[0-9a-f]+\.log$/;

/**
 * Completes the journal from the log its note names, if any. The run's lock is held, so no other
 * process writes.
 */
export async function recoverFromLog(disk: Disk, dir: string, fd: number): Promise<void> {
  const note = readNote(dir);
  if (note === null) return;
  const log = resolve(realpathSync(dir), note.log);
  // A missing log was no longer needed (R2).
  for (const record of findMissing(readRecords(log), note.run, fd)) {
    if (record.byte < fstatSync(fd).size) disk.ftruncate(fd, record.byte);
    writeAll(disk, fd, record.lines, record.lines.length, null);
  }

  disk.fdatasync(fd); // R1
  removeNote(disk, dir);
  await removeLogIfUnneeded(disk, log);
}

/** A log of a process that is gone is removed if no run it names still has a note of it. */
export async function removeUnneededLogs(disk: Disk, folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    if (logName.test(name)) await removeLogIfUnneeded(disk, join(folder, name));
  }
}

/**
 * The run's records from the first that its journal does not have: from there on only the log is
 * complete.
 */
function findMissing(records: readonly LogRecord[], run: string, fd: number): readonly LogRecord[] {
  const runRecords = records.filter((record) => record.run === run);
  const first = runRecords.findIndex((record) => !isInJournal(record, fd));
  const missing = first === -1 ? [] : runRecords.slice(first);
  let end = Math.min(fstatSync(fd).size, missing[0]?.byte ?? 0);

  for (const { byte, lines } of missing) {
    if (byte !== end) {
      throw damaged(null, end, "the shared commit log does not continue the journal");
    }

    end += lines.length;
  }

  return missing;
}

function isInJournal({ byte, lines }: LogRecord, fd: number): boolean {
  const existing = Buffer.alloc(lines.length);
  return (
    readSync(fd, existing, 0, existing.length, byte) === existing.length && existing.equals(lines)
  );
}

function readRecords(log: string): readonly LogRecord[] {
  try {
    const fd = openFile(nodeDisk, log, readFlags);
    try {
      return findRecords(readFileSync(fd));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

async function removeLogIfUnneeded(disk: Disk, log: string): Promise<void> {
  const tryLock = await loadTryLock();
  let fd: number;

  try {
    fd = openFile(nodeDisk, log, editFlags);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return; // Another process has removed it.
    throw error;
  }

  try {
    const runs = tryLock(fd) ? new Set(readRecords(log).map(({ run }) => run)) : null; // R2
    if (runs === null || [...runs].some((run) => hasNote(log, run))) return;
    unlinkQuietly(disk, log);
  } finally {
    closeSync(fd);
  }
}

function hasNote(log: string, run: string): boolean {
  try {
    const note = readNote(resolve(dirname(log), run));
    return note !== null && basename(note.log) === basename(log);
  } catch {
    return true; // In doubt it is kept.
  }
}
