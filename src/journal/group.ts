// group: commits lines of several runs of a process with one sync (group commit). Each run's own
// journal gets its lines at once, unsynced; a shared log is written and synced once a batch, and
// that is the acknowledgement. After a power cut the log completes the journals.
//
// Invariants:
//   G1. An acknowledged line is on disk in its own journal, or whole in a log that the run's note
//       (commit-note.ts) names.
//   G2. The log is emptied only after the own file of every run with lines in it has been synced.
//   G3. Any failed write or sync ends the whole group: it accepts nothing more. Unacknowledged
//       lines are cut from the log and from the runs' own files; the log and the notes stay, so
//       that the next opening of each run can complete its journal.

import { randomBytes } from "node:crypto";
import { constants, fstatSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { invariant } from "../kit/invariant.ts";
import type { Batch } from "./batch.ts";
import { type Commit, type CommitGroup, type OnDone, settledPromise } from "./commit.ts";
import { addRecord, createRunKey } from "./commit-log.ts";
import { writeNote } from "./commit-note.ts";
import type { Disk } from "./disk.ts";
import { keepFlags, makeFolder, nodeDisk, syncFolder, unlinkQuietly, writeAll } from "./disk.ts";
import { toJournalFailure } from "./journal-failure.ts";
import { GroupMember, type MemberLog, type PendingCommit } from "./group-member.ts";
import { loadTryLock } from "./lock.ts";
import { openFile } from "./open-file.ts";
import { createMeasuredPace, type Pace } from "./pace.ts";
import { removeUnneededLogs } from "./recover-from-commit-log.ts";

/**
 * The log is emptied at the first batch after it exceeds this; so it also bounds what a recovery
 * reads, but for one batch.
 */
const logBytesMax = 16 * 1024 * 1024;
/** A larger buffer is replaced by one of the first size after use. */
const keptBufferBytesMax = 1024 * 1024;
const firstBufferBytes = 256 * 1024;
/**
 * Zeros written ahead of the log: a sync inside a file's existing length needs no metadata update.
 */
const paddingBytesMax = 1024 * 1024;

export type Group = CommitGroup & { close(): void };
export type GroupOptions = {
  readonly disk?: Disk;
  readonly logBytesMax?: number;
  readonly pace?: Pace;
};

/**
 * Opens a group whose log is in this folder. One per process is enough; runs join it by the option
 * `group`.
 */
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

type SharedLogParts = {
  readonly disk: Disk;
  readonly folder: string;
  readonly path: string;
  readonly fd: number;
  /** The log is emptied when it exceeds this. */
  readonly bytesMax: number;
  readonly pace: Pace;
};

/** The log of a group, and the queue of lines that wait for its next sync. */
class SharedLog implements Group, MemberLog {
  readonly disk: Disk;
  readonly #folder: string;
  readonly #path: string;
  readonly #fd: number;
  readonly #logBytesMax: number;
  readonly #members = new Set<GroupMember>();
  #queue: PendingCommit[] = [];
  #isBusy = false;
  #isScheduled = false;
  #syncedLogBytes = 0;
  /** The log and the zeros after it. */
  #fileBytes = 0;
  /** How many zeros are written at a time; none once the disk has refused them. */
  #paddingBytes: number;
  readonly #pace: Pace;
  #batch: Batch = { bytes: Buffer.allocUnsafeSlow(firstBufferBytes), used: 0 };
  failure: Error | null = null;

  constructor({ disk, folder, path, fd, bytesMax, pace }: SharedLogParts) {
    this.disk = disk;
    this.#folder = folder;
    this.#path = path;
    this.#fd = fd;
    this.#logBytesMax = bytesMax;
    this.#paddingBytes = Math.min(paddingBytesMax, bytesMax);
    this.#pace = pace;
  }

  join(dir: string, fd: number): Commit {
    const realFolder = realpathSync(dir);
    const run = relative(this.#folder, realFolder);
    writeNote(this.disk, dir, { log: relative(realFolder, this.#path), run }); // G1
    const member = new GroupMember(this, dir, fd, createRunKey(run));
    this.#members.add(member);

    return member;
  }

  removeMember(member: GroupMember): void {
    this.#members.delete(member);
  }

  enqueue(commit: PendingCommit): void {
    if (this.failure !== null) return commit.onDone(this.failure); // G3
    this.#queue.push(commit);
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
    // After a failure the log stays: the journals are completed from it.
    if (this.failure === null) unlinkQuietly(this.disk, this.#path);
  }

  readonly #flush = (): void => {
    this.#isScheduled = false;
    const [first, second] = this.#queue;
    if (this.#isBusy || first === undefined) return;
    this.#isBusy = true;
    if (this.#syncedLogBytes > this.#logBytesMax) return this.#emptyLog();
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
      // The group may have ended meanwhile, which cut these records from the log (G3).
      const failure = error ?? this.failure;
      if (failure !== null) return this.#failAll(failure, batch);
      this.#syncedLogBytes += this.#batch.used;
      for (const { member } of batch) member.isInLog = true;
      this.#pace.syncEnded(batch.length + this.#queue.length);
      this.#settle(batch);
    });
  };

  /** A single run in a batch needs no log: a sync of its own file covers all its lines. */
  #syncAlone(commit: PendingCommit): void {
    this.#syncOwn(commit.member, commit.startByte + commit.lines.length, (error) => {
      if (error !== null) this.#failAll(error, [commit]);
      else this.#settle([commit]);
    });
  }

  /** Syncs a run's own file, which has all its lines up to this byte. */
  #syncOwn(member: GroupMember, endByte: number, done: OnDone): void {
    this.disk.fdatasyncLater(member.fd, (error) => {
      // Left meanwhile: leaving has synced its file and closed the descriptor, so an error here is
      // about neither.
      if (!this.#members.has(member)) return done(null);
      if (error !== null && error !== undefined) {
        member.hasFailedSync = true;
        return done(error);
      }

      member.markSyncedTo(endByte);
      done(null);
    });
  }

  #write(batch: readonly PendingCommit[]): void {
    if (this.#batch.bytes.length > keptBufferBytesMax) {
      this.#batch.bytes = Buffer.allocUnsafeSlow(firstBufferBytes);
    }

    this.#batch.used = 0;
    for (const { member, lines, startByte } of batch) {
      addRecord(this.#batch, member.key, startByte, lines);
    }

    writeAll(this.disk, this.#fd, this.#batch.bytes, this.#batch.used, this.#syncedLogBytes);
    const end = this.#syncedLogBytes + this.#batch.used;
    if (end > this.#fileBytes) this.#writePadding(end);
  }

  /** Only an optimisation: a disk without the space is not asked again. */
  #writePadding(end: number): void {
    this.#fileBytes = end + this.#paddingBytes;
    try {
      writeAll(this.disk, this.#fd, Buffer.alloc(this.#paddingBytes), this.#paddingBytes, end);
    } catch {
      this.#paddingBytes = 0;
      this.#fileBytes = end;
      this.disk.ftruncate(this.#fd, end);
    }
  }

  #settle(batch: readonly PendingCommit[]): void {
    this.#isBusy = false;
    for (const { onDone } of batch) onDone(null);
    if (this.#queue.length === 0) return;
    // The waiting lines' sync runs while the runs that were just answered work.
    if (this.#pace.shouldSyncNow(this.#queue.length)) return this.#flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#flush);
  }

  /** G2: every run's own file is synced, then the log starts over. */
  #emptyLog(): void {
    const membersInLog = [...this.#members].filter(({ isInLog }) => isInLog);
    let pending = membersInLog.length + 1; // one for the call below, in case no run has to be synced
    let firstError: Error | null = null;

    const done = (error: Error | null): void => {
      firstError ??= error;
      pending--;
      if (pending > 0 || this.failure !== null) return; // a run whose last sync failed may need the log (G2)
      try {
        if (firstError !== null) throw firstError;
        this.disk.ftruncate(this.#fd, 0);
      } catch (failure) {
        return this.#failAll(failure, []);
      }

      this.#syncedLogBytes = 0;
      this.#fileBytes = 0;
      this.#settle([]);
    };
    for (const member of membersInLog) this.#syncOwn(member, fstatSync(member.fd).size, done);
    done(null);
  }

  fail(error: unknown): void {
    this.#failAll(error, []);
  }

  /** G3: the batch that was under way and everything that waits gets this failure as its answer. */
  #failAll(error: unknown, batch: readonly PendingCommit[]): void {
    const failure = toJournalFailure(error, "syncing the shared commit log");
    this.failure = failure;
    this.#isBusy = false;

    try {
      this.disk.ftruncate(this.#fd, this.#syncedLogBytes);
    } catch {
      // What is left behind was not acknowledged. Recovery may add it to the journals: a whole line
      // without an answer may stay.
    }

    for (const { onDone } of [...batch, ...this.#queue.splice(0)]) onDone(failure); // G3
    for (const member of this.#members) member.cutToSynced();
  }
}
