// group: commits lines of several runs of a process with one sync (group commit). Each run's own journal gets its lines at once, unsynced;
// a shared log is written and synced once a batch, and that is the acknowledgement. After a power cut the log completes the journals.
//
// Invariants:
//   G1. An acknowledged line is on disk in its own journal, or whole in a log that the run's note (commit-note.ts) names.
//   G2. The log is emptied only after the own file of every run with lines in it has been synced.
//   G3. Any failed sync ends the whole group: it accepts nothing more, and the disk is left as it is.

import { randomBytes } from "node:crypto";
import { constants, fstatSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { invariant } from "../kit/invariant.ts";
import type { Batch } from "./batch.ts";
import { type Commit, type CommitGroup, type OnDone, settledPromise } from "./commit.ts";
import { addRecord, type RunKey, createRunKey } from "./commit-log.ts";
import { removeNote, writeNote } from "./commit-note.ts";
import type { Disk } from "./disk.ts";
import { keepFlags, makeFolder, nodeDisk, syncFolder, unlinkQuietly, writeAll } from "./disk.ts";
import { toJournalFailure } from "./failure.ts";
import { loadTryLock } from "./lock.ts";
import { openFile } from "./open-file.ts";
import { createMeasuredPace, type Pace } from "./pace.ts";
import { removeUnneededLogs } from "./recover.ts";

/** Emptied when it exceeds this; also bounds what a recovery reads. */
const logBytesMax = 16 * 1024 * 1024;
/** A larger buffer is replaced after use. */
const keptBufferBytesMax = 1024 * 1024;
/** Zeros written ahead of the log: a sync inside a file's existing length needs no metadata update. */
const roomBytes = 1024 * 1024;

export type Group = CommitGroup & { close(): void };
export type GroupOptions = { readonly disk?: Disk; readonly logBytesMax?: number; readonly pace?: Pace };

/** Opens a group whose log is in this folder. One per process is enough; runs join it by the option `group`. */
export async function openGroup(folder: string, options: GroupOptions = {}): Promise<Group> {
  const disk = options.disk ?? nodeDisk;
  makeFolder(disk, folder);
  const realFolder = realpathSync(folder);
  await removeUnneededLogs(disk, realFolder);
  const path = join(realFolder, `commit-${process.pid}-${randomBytes(8).toString("hex")}.log`);
  const tryLock = await loadTryLock();
  const fd = openFile(disk, path, keepFlags | constants.O_EXCL);
  try {
    invariant(tryLock(fd), "nobody else has a log that was just made");
    syncFolder(disk, realFolder);
  } catch (error) {
    disk.close(fd);
    throw toJournalFailure(error, "opening the shared commit log");
  }
  const { logBytesMax: bytesMax = logBytesMax, pace = createMeasuredPace() } = options;
  return new SharedLog({ disk, folder: realFolder, path, fd, bytesMax, pace });
}

type PendingCommit = { readonly member: Member; readonly lines: Uint8Array; readonly byte: number; readonly done: OnDone };

type SharedLogParts = {
  readonly disk: Disk;
  readonly folder: string;
  readonly path: string;
  readonly fd: number;
  /** The log is emptied when it exceeds this. */
  readonly bytesMax: number;
  readonly pace: Pace;
};

class SharedLog implements Group {
  readonly disk: Disk;
  readonly #folder: string;
  readonly #path: string;
  readonly #fd: number;
  readonly #logBytesMax: number;
  readonly #members = new Set<Member>();
  #queue: PendingCommit[] = [];
  #isBusy = false;
  #isScheduled = false;
  /** Bytes of the log that are synced. */
  #bytes = 0;
  /** Bytes of the file, with the zeros after the log; and how many are written at a time. */
  #room = 0;
  #roomBytes: number;
  readonly #pace: Pace;
  #batch: Batch = { bytes: Buffer.allocUnsafeSlow(keptBufferBytesMax / 4), used: 0 };
  failure: Error | null = null;

  constructor({ disk, folder, path, fd, bytesMax, pace }: SharedLogParts) {
    this.disk = disk;
    this.#folder = folder;
    this.#path = path;
    this.#fd = fd;
    this.#logBytesMax = bytesMax;
    this.#roomBytes = Math.min(roomBytes, bytesMax);
    this.#pace = pace;
  }

  join(dir: string, fd: number): Commit {
    const realFolder = realpathSync(dir);
    const run = relative(this.#folder, realFolder);
    writeNote(this.disk, dir, { log: relative(realFolder, this.#path), run }); // G1
    const member = new Member(this, dir, fd, createRunKey(run));
    this.#members.add(member);
    return member;
  }

  removeMember(member: Member): void {
    this.#members.delete(member);
  }

  enqueue(waiting: PendingCommit): void {
    if (this.failure !== null) return waiting.done(this.failure); // G3
    this.#queue.push(waiting);
    this.#pace.lineArrived();
    if (this.#isBusy) return;
    if (this.#pace.isHalfBatchReady(this.#queue.length)) return this.#flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Other runs of this event-loop turn join the batch; a run that is alone need not wait.
    if (this.#members.size === 1) void settledPromise.then(this.#flush);
    else setImmediate(this.#flush);
  }

  close(): void {
    invariant(this.#members.size === 0, "a group is closed after its journals");
    this.disk.close(this.#fd);
    // After a failure the journals are completed from the log.
    if (this.failure === null) unlinkQuietly(this.disk, this.#path);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const [first, second] = this.#queue;
    if (this.#isBusy || first === undefined) return;
    this.#isBusy = true;
    if (this.#bytes > this.#logBytesMax) return this.#empty();
    const batch = this.#queue;
    this.#queue = [];
    if (second === undefined) return this.#syncAlone(first);
    try {
      this.#write(batch);
    } catch (error) {
      return this.#failAll(error, batch);
    }
    this.#pace.syncStarted();
    this.disk.fdatasyncLater(this.#fd, (error) => {
      if (error !== null && error !== undefined) return this.#failAll(error, batch);
      this.#bytes += this.#batch.used;
      for (const { member } of batch) member.isInLog = true;
      this.#pace.syncEnded(batch.length + this.#queue.length);
      this.#settle(batch);
    });
  };

  /** A single run in a batch needs no log: a sync of its own file covers all its lines. */
  #syncAlone(waiting: PendingCommit): void {
    this.#syncOwn(waiting.member, waiting.byte + waiting.lines.length, (error) => {
      if (error !== null) this.#failAll(error, [waiting]);
      else this.#settle([waiting]);
    });
  }

  #syncOwn(member: Member, endByte: number, done: OnDone): void {
    this.disk.fdatasyncLater(member.fd, (error) => {
      if (error !== null && error !== undefined) {
        member.hasFailedSync = true;
        return done(error);
      }
      member.markSyncedTo(endByte);
      done(null);
    });
  }

  #write(batch: readonly PendingCommit[]): void {
    if (this.#batch.bytes.length > keptBufferBytesMax) this.#batch.bytes = Buffer.allocUnsafeSlow(keptBufferBytesMax / 4);
    this.#batch.used = 0;
    for (const { member, lines, byte } of batch) addRecord(this.#batch, member.key, byte, lines);
    writeAll(this.disk, this.#fd, this.#batch.bytes, this.#batch.used, this.#bytes);
    const end = this.#bytes + this.#batch.used;
    if (end > this.#room) this.#makeRoom(end);
  }

  /** Only an optimisation: without the space it is skipped. */
  #makeRoom(end: number): void {
    this.#room = end + this.#roomBytes;
    try {
      writeAll(this.disk, this.#fd, Buffer.alloc(this.#roomBytes), this.#roomBytes, end);
    } catch {
      this.#roomBytes = 0;
      this.#room = end;
      this.disk.ftruncate(this.#fd, end);
    }
  }

  #settle(batch: readonly PendingCommit[]): void {
    this.#isBusy = false;
    for (const { done } of batch) done(null);
    if (this.#queue.length === 0) return;
    // Its sync runs while the runs that were just answered work.
    if (this.#pace.shouldSyncNow(this.#queue.length)) return this.#flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#flush);
  }

  /** G2: every run's own file is synced, then the log starts over. */
  #empty(): void {
    const membersInLog = [...this.#members].filter(({ isInLog }) => isInLog);
    let pending = membersInLog.length + 1;
    let firstError: Error | null = null;
    const done = (error: Error | null): void => {
      firstError ??= error;
      pending--;
      if (pending > 0) return;
      try {
        if (firstError !== null) throw firstError;
        this.disk.ftruncate(this.#fd, 0);
      } catch (failure) {
        return this.#failAll(failure, []);
      }
      this.#bytes = 0;
      this.#room = 0;
      this.#settle([]);
    };
    for (const member of membersInLog) this.#syncOwn(member, fstatSync(member.fd).size, done);
    done(null);
  }

  fail(error: unknown): void {
    this.#failAll(error, []);
  }

  #failAll(error: unknown, batch: readonly PendingCommit[]): void {
    const failure = toJournalFailure(error, "syncing the shared commit log");
    this.failure = failure;
    this.#isBusy = false;
    try {
      this.disk.ftruncate(this.#fd, this.#bytes);
    } catch {
      // The rest was not acknowledged, and each journal's own file decides whether it counts.
    }
    for (const { done } of [...batch, ...this.#queue.splice(0)]) done(failure); // G3
    for (const member of this.#members) member.cutToSynced();
  }
}

class Member implements Commit {
  readonly #log: SharedLog;
  readonly #dir: string;
  readonly fd: number;
  readonly key: RunKey;
  #syncedBytes: number;
  /** Some of its lines are on disk in the log alone. */
  isInLog = false;
  /** A sync of its own file failed: the kernel may consider unwritten pages clean, so only the log counts (G1). */
  hasFailedSync = false;

  constructor(log: SharedLog, dir: string, fd: number, key: RunKey) {
    this.#log = log;
    this.#dir = dir;
    this.fd = fd;
    this.key = key;
    this.#syncedBytes = fstatSync(fd).size;
  }

  commitLater(lines: Uint8Array, byte: number, done: OnDone): void {
    this.#log.enqueue({ member: this, lines, byte, done });
  }

  markSyncedTo(byte: number): void {
    this.#syncedBytes = byte;
    this.isInLog = false;
  }

  cut(byte: number): void {
    const endByte = this.hasFailedSync ? Math.min(byte, this.#syncedBytes) : byte;
    if (endByte < fstatSync(this.fd).size) this.#log.disk.ftruncate(this.fd, endByte);
  }

  cutToSynced(): void {
    try {
      if (this.hasFailedSync) this.cut(this.#syncedBytes);
    } catch {
      // The first failure is the one to report.
    }
  }

  leave(): void {
    try {
      if (this.#log.failure !== null) return; // The note stays, and the next opening completes the file.
      this.#log.disk.fdatasync(this.fd);
    } catch (error) {
      this.hasFailedSync = true;
      this.#log.fail(error); // G2, G3
      throw toJournalFailure(error, "syncing the journal");
    } finally {
      this.#log.removeMember(this);
    }
    removeNote(this.#log.disk, this.#dir);
  }
}
