// leftovers: what a git that did not end by itself leaves in the user's repository: a process that outlived its runner, a lock that nobody holds.
//
// Invariants:
//   Z1. No lock is taken away while a git lives that could hold it; where that cannot be known, only a lock of the run's own branch is.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { gitMark } from "./git.ts";
import { signal } from "./living-gits.ts";
import type { OpenRun } from "../run.ts";

const waitMs = 10_000;
const lookEveryMs = 50;
/** A lock that was there for so many looks, with nobody alive who could hold it, is nobody's. */
const looksMin = 4;

/** Before a run's branch is read: gits of a runner that died end what they began, and the lock of one that was killed goes. */
export async function clearLeftovers(run: Pick<OpenRun, "repository" | "ref">): Promise<void> {
  const { root, commonDir } = run.repository;
  const until = performance.now() + waitMs;
  while (gitsIn(root).some(isOrphan) && performance.now() < until) await pause(lookEveryMs);
  for (const { pid } of gitsIn(root).filter(isOrphan)) signal(pid, "SIGKILL"); // it waits for something that doesn't come
  await clearLock(join(commonDir, `${run.ref}.lock`), root, "ours");
}

/** Takes away a lock that nobody holds any more; false if it stays, because somebody may. */
export async function clearLock(path: string, root: string, whose: "ours" | "theirs"): Promise<boolean> {
  if (!existsSync(path)) return true;
  if (process.platform !== "linux" && whose === "theirs") return false; // Z1
  const until = performance.now() + waitMs;
  for (let quiet = 0; performance.now() < until;) {
    await pause(lookEveryMs);
    if (!existsSync(path)) return true;
    quiet = gitsIn(root).some(({ runner }) => runner !== process.pid) ? 0 : quiet + 1;
    if (quiet < looksMin) continue;
    await rm(path, { force: true });
    return true;
  }
  return false;
}

const patienceMs = 3_000;

/** Waits a little for a lock of somebody else's, as long as a git command takes. */
export async function isGoneInTime(path: string): Promise<boolean> {
  for (const until = performance.now() + patienceMs; existsSync(path); await pause(lookEveryMs)) {
    if (performance.now() >= until) return false;
  }
  return true;
}

/** A git at work in a repository, and the runner that started it, if one did. */
type LivingGit = { readonly pid: number; readonly runner: number | null };

const isOrphan = ({ runner }: LivingGit): boolean => runner !== null && runner !== process.pid && !existsSync(`/proc/${runner}`);

/** Gits whose folder is in the repository. Elsewhere than on Linux nobody can be asked, and none are seen. */
function gitsIn(root: string): readonly LivingGit[] {
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
        return []; // gone, or somebody else's
      }
    });
}
