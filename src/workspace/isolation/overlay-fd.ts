// overlay-fd: the folder operations of overlay-collect.ts, each by name inside a folder that is held open, so that no link is ever followed
// (fd-walk.ts reads in the same manner).

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
import { bytePathFromBytes, bytePathBytes, bytePathParts, type BytePath } from "../git/byte-path.ts";
import { readErrorCode } from "../failure.ts";

/** A folder held open, by its descriptor. */
export type FolderHandle = { readonly descriptor: number };
export type Kind = "folder" | "whiteout" | "other" | "none";

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Opens a folder without reading it, so that an unreadable one can be opened up. Node has no constant for it. */
const pathOnly = 0o10000000;
const linkRefusals = new Set(["EMLINK", "EPERM", "EXDEV"]);
const notAFolder = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** Null if there is no such real folder. */
export function withFolderHandle<T>(root: string, path: BytePath, use: (folder: FolderHandle) => T): T | null {
  let descriptor = openFolder(root);
  try {
    for (const part of bytePathParts(path)) {
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
    if (notAFolder.has(readErrorCode(error) ?? "")) return null;
    throw error;
  }
}

const pathIn = ({ descriptor }: FolderHandle, name: BytePath): Buffer =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${descriptor}/`), bytePathBytes(name)]);

export const listNamesAt = (folder: FolderHandle): BytePath[] =>
  readdirSync(pathIn(folder, "." as BytePath), { encoding: "buffer" }).map((name) => bytePathFromBytes(name));

function statAt(folder: FolderHandle, name: BytePath): Stats | undefined {
  return lstatSync(pathIn(folder, name), { throwIfNoEntry: false });
}

export function readKindAt(folder: FolderHandle, name: BytePath): Kind {
  const stat = statAt(folder, name);
  if (stat === undefined) return "none";
  if (stat.isDirectory()) return "folder";
  return stat.isCharacterDevice() && stat.rdev === 0 ? "whiteout" : "other";
}

/** Makes a folder accessible that was closed to keep us out. */
export function makeAccessible(folder: FolderHandle, name: BytePath): void {
  const mode = statAt(folder, name)?.mode ?? 0o700;
  if ((mode & 0o700) === 0o700) return;
  const descriptor = openSync(pathIn(folder, name), pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${descriptor}`, (mode & 0o777) | 0o700);
  } finally {
    closeSync(descriptor);
  }
}

export function makeFolder(folder: FolderHandle, name: BytePath): void {
  if (statAt(folder, name) === undefined) mkdirSync(pathIn(folder, name), { mode: 0o755 });
  else makeAccessible(folder, name);
}

/** Hard-links an entry of `from` into `to`, replacing what was there; a dangling link if that is impossible. */
export function linkInto(from: FolderHandle | null, to: FolderHandle, name: BytePath, draft: string): void {
  const [above, below] = [from === null ? undefined : statAt(from, name), statAt(to, name)];
  // Two names of one file: a rename would do nothing and leave the temporary name.
  if (above !== undefined && below !== undefined && above.ino === below.ino && above.dev === below.dev) return;
  rmSync(draft, { force: true });
  if (from === null || !tryLink(pathIn(from, name), draft)) symlinkSync("not-brought-in", draft);
  renameSync(draft, pathIn(to, name));
}

/**
 * False if the file can't be linked: it has all the hard links its file system allows (EMLINK), the kernel forbids linking it (EPERM), or
 * it is on another file system (EXDEV).
 */
function tryLink(path: Buffer, draft: string): boolean {
  try {
    linkSync(path, draft);
    return true;
  } catch (error) {
    if (linkRefusals.has(readErrorCode(error) ?? "")) return false;
    throw error;
  }
}

/** Renames a file or a whole folder away. */
export function moveAway(folder: FolderHandle, name: BytePath, into: string): void {
  if (readKindAt(folder, name) === "folder") makeAccessible(folder, name);
  renameSync(pathIn(folder, name), join(into, randomUUID()));
}
