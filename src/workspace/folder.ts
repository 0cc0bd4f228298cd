// folder: creates and deletes whole folders and small files so that a crash leaves the old or the
// new, never a half.
//
// Invariants:
//   F1. A folder that is discarded is renamed away before anything in it is deleted, so its name
//       never shows a half-deleted tree.
//   F2. Deleting follows no link.
//   F3. Reading never blocks and ends: only regular files are read.
//   F4. A folder goes whatever its modes: commands take their own access away, and read-only caches
//       are common.

import { execFile, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { readErrorCode } from "./failure.ts";

const execFileAsync = promisify(execFile);
const eraseTimeoutMs = 600_000;

/**
 * Writes a small file atomically: temp file, sync, rename, sync of the folder. Private to its owner
 * by default.
 */
export async function writeFileAtomically(
  path: string,
  text: string | Buffer,
  mode?: number,
): Promise<void> {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(text);
      if (mode !== undefined) await file.chmod(mode);
      await file.datasync();
    } finally {
      await file.close();
    }

    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }

  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const jsonBytesMax = 64 << 20;

/** A JSON file's content; null if there is none, it is too large, or it isn't JSON. */
export async function readJson(path: string): Promise<unknown> {
  try {
    const bytes = readSmallFile(path, jsonBytesMax);
    return bytes === null ? null : (JSON.parse(bytes.toString("utf8")) as unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/**
 * A regular file's bytes; null if there is none, it is something else (a pipe, a device: F3), or
 * larger. Throws if it may not be read.
 */
export function readSmallFile(path: string | Buffer, bytesMax: number): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ENXIO", "ELOOP"].includes(readErrorCode(error) ?? "")) return null;
    throw error;
  }

  try {
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= bytesMax ? readFileSync(fd) : null;
  } finally {
    closeSync(fd);
  }
}

/** Deletes a folder. What cannot be deleted stays in `trash`. */
export async function discard(folder: string, trash: string): Promise<void> {
  const trashed = moveToTrash(folder, trash);
  if (trashed !== null) await erase(trashed);
}

/** Renames a folder away, to be deleted later, and returns its new path; null if there was none. */
export function moveToTrash(folder: string, trash: string): string | null {
  if (lstatSync(trash, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(trash); // F2
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  const trashed = join(trash, randomUUID());

  try {
    moveFolder(folder, trashed); // F1
    return trashed;
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return null;
    throw error;
  }
}

/** Renames a folder, whatever its mode: a move to another parent writes to the folder itself. F4 */
export function moveFolder(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!giveOwnerAccess(from)) throw error;
    renameSync(from, to);
  }
}

/** The names in a folder, whatever its mode; none if it isn't a real folder. F4 */
export function readFolderNames(folder: string): readonly string[] {
  giveOwnerAccess(folder);
  return lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(folder)
    : [];
}

/** Gives the owner full access to a folder; whether that changed anything. F2 */
function giveOwnerAccess(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true || (stats.mode & 0o700) === 0o700) return false;
  chmodSync(folder, (stats.mode & 0o777) | 0o700);

  return true;
}

/** Deletes a folder, whatever the modes in it. What cannot be deleted stays. */
export async function erase(folder: string | Buffer): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true }); // F2
  } catch {
    for (const [program, args] of composeForcedDelete(folder.toString())) {
      await execFileAsync(program, args, { timeout: eraseTimeoutMs }).catch(() => undefined);
    }
  }
}

/** Deletes a folder synchronously; throws if something cannot be deleted. */
export function eraseSync(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    for (const [program, args] of composeForcedDelete(folder)) {
      spawnSync(program, args, { timeout: eraseTimeoutMs, stdio: "ignore" });
    }

    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * F4. Neither program follows links, and both descend folder by folder: a tree may be nested too
 * deep for one path.
 */
const composeForcedDelete = (folder: string): readonly (readonly [string, readonly string[]])[] => [
  ["chmod", ["-R", "u+rwx", "--", folder]],
  ["rm", ["-rf", "--", folder]],
];
