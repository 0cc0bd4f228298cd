// killed-git: cleans up after a killed git in the user's repository: a process that outlived its
// runner, a lock without a holder.
//
// Invariants:
//   Z1. No lock is deleted while a git of another process works in the checkout: it could hold it.
//       Where gits can't be seen (only Linux shows them), only a lock of the run's own branch is
//       deleted.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gitMarkVariable } from "./safe-git-call.ts";
import { signalGroup } from "./running-gits.ts";
import type { RunWorkspace } from "../run-workspace.ts";

const waitMs = 10_000;
const pollMs = 50;
/** A lock seen this many times, with no live process that could hold it, is stale. */
const idlePollsMin = 4;

/**
 * Called before a run's branch is read: waits for gits of a dead runner, kills those that don't
 * end, and deletes the lock of the branch.
 */
export async function clearLeftovers(run: Pick<RunWorkspace, "repository" | "ref">): Promise<void> {
  const { root, commonDir } = run.repository;
  const deadlineMs = performance.now() + waitMs;
  const readOrphans = (): readonly RunningGit[] => readRunningGits(root).filter(isOrphan);
  let orphans = readOrphans();
  for (; orphans.length > 0 && performance.now() < deadlineMs; orphans = readOrphans()) {
    await pause(pollMs);
  }

  for (const { pid } of orphans) signalGroup(pid, "SIGKILL"); // it waits for something that will not happen
  await clearLock(join(commonDir, `${run.ref}.lock`), root, "ours");
}

/**
 * Deletes a stale lock of a git in the checkout `root`; false if it stays, because a process may
 * hold it. `whose`: the file it locks.
 */
export async function clearLock(
  path: string,
  root: string,
  whose: "ours" | "theirs",
): Promise<boolean> {
  if (!existsSync(path)) return true;
  if (process.platform !== "linux" && whose === "theirs") return false; // Z1
  const deadlineMs = performance.now() + waitMs;
  for (let idlePolls = 0; performance.now() < deadlineMs;) {
    await pause(pollMs);
    if (!existsSync(path)) return true;
    idlePolls = readRunningGits(root).some(({ runner }) => runner !== process.pid)
      ? 0
      : idlePolls + 1; // Z1

    if (idlePolls < idlePollsMin) continue;
    await rm(path, { force: true });
    return true;
  }

  return false;
}

const foreignLockWaitMs = 3_000;

/**
 * Waits for another process's lock, as long as an ordinary git command takes; returns whether it is
 * gone.
 */
export async function waitUntilGone(path: string): Promise<boolean> {
  for (
    const deadlineMs = performance.now() + foreignLockWaitMs;
    existsSync(path);
    await pause(pollMs)
  ) {
    if (performance.now() >= deadlineMs) return false;
  }

  return true;
}

/** A running git in a checkout, and the runner that started it, if one did. */
type RunningGit = { readonly pid: number; readonly runner: number | null };

const isOrphan = ({ runner }: RunningGit): boolean =>
  runner !== null && runner !== process.pid && !existsSync(`/proc/${runner}`);

/** Gits whose working folder is in the checkout. Only on Linux can they be seen. */
function readRunningGits(root: string): readonly RunningGit[] {
  if (process.platform !== "linux") return [];
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => readRunningGit(pid, root)).filter((runningGit) => runningGit !== null);
}

function readRunningGit(pid: string, root: string): RunningGit | null {
  try {
    if (!readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("git")) return null;
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    if (!`${cwd}/`.startsWith(`${root}/`)) return null;
    const variables = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    const mark = variables
      .find((variable) => variable.startsWith(`${gitMarkVariable}=`))
      ?.slice(gitMarkVariable.length + 1);

    return { pid: Number(pid), runner: mark === undefined ? null : Number(mark) };
  } catch {
    return null; // it ended, or is another user's
  }
}
