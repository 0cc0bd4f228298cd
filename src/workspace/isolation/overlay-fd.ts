// overlay-fd: folder operations for overlay-collect.ts and read-back.ts. Each works by name inside
// a folder that is held open, so that no link is ever followed (fd-walk.ts reads in the same
// manner).

import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import {
  bytePathFromBytes,
  bytePathToBytes,
  splitBytePath,
  type BytePath,
} from "../git/byte-path.ts";
import { readErrorCode } from "../failure.ts";

/** A folder held open, by its descriptor. */
export type FolderHandle = { readonly descriptor: number };
export type EntryKind = "folder" | "whiteout" | "other" | "none";

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/**
 * O_PATH: opens a folder without reading it, so that an unreadable one can be made accessible. Node
 * has no constant for it.
 */
const pathOnlyFlag = 0o10000000;
const linkRefusalCodes = new Set(["EMLINK", "EPERM", "EXDEV"]);
const noFolderCodes = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/**
 * Opens the folder at a path below `root`, passes it to `use` and closes it; null if there is no
 * such real folder.
 */
export function withFolderHandle<T>(
  root: string,
  path: BytePath,
  use: (folder: FolderHandle) => T,
): T | null {
  let descriptor = openFolder(root);
  try {
    for (const part of splitBytePath(path)) {
      if (descriptor === null) return null;
      const below = openFolder(pathIn({ descriptor }, part));
      closeSync(descriptor);
      descriptor = below;
    }

    return descriptor === null ? null : use({ descriptor });
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function openFolder(path: string | Buffer): number | null {
  try {
    return openSync(path, folderFlags);
  } catch (error) {
    if (noFolderCodes.has(readErrorCode(error) ?? "")) return null;
    throw error;
  }
}

const pathIn = ({ descriptor }: FolderHandle, name: BytePath): Buffer =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${descriptor}/`), bytePathToBytes(name)]);

export const listNamesAt = (folder: FolderHandle): BytePath[] =>
  readdirSync(pathIn(folder, "." as BytePath), { encoding: "buffer" }).map((name) =>
    bytePathFromBytes(name),
  );

function statAt(folder: FolderHandle, name: BytePath): Stats | undefined {
  return lstatSync(pathIn(folder, name), { throwIfNoEntry: false });
}

export function readKindAt(folder: FolderHandle, name: BytePath): EntryKind {
  const stat = statAt(folder, name);
  if (stat === undefined) return "none";
  if (stat.isDirectory()) return "folder";

  return stat.isCharacterDevice() && stat.rdev === 0 ? "whiteout" : "other";
}

/** Gives the owner access to a folder whose mode denies it. */
export function makeAccessible(folder: FolderHandle, name: BytePath): void {
  const mode = statAt(folder, name)?.mode ?? 0o700;
  if ((mode & 0o700) === 0o700) return;
  const descriptor = openSync(
    pathIn(folder, name),
    pathOnlyFlag | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  );

  try {
    chmodSync(`/proc/self/fd/${descriptor}`, (mode & 0o777) | 0o700);
  } finally {
    closeSync(descriptor);
  }
}

/** Creates a folder, or makes the existing one accessible. */
export function makeFolder(folder: FolderHandle, name: BytePath): void {
  if (statAt(folder, name) === undefined) mkdirSync(pathIn(folder, name), { mode: 0o755 });
  else makeAccessible(folder, name);
}

/**
 * Hard-links an entry of `from` into `to`, replacing what was there, by way of the path
 * `temporary`. If that is impossible, or `from` is null, a dangling link takes its place.
 */
export function linkInto(
  from: FolderHandle | null,
  to: FolderHandle,
  name: BytePath,
  temporary: string,
): void {
  const [source, target] = [from === null ? undefined : statAt(from, name), statAt(to, name)];
  // Both are the same file already: a rename would do nothing and leave the temporary name.
  if (
    source !== undefined &&
    target !== undefined &&
    source.ino === target.ino &&
    source.dev === target.dev
  ) {
    return;
  }

  rmSync(temporary, { force: true });
  if (from === null || !tryLink(pathIn(from, name), temporary)) {
    symlinkSync("not-brought-in", temporary);
  }

  renameSync(temporary, pathIn(to, name));
}

/**
 * False if the file can't be linked: it has all the hard links its file system allows (EMLINK), the
 * kernel forbids linking it (EPERM), or it is on another file system (EXDEV).
 */
function tryLink(path: Buffer, temporary: string): boolean {
  try {
    linkSync(path, temporary);
    return true;
  } catch (error) {
    if (linkRefusalCodes.has(readErrorCode(error) ?? "")) return false;
    throw error;
  }
}

/** Renames a file or a whole folder away, into `destination`. */
export function moveAway(folder: FolderHandle, name: BytePath, destination: string): void {
  if (readKindAt(folder, name) === "folder") makeAccessible(folder, name);
  renameSync(pathIn(folder, name), join(destination, randomUUID()));
}
