// end-tree: ends an agent and everything it started, within a bounded time, whatever these
// processes do to survive.
//
// Invariants:
//   E1. No step depends on the agent: TERM has a short grace period, and nothing waits for a pipe
//       to close.
//   E2. A process is killed only if it was seen as part of this tree, is in its process group, or
//       has its mark.
//   E3. It ends when two scans in a row find no process, or when its time is up; then it returns
//       how many are left.

import type { ChildProcess } from "node:child_process";
import { setTimeout as wait } from "node:timers/promises";
import {
  findDescendants,
  findMarkedProcesses,
  isAlive,
  type ProcessInfo,
  readProcess,
  type SearchRange,
} from "./process-table.ts";
import type { EnvironmentFilter } from "./process-mark.ts";

/** How long what is left is looked for; part of the two seconds of `stop`: agents/turn/turn-limits.ts. */
export const sweepTimeoutMs = 1000;
const pollMs = 15;

/** Ends the tree; returns how many processes are left: zero, unless the kernel keeps one alive. */
export async function endTree(
  child: ChildProcess,
  isMarked: EnvironmentFilter,
  { graceMs }: { readonly graceMs: number },
): Promise<number> {
  const { pid } = child;
  if (pid === undefined) return 0;
  const root = hasExited(child) ? undefined : readProcess(pid);
  // Scanned before any signal: a child whose parent is gone can no longer be traced to it.
  const tree: ProcessInfo[] = [...(root === undefined ? [] : [root]), ...findDescendants(pid)];
  if (root !== undefined || tree.length > 0) {
    signalGroup(pid, "SIGTERM");
    for (const member of tree) if (member.pid !== pid) signal(member.pid, "SIGTERM");
    await waitUntilGone(child, tree, graceMs); // E1
  }

  signalGroup(pid, "SIGKILL");
  for (const member of tree) if (isAlive(member)) signal(member.pid, "SIGKILL"); // E2
  const { alive } = await killMarked(isMarked, "since_runner");
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();

  return alive;
}

/** Kills every process with the mark, until there is none; returns how many there were. */
export async function killMarkedProcesses(
  isMarked: EnvironmentFilter,
  range: SearchRange,
): Promise<number> {
  return (await killMarked(isMarked, range)).killed;
}

/** `killed`: how many processes got the signal; `alive`: how many the last scan found. */
async function killMarked(
  isMarked: EnvironmentFilter,
  range: SearchRange,
): Promise<{ readonly killed: number; readonly alive: number }> {
  const killed = new Set<number>();
  const deadlineMs = performance.now() + sweepTimeoutMs;
  let alive = 0;

  for (let emptyScans = 0; emptyScans < 2 && performance.now() < deadlineMs;) {
    const marked = findMarkedProcesses(isMarked, range);
    alive = marked.length;
    emptyScans = alive === 0 ? emptyScans + 1 : 0; // E3

    for (const pid of marked) {
      killed.add(pid);
      signal(pid, "SIGKILL");
    }

    if (alive > 0) await wait(pollMs);
  }

  return { killed: killed.size, alive };
}

async function waitUntilGone(
  child: ChildProcess,
  tree: readonly ProcessInfo[],
  graceMs: number,
): Promise<void> {
  const deadlineMs = performance.now() + graceMs;
  while (performance.now() < deadlineMs) {
    if (hasExited(child) && !tree.some(isAlive)) return;
    await wait(pollMs);
  }
}

const hasExited = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null;

function signalGroup(group: number, name: "SIGTERM" | "SIGKILL"): void {
  if (group > 1) signal(-group, name);
}

/** A process that is gone already needs no signal. */
function signal(pid: number, name: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch {
    return;
  }
}
