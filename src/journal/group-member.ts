// group-member: one run's part in a group (group.ts): hands its lines to the shared log, and knows
// how far the run's own file is synced.
// Invariants G1 and on: journal/group.ts.

import { fstatSync } from "node:fs";
import type { Commit, OnDone } from "./commit.ts";
import type { RunKey } from "./commit-log.ts";
import { removeNote } from "./commit-note.ts";
import type { Disk } from "./disk.ts";
import { toJournalFailure } from "./journal-failure.ts";

/** Lines that are in their run's own file, beginning at this byte, and wait for a sync. */
export type PendingCommit = {
  readonly member: GroupMember;
  readonly lines: Uint8Array;
  readonly startByte: number;
  readonly onDone: OnDone;
};

/** What a member needs of the shared log. */
export interface MemberLog {
  readonly disk: Disk;
  /** Why the group has ended; null while it works. */
  readonly failure: Error | null;
  enqueue(commit: PendingCommit): void;
  removeMember(member: GroupMember): void;
  /** Ends the group. */
  fail(error: unknown): void;
}

export class GroupMember implements Commit {
  readonly #log: MemberLog;
  readonly #dir: string;
  readonly fd: number;
  readonly key: RunKey;
  /** Of its own file. */
  #syncedBytes: number;
  /** Some of its acknowledged lines are on disk in the log alone. */
  isInLog = false;
  /**
   * A sync of its own file failed: the kernel may consider unwritten pages clean, so only the log
   * counts (G1).
   */
  hasFailedSync = false;

  constructor(log: MemberLog, dir: string, fd: number, key: RunKey) {
    this.#log = log;
    this.#dir = dir;
    this.fd = fd;
    this.key = key;
    this.#syncedBytes = fstatSync(fd).size;
  }

  commitLater(lines: Uint8Array, startByte: number, onDone: OnDone): void {
    this.#log.enqueue({ member: this, lines, startByte, onDone });
  }

  markSyncedTo(endByte: number): void {
    this.#syncedBytes = endByte;
    this.isInLog = false;
  }

  cut(endByte: number): void {
    const keptBytes = this.hasFailedSync ? Math.min(endByte, this.#syncedBytes) : endByte;
    if (keptBytes < fstatSync(this.fd).size) this.#log.disk.ftruncate(this.fd, keptBytes);
  }

  /**
   * After a failed sync of its own file: what may not be on disk is cut off, and the next opening
   * completes it from the log.
   */
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
      this.#log.disk.fdatasync(this.fd); // G2
    } catch (error) {
      this.hasFailedSync = true;
      this.#log.fail(error); // G3
      throw toJournalFailure(error, "syncing the journal");
    } finally {
      this.#log.removeMember(this);
    }

    removeNote(this.#log.disk, this.#dir);
  }
}
