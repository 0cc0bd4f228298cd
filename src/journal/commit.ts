// commit: makes written lines durable, by a sync of their own file, or by one that several runs
// share (group.ts).

import type { Disk } from "./disk.ts";

export type OnDone = (error: Error | null) => void;

/**
 * A callback given to its `then` runs a microtask later, at a fraction of the cost of
 * queueMicrotask. The callback must not throw.
 */
export const settledPromise: Promise<void> = Promise.resolve();

/** How one journal's lines get durable. */
export interface Commit {
  /**
   * Makes these lines durable; they begin at this byte of the journal and are already written, but
   * not synced.
   */
  commitLater(lines: Uint8Array, startByte: number, onDone: OnDone): void;
  /**
   * After a failure: nothing stays in the file beyond this byte, nor anything else that may not be
   * on disk.
   */
  cut(endByte: number): void;
  /** The journal is closed: its file alone must be complete now. */
  leave(): void;
}

/** Several runs of one process that share their syncs. */
export interface CommitGroup {
  /**
   * The run in this folder shares its syncs from now on. Everything its open journal file has must
   * be synced already.
   */
  join(dir: string, fd: number): Commit;
}

/** Each commit is a sync of the journal's own file. */
export function createFileCommit(disk: Disk, fd: number): Commit {
  return {
    commitLater: (_lines, _startByte, onDone) => disk.fdatasyncLater(fd, onDone),
    cut: (endByte) => disk.ftruncate(fd, endByte),
    leave: () => undefined,
  };
}
