// living-gits: the running gits of this process. They are in their own process groups, so that a Ctrl-C meant for the runner does not
// interrupt an update of a checkout, and so only the runner itself can end them.

import type { ChildProcess } from "node:child_process";

/** By pid; whether it gets a moment to remove its locks. */
const living = new Map<number, "at once" | "gently">();
const gentleMs = 300;
const lookEveryMs = 10;
let isListening = false;

/** From here on the child, with its group, ends when this process does. */
export function endsWithUs(child: ChildProcess, how: "at once" | "gently"): void {
  const { pid } = child;
  if (pid === undefined) return;
  if (!isListening) process.once("exit", endAll);
  isListening = true;
  living.set(pid, how);
  child.once("exit", () => living.delete(pid));
}

/**
 * A git that is asked to end removes its lock files first; one that doesn't is killed. Runs while the process exits: nothing is awaited.
 */
function endAll(): void {
  const gentle = [...living].filter(([, how]) => how === "gently").map(([pid]) => pid);
  for (const pid of gentle) signal(pid, "SIGTERM");
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waited = 0; waited < gentleMs && gentle.some(isRunning); waited += lookEveryMs) Atomics.wait(sleeper, 0, 0, lookEveryMs);
  for (const pid of living.keys()) signal(pid, "SIGKILL");
}

const isRunning = (pid: number): boolean => signal(pid, 0);

/** To the whole group; false if it is gone. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, name);
  } catch {
    return false;
  }
}
