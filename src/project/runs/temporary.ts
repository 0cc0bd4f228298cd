// temporary: this process's folder under the system's temporary folder; everything short-lived is in it. A killed process cannot delete its
// folder, so the next one does, and ends the commands that were left running in it.
//
// Invariants:
//   T1. A folder belongs to a process as long as the kernel holds that process's lock on the file in it, and to no one after.
//   T2. Only such a folder is swept: by its name, not a link, the user's own, closed to others, with the file in it and no lock on that. It
//       is held open while it is inspected and emptied, so nothing can be put in its place meanwhile.
//   T3. The file is deleted last: an interrupted sweep is finished by the next one.
//   T4. Its path does not name this product: checks have their HOME in it, and must not be able to tell who runs them.

import { closeSync, constants, fstatSync, mkdtempSync, openSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sweepMarked } from "../../agents/process/end-tree.ts";
import { errorCode } from "../../journal/failure.ts";
import { loadTryLock } from "../../journal/lock.ts";
import { erase } from "../../workspace/folder.ts";

const prefix = "tmp-own-"; // T4
const nameForm = /^tmp-own-[A-Za-z0-9]{6}$/;
const ownerFile = "autopilot.owner";
const sweptMax = 256;

/** For paths that have to be short: a socket's is limited to about a hundred bytes. */
const shortest = "/tmp";
const socketPathBytesMax = 100;

const opening = new Map<string, Promise<string>>();

/** A new folder, readable by the user alone, in this process's own one. The caller deletes it. */
export async function temporaryFolder(kind: string, parent: string = tmpdir()): Promise<string> {
  try {
    return mkdtempSync(join(await own(parent), `${kind}-`));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    opening.delete(parent); // it was cleaned up, as happens to temporary folders, or there never was a place for it
    return mkdtempSync(join(await own(parent), `${kind}-`));
  }
}

/** The same for a socket of this name, wherever the system's temporary folder is. */
export async function socketFolder(kind: string, name: string): Promise<string> {
  const path = join(tmpdir(), `${prefix}XXXXXX`, `${kind}-XXXXXX`, name);
  return temporaryFolder(kind, Buffer.byteLength(path) <= socketPathBytesMax ? tmpdir() : shortest);
}

function own(parent: string): Promise<string> {
  const known = opening.get(parent) ?? openOwn(parent);
  opening.set(parent, known);
  return known;
}

async function openOwn(parent: string): Promise<string> {
  const tryLock = await loadTryLock().catch(() => null);
  const folder = mkdtempSync(join(parent, prefix)); // 0700 by itself
  if (tryLock === null) return folder; // without locks ownership is unknown, and nothing is swept
  const draft = join(folder, `${ownerFile}.new`);
  const fd = openSync(draft, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  if (tryLock(fd)) renameSync(draft, join(folder, ownerFile)); // T1: locked before it can be seen
  process.once("exit", () => leave(folder));
  return folder;
}

/** Forgotten folders are left to the next sweep. */
function leave(folder: string): void {
  try {
    if (readdirSync(folder).some((name) => name !== ownerFile)) return;
    rmSync(join(folder, ownerFile), { force: true });
    rmdirSync(folder);
  } catch {
    // It has gone already.
  }
}

/** Deletes what ended processes have left; returns how many folders that were. */
export async function sweepTemporary(parents: readonly string[] = [tmpdir(), shortest]): Promise<number> {
  const tryLock = await loadTryLock().catch(() => null);
  if (tryLock === null) return 0;
  let swept = 0;
  for (const parent of new Set(parents)) {
    const names = (await readdir(parent).catch(() => [])).filter((name) => nameForm.test(name)).slice(0, sweptMax);
    for (const name of names) if (await sweepOne(join(parent, name), tryLock)) swept++;
  }
  return swept;
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const fileFlags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK;

async function sweepOne(folder: string, tryLock: (fd: number) => boolean): Promise<boolean> {
  const held = opened(folder, folderFlags);
  if (held === null) return false;
  try {
    const { uid, mode } = fstatSync(held);
    if (uid !== process.getuid?.() || (mode & 0o077) !== 0) return false; // T2
    const inside = process.platform === "linux" ? `/proc/self/fd/${held}` : folder;
    const file = opened(join(inside, ownerFile), fileFlags);
    if (file === null) return false;
    try {
      if (!fstatSync(file).isFile() || !tryLock(file)) return false; // T1
      await sweepMarked((words) => words.some((word) => word.startsWith(`HOME=${folder}/`)));
      for (const name of readdirSync(inside)) if (name !== ownerFile) await erase(join(inside, name));
      rmSync(join(inside, ownerFile), { force: true }); // T3
      rmdirSync(folder);
      return true;
    } finally {
      closeSync(file);
    }
  } catch {
    return false; // rubbish in a temporary folder is no reason to fail
  } finally {
    closeSync(held);
  }
}

function opened(path: string, flags: number): number | null {
  try {
    return openSync(path, flags);
  } catch {
    return null;
  }
}
