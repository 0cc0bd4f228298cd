// sweep-temporary: deletes what killed processes left under the system's temporary folder
// (workspace/temporary-folder.ts), and ends the commands that were left running in it.
//
// Invariants:
//   T1. A folder belongs to a process as long as the kernel holds that process's lock on the file
//       in it, and to no one after.
//   T2. Only such a folder is swept: by its name, not a link, the user's own, closed to others,
//       with the file in it and no lock on that. On Linux it is inspected and emptied by its
//       descriptor, so nothing can be put in its place meanwhile.
//   T3. The file is deleted last: an interrupted sweep is finished by the next one.

import { closeSync, constants, fstatSync, openSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killMarkedProcesses } from "../../agents/process/end-tree.ts";
import { loadTryLock } from "../../journal/lock.ts";
import { erase } from "../../workspace/folder.ts";
import {
  ownerFile,
  ownFolderPattern,
  shortestTemporary,
} from "../../workspace/temporary-folder.ts";

const sweptMax = 256;

/** Deletes what ended processes have left; returns how many folders that were. */
export async function sweepTemporaryFolders(
  parents: readonly string[] = [tmpdir(), shortestTemporary],
): Promise<number> {
  const tryLock = await loadTryLock().catch(() => null);
  if (tryLock === null) return 0;
  let swept = 0;

  for (const parent of new Set(parents)) {
    const names = (await readdir(parent).catch(() => []))
      .filter((name) => ownFolderPattern.test(name))
      .slice(0, sweptMax);
    for (const name of names) if (await sweepOne(join(parent, name), tryLock)) swept++;
  }

  return swept;
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const fileFlags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function sweepOne(folder: string, tryLock: (fd: number) => boolean): Promise<boolean> {
  const folderFd = openOrNull(folder, folderFlags);
  if (folderFd === null) return false;
  try {
    const { uid, mode } = fstatSync(folderFd);
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0) return false; // T2
    const inside = process.platform === "linux" ? `/proc/self/fd/${folderFd}` : folder;
    const file = openOrNull(join(inside, ownerFile), fileFlags);
    if (file === null) return false;
    try {
      if (!fstatSync(file).isFile() || !tryLock(file)) return false; // T1
      await killMarkedProcesses(
        (words) => words.some((word) => word.startsWith(`HOME=${folder}/`)),
        "all",
      );

      for (const name of readdirSync(inside)) {
        if (name !== ownerFile) await erase(join(inside, name));
      }

      rmSync(join(inside, ownerFile), { force: true }); // T3
      rmdirSync(folder);
      return true;
    } finally {
      closeSync(file);
    }
  } catch {
    return false; // rubbish in a temporary folder is no reason to fail
  } finally {
    closeSync(folderFd);
  }
}

function openOrNull(path: string, flags: number): number | null {
  try {
    return openSync(path, flags);
  } catch {
    return null;
  }
}
