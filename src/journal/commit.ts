// commit: how written lines become durable: by a sync of their own file, or by one that several runs share (group.ts).

import type { Disk } from "./disk.ts";

export type OnDone = (error: Error | null) => void;

/** Its `then` runs a microtask later, at a fraction of the cost of queueMicrotask. It must not throw. */
export const resolved: Promise<void> = Promise.resolve();

export interface Commit {
  /** Makes these lines durable; they begin at this byte of the journal and are already written. */
  later(lines: Uint8Array, byte: number, done: OnDone): void;
  /** After a failure: nothing stays in the file beyond this byte, nor anything else that may not be on disk. */
  cut(byte: number): void;
  /** The journal is closed: its file alone must be complete now. */
  leave(): void;
}

/** Several runs of one process that share their syncs. */
export interface CommitGroup {
  /** The folder's file is on disk as it is when its run joins. */
  join(dir: string, fd: number): Commit;
}

export function fileCommit(disk: Disk, fd: number): Commit {
  return {
    later: (_lines, _byte, done) => disk.fdatasyncLater(fd, done),
    cut: (byte) => disk.ftruncate(fd, byte),
    leave: () => undefined,
  };
}
