// run-under-lock: lets only one process at a time start a run in a repository, or land its work, by
// a kernel lock that ends with its process.

import { setTimeout as sleep } from "node:timers/promises";
import { nodeDisk } from "../../journal/disk.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { type Lock, takeLock } from "../../journal/lock.ts";
import { type ProjectPaths, ensureOwnFolder } from "./project-paths.ts";

const retryEveryMs = 50;

type WaitLimit = { readonly waitMs: number; readonly cancel?: AbortSignal };

/**
 * Runs `work` while no other process does work of this name; null if the lock was not free in time,
 * or it was cancelled before.
 */
export async function runUnderLock<Value>(
  paths: ProjectPaths,
  lockName: "starting" | "landing",
  work: () => Promise<Value>,
  { waitMs, cancel }: WaitLimit,
): Promise<Value | null> {
  const folder = ensureOwnFolder(paths, lockName);
  const deadlineMs = performance.now() + waitMs;

  for (;;) {
    if (cancel?.aborted === true) return null;
    const lock = await lockOrNull(folder);
    if (lock !== null) {
      try {
        return await work();
      } finally {
        lock.release();
      }
    }

    if (performance.now() >= deadlineMs) return null;
    await sleep(retryEveryMs);
  }
}

async function lockOrNull(folder: string): Promise<Lock | null> {
  try {
    return await takeLock(nodeDisk, folder);
  } catch (error) {
    if (error instanceof JournalFailure && error.kind === "run_locked") return null;
    throw error;
  }
}
