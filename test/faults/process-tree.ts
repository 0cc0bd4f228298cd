// process-tree: everything a runner has started, however it hides: children of children, and
// whatever has the run's mark.

import { readdirSync, readFileSync } from "node:fs";
import { processesOf } from "../support/autopilot.ts";

/**
 * Kills a process with everything it started, so that nothing of it gets to do another thing. Says
 * how many there were.
 */
export function killTree(root: number, run: string, folder: string): number {
  const struck = new Set<number>();
  // Each is stopped before its children are looked for, so that none can start another meanwhile.
  for (
    let found = [root];
    found.length > 0;
    found = [...descendantsOf(root), ...processesOf(run, folder)].filter((pid) => !struck.has(pid))
  ) {
    for (const pid of found) {
      struck.add(pid);
      signal(pid, "SIGSTOP");
    }
  }

  for (const pid of struck) signal(pid, "SIGKILL");
  return struck.size;
}

function descendantsOf(root: number): readonly number[] {
  const parents = new Map(
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(Number(name))] as const),
  );

  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid) ?? 0;
    return parent === root || (parent > 1 && isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

function signal(pid: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    return; // gone already
  }
}
