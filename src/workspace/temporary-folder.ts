// temporary-folder: this process's folder under the system's temporary folder; everything
// short-lived is in it. A killed process cannot delete its folder, so the next one does
// (project/runs/sweep-temporary.ts).
//
// Invariants:
//   T1. A folder belongs to a process as long as the kernel holds that process's lock on the file
//       in it, and to no one after.
//   T2. Its path does not name this product: checks have their HOME in it, and must not be able to
//       tell who runs them.

import {
  constants,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadTryLock } from "./bases/base-lock.ts";
import { readErrorCode } from "./failure.ts";

const prefix = "tmp-own-"; // T2
export const ownFolderPattern = /^tmp-own-[A-Za-z0-9]{6}$/;
export const ownerFile = "autopilot.owner";

/** For sockets, whose paths are limited to about a hundred bytes. */
export const shortestTemporary = "/tmp";
const socketPathBytesMax = 100;

/** This process's folder, by the folder that it is in. */
const ownFolders = new Map<string, Promise<string>>();

/** A new folder, readable by the user alone, in this process's own one. The caller deletes it. */
export async function createTemporaryFolder(
  kind: string,
  parent: string = tmpdir(),
): Promise<string> {
  try {
    return mkdtempSync(join(await openOwnFolder(parent), `${kind}-`));
  } catch (error) {
    ownFolders.delete(parent);
    if (readErrorCode(error) !== "ENOENT") throw error;
    return mkdtempSync(join(await openOwnFolder(parent), `${kind}-`)); // the system cleans temporary folders up now and then
  }
}

/** The same for a socket of this name, wherever the system's temporary folder is. */
export async function createSocketFolder(kind: string, name: string): Promise<string> {
  const path = join(tmpdir(), `${prefix}XXXXXX`, `${kind}-XXXXXX`, name);
  return createTemporaryFolder(
    kind,
    Buffer.byteLength(path) <= socketPathBytesMax ? tmpdir() : shortestTemporary,
  );
}

function openOwnFolder(parent: string): Promise<string> {
  const folder = ownFolders.get(parent) ?? createOwnFolder(parent);
  ownFolders.set(parent, folder);
  return folder;
}

async function createOwnFolder(parent: string): Promise<string> {
  const tryLock = await loadTryLock().catch(() => null);
  const folder = mkdtempSync(join(parent, prefix)); // with mode 0700
  if (tryLock === null) return folder; // without locks ownership is unknown, and nothing is swept
  const unlocked = join(folder, `${ownerFile}.new`);
  const fd = openSync(unlocked, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  if (tryLock(fd)) renameSync(unlocked, join(folder, ownerFile)); // T1: locked before it can be seen
  process.once("exit", () => removeIfEmpty(folder));

  return folder;
}

/**
 * Removes the process's folder unless something was left in it; then the next process sweeps it.
 */
function removeIfEmpty(folder: string): void {
  try {
    if (readdirSync(folder).some((name) => name !== ownerFile)) return;
    rmSync(join(folder, ownerFile), { force: true });
    rmdirSync(folder);
  } catch {
    // It is gone already.
  }
}
