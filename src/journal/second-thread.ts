// second-thread: has a stretch of a journal checked beside the main thread, which meanwhile parses it. Checksums and hashes are
// half of what a replay costs. Without the program or the thread nothing is lost but time.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import type { Stretch } from "./chain-check.ts";

/** What the two threads tell each other, by its place. */
export const cell = { verdict: 0, isCancelled: 1, progress: 2 } as const;
/** Zero is a check under way; `none` one that could not be finished. */
export const verdict = { sound: 1, bad: 2, none: 3 } as const;

const cells = 3;
const program = "chain-worker.cjs";
/** How long the other thread may stand still before nobody waits for it any longer. */
const stallMsMax = 10_000;
/** It holds a buffer outside its heap and a few short strings. */
const resourceLimits = { maxYoungGenerationSizeMb: 1, maxOldGenerationSizeMb: 16, stackSizeMb: 1 };

export interface SecondThread {
  /** Waits for the answer: whether the stretch is sound, null if that thread cannot tell. */
  answer(): boolean | null;
  /** Nobody wants to know any longer; it reads nothing more once this has returned. */
  cancel(): void;
}

/** Null if the program is not there or no thread can be had: then everything is checked in place. */
export function checkBeside(stretch: Stretch, path: string | null = programPath()): SecondThread | null {
  if (path === null) return null;
  const board = new Int32Array(new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT));
  // Only a long journal needs a thread, and every command that reads a short one would wait for this module to be loaded.
  const threads = process.getBuiltinModule("node:worker_threads");
  let worker: Worker;
  try {
    worker = new threads.Worker(path, { workerData: { stretch, board }, resourceLimits, env: {}, execArgv: [], trackUnmanagedFds: false });
  } catch {
    return null;
  }
  // It may die of anything: a verdict that never comes is the only thing that counts.
  worker.on("error", () => undefined);
  worker.unref();
  return {
    answer: () => {
      const found = waitFor(board);
      return found === verdict.sound ? true : found === verdict.bad ? false : null;
    },
    cancel: () => {
      Atomics.store(board, cell.isCancelled, 1);
      waitFor(board);
    },
  };
}

function waitFor(board: Int32Array): number {
  for (;;) {
    const before = Atomics.load(board, cell.progress);
    Atomics.wait(board, cell.verdict, 0, stallMsMax);
    const found = Atomics.load(board, cell.verdict);
    if (found !== 0) return found;
    if (Atomics.load(board, cell.progress) !== before) continue;
    Atomics.store(board, cell.isCancelled, 1);
    return verdict.none;
  }
}

/** Beside this one once bundled, in dist when run from source. */
function programPath(): string | null {
  const here = dirname(fileURLToPath(import.meta.url));
  return [join(here, program), join(here, "..", "..", "dist", program)].find((path) => existsSync(path)) ?? null;
}
