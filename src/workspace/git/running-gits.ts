// running-gits: ends the gits of this process when it exits. They are in process groups of their
// own, so that a Ctrl-C meant for the runner does not interrupt an update of a checkout; so only
// the runner itself can end them.

import type { ChildProcess } from "node:child_process";

type EndMode = "at once" | "gently";

/** The running gits by pid; those ended `gently` get a moment to remove their locks. */
const runningGits = new Map<number, EndMode>();
const gentleMs = 300;
const pollMs = 10;
let isRegistered = false;

/** Ends the child and its group when this process exits. */
export function endAtExit(child: ChildProcess, mode: EndMode): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (!isRegistered) process.once("exit", endAll);
  isRegistered = true;
  runningGits.set(pid, mode);
  child.once("exit", () => runningGits.delete(pid));
}

/**
 * A git that is asked to end removes its lock files first; one that doesn't is killed. Runs while
 * the process exits: nothing is awaited.
 */
function endAll(): void {
  const gentlePids = [...runningGits].filter(([, mode]) => mode === "gently").map(([pid]) => pid);
  for (const pid of gentlePids) signalGroup(pid, "SIGTERM");
  const sleeper = new Int32Array(new SharedArrayBuffer(4)); // `Atomics.wait` sleeps without returning to the event loop

  for (let waitedMs = 0; waitedMs < gentleMs && gentlePids.some(isRunning); waitedMs += pollMs) {
    Atomics.wait(sleeper, 0, 0, pollMs);
  }

  for (const pid of runningGits.keys()) signalGroup(pid, "SIGKILL");
}

const isRunning = (pid: number): boolean => signalGroup(pid, 0);

/** Sends a signal to a whole process group; false if it is gone. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}
