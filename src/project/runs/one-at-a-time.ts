// one-at-a-time: what only one process may do at a time in a repository: starting a run, landing its work. By a kernel lock, which ends
// with its process.

import { setTimeout as sleep } from "node:timers/promises";
import { nodeDisk } from "../../journal/disk.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { type Lock, takeLock } from "../../journal/lock.ts";
import { type ProjectPaths, ownFolder } from "./project-paths.ts";

const lookEveryMs = 50;

type Patience = { readonly waitMs: number; readonly cancel?: AbortSignal };

/** Runs it while no other process does; null if its turn did not come in time, or it was cancelled before. */
export async function oneAtATime<Value>(
  paths: ProjectPaths,
  what: "starting" | "landing",
  work: () => Promise<Value>,
  { waitMs, cancel }: Patience,
): Promise<Value | null> {
  const folder = ownFolder(paths, what);
  const until = performance.now() + waitMs;
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
    if (performance.now() >= until) return null;
    await sleep(lookEveryMs);
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
