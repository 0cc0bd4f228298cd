// second-thread: checks a section of a journal in a second thread while the main thread parses it.
// Checksums and hashes are half the cost of a replay. If the program is missing or no thread can be
// started, the main thread checks alone, more slowly.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import type { Section } from "./chain-check.ts";

/** The shared memory of the two threads, by index. */
export const cell = { verdict: 0, isCancelled: 1, progress: 2 } as const;
/** Zero: it still checks. `none`: the check could not be finished. */
export const verdict = { sound: 1, bad: 2, none: 3 } as const;

const cells = 3;
const program = "chain-worker.cjs";
/** How long the other thread may stall before it is given up. */
const stallMsMax = 10_000;
/** It has a buffer outside its heap and a few short strings. */
const resourceLimits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16, stackSizeMb: 1 };

export interface SecondThread {
  /** Waits for the verdict: whether the section is intact, null if that thread cannot say. */
  waitForVerdict(): boolean | null;
  /**
   * The verdict is no longer needed. Waits until the thread has stopped reading, unless it stalls
   * for ten seconds.
   */
  cancel(): void;
}

/**
 * Null if the program is missing or no thread can be started: then everything is checked in place.
 */
export function checkInThread(
  section: Section,
  path: string | null = findProgram(),
): SecondThread | null {
  if (path === null) return null;
  const board = new Int32Array(new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT));
  // Only a long journal needs a thread; otherwise every command that reads a short one would load
  // this module.
  const threads = process.getBuiltinModule("node:worker_threads");
  let worker: Worker;

  try {
    worker = new threads.Worker(path, {
      workerData: { section, board },
      resourceLimits,
      env: {},
      execArgv: [],
      trackUnmanagedFds: false,
    });
  } catch {
    return null;
  }

  // It may die of anything: only a missing verdict matters.
  worker.on("error", () => undefined);
  worker.unref();
  return {
    waitForVerdict: () => {
      const value = waitFor(board);
      if (value === verdict.sound) return true;
      return value === verdict.bad ? false : null;
    },
    cancel: () => {
      Atomics.store(board, cell.isCancelled, 1);
      waitFor(board);
    },
  };
}

function waitFor(board: Int32Array): number {
  for (;;) {
    const progressBefore = Atomics.load(board, cell.progress);
    Atomics.wait(board, cell.verdict, 0, stallMsMax);
    const value = Atomics.load(board, cell.verdict);
    if (value !== 0) return value;
    if (Atomics.load(board, cell.progress) !== progressBefore) continue;
    Atomics.store(board, cell.isCancelled, 1);

    return verdict.none;
  }
}

/** The thread's program: beside this one once bundled, in dist when run from source. */
function findProgram(): string | null {
  const folder = dirname(fileURLToPath(import.meta.url));
  return (
    [join(folder, program), join(folder, "..", "..", "dist", program)].find((path) =>
      existsSync(path),
    ) ?? null
  );
}
