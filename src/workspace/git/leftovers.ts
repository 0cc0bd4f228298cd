// leftovers: cleans up after a killed git in the user's repository: a process that outlived its runner, a lock without a holder.
//
// Invariants:
//   Z1. No lock is deleted while a git is alive that could hold it; if that is unknown, only a lock of the run's own branch is.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gitMark } from "./git.ts";
import { signal } from "./living-gits.ts";
import type { OpenRun } from "../run.ts";

const waitMs = 10_000;
const lookEveryMs = 50;
/** A lock seen this many times, with no live process that could hold it, is stale. */
const looksMin = 4;

/** Before a run's branch is read: gits of a dead runner finish, and the lock of a killed one is deleted. */
export async function clearLeftovers(run: Pick<OpenRun, "repository" | "ref">): Promise<void> {
  const { root, commonDir } = run.repository;
  const until = performance.now() + waitMs;
  while (readGits(root).some(isOrphan) && performance.now() < until) await pause(lookEveryMs);
  for (const { pid } of readGits(root).filter(isOrphan)) signal(pid, "SIGKILL"); // it waits for something that doesn't come
  await clearLock(join(commonDir, `${run.ref}.lock`), root, "ours");
}

/** Deletes a stale lock; false if it stays, because a process may hold it. */
export async function clearLock(path: string, root: string, whose: "ours" | "theirs"): Promise<boolean> {
  if (!existsSync(path)) return true;
  if (process.platform !== "linux" && whose === "theirs") return false; // Z1
  const until = performance.now() + waitMs;
  for (let quiet = 0; performance.now() < until;) {
    await pause(lookEveryMs);
    if (!existsSync(path)) return true;
    quiet = readGits(root).some(({ runner }) => runner !== process.pid) ? 0 : quiet + 1;
    if (quiet < looksMin) continue;
    await rm(path, { force: true });
    return true;
  }
  return false;
}

const patienceMs = 3_000;

/** Waits a little for another process's lock, as long as a git command takes. */
export async function isGoneInTime(path: string): Promise<boolean> {
  for (const until = performance.now() + patienceMs; existsSync(path); await pause(lookEveryMs)) {
    if (performance.now() >= until) return false;
  }
  return true;
}

/** A running git in a repository, and the runner that started it, if one did. */
type LivingGit = { readonly pid: number; readonly runner: number | null };

const isOrphan = ({ runner }: LivingGit): boolean => runner !== null && runner !== process.pid && !existsSync(`/proc/${runner}`);

/** Gits whose working folder is in the repository. Except on Linux none can be seen. */
function readGits(root: string): readonly LivingGit[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/comm`, "utf8").startsWith("git")) return [];
        if (!`${readlinkSync(`/proc/${name}/cwd`)}/`.startsWith(`${root}/`)) return [];
        const words = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
        const mark = words.find((word) => word.startsWith(`${gitMark}=`))?.slice(gitMark.length + 1);
        return [{ pid: Number(name), runner: mark === undefined ? null : Number(mark) }];
      } catch {
        return []; // gone, or another user's
      }
    });
}
