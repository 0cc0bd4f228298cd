// commit: how lines that are written become durable: by a sync of their own file, or by one that several runs share (group.ts).

import type { Disk } from "./disk.ts";

export type Done = (error: Error | null) => void;

/** What comes `then` comes a microtask later, at a fraction of what queueMicrotask costs. It must not throw. */
export const turnOver: Promise<void> = Promise.resolve();

export interface Commit {
  /** Makes these lines durable, which begin at this byte of the journal and are written there. */
  later(lines: Uint8Array, byte: number, done: Done): void;
  /** After a failure: nothing stays in the file beyond this byte, nor anything else of which the disk may know nothing. */
  cut(byte: number): void;
  /** The journal is closed: its file alone must tell everything now. */
  leave(): void;
}

/** Several runs of one process that share their syncs. */
export interface CommitGroup {
  /** The folder's file is on disk as it is when its run joins. */
  join(dir: string, fd: number): Commit;
}

export function ownCommit(disk: Disk, fd: number): Commit {
  return {
    later: (_lines, _byte, done) => disk.fdatasyncLater(fd, done),
    cut: (byte) => disk.ftruncate(fd, byte),
    leave: () => undefined,
  };
}
