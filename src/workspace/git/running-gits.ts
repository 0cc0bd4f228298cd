// running-gits: the running gits of this process. They are in their own process groups, so that a Ctrl-C meant for the runner does not
// interrupt an update of a checkout, and so only the runner itself can end them.

import type { ChildProcess } from "node:child_process";

/** The running gits by pid, and whether each gets a moment to remove its locks. */
const running = new Map<number, "at once" | "gently">();
const gentleMs = 300;
const pollMs = 10;
let isRegistered = false;

/** Ends the child and its group when this process exits. */
export function endAtExit(child: ChildProcess, how: "at once" | "gently"): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (!isRegistered) process.once("exit", endAll);
  isRegistered = true;
  running.set(pid, how);
  child.once("exit", () => running.delete(pid));
}

/**
 * A git that is asked to end removes its lock files first; one that doesn't is killed. Runs while the process exits: nothing is awaited.
 */
function endAll(): void {
  const gentle = [...running].filter(([, how]) => how === "gently").map(([pid]) => pid);
  for (const pid of gentle) signalGroup(pid, "SIGTERM");
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < gentleMs && gentle.some(isRunning); waited += pollMs) Atomics.wait(sleeper, 0, 0, pollMs);
  for (const pid of running.keys()) signalGroup(pid, "SIGKILL");
}

const isRunning = (pid: number): boolean => signalGroup(pid, 0);

/** Sends a signal to a whole process group; false if it is gone. */
export function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}
