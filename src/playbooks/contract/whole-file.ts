// whole-file: reads and writes a playbook's files in the user's checkout, where a link, folder or
// foreign file may be in their place.
//
// Invariants:
//   F1. After a crash at any moment a replaced file is the old or the new one, never a partial one.
//       Appended lines may be lost.
//   F2. Nothing is read, written or moved through a link: not the file's own name, not a folder on
//       the way to it.
//   F3. What is read is bounded before it is read.
//   F4. Only files that are registered with their format (written-files.ts) are written.
//   F5. A temporary file that a crash leaves behind is in the runner's own folder, and a later
//       process deletes it. Only where that folder is missing or on another file system is it
//       beside the file, as `NAME.<uuid>.tmp`, and stays.

import { randomUUID } from "node:crypto";
import { constants, lstatSync, mkdirSync, readdirSync, rmSync, type Stats } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { invariant } from "../../kit/invariant.ts";
import { mayWrite } from "./written-files.ts";

const folderModes = { private: 0o700, shared: 0o755 } as const;
const fileModes = { private: 0o600, shared: 0o644 } as const;
/** Fails on a link, and does not wait for the other end of a named pipe. */
const noFollowFlags = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Files in the runner's own folder are readable by the user alone; others have the usual mode of
 * documents.
 */
const visibilityOf = (path: string): keyof typeof fileModes =>
  path.startsWith(".autopilot/") ? "private" : "shared";

/**
 * Replaces a file atomically: write a temporary file, sync, rename, sync the folder. `path` is
 * relative to the root.
 */
export async function writeWholeFile(
  root: string,
  path: string,
  content: string | Uint8Array,
): Promise<void> {
  await replaceWholeFile(root, path, content, () => Promise.resolve(true));
}

/**
 * Like `writeWholeFile`, but calls `mayReplace` right before the rename, to keep the window for a
 * change in between small. False if it refused.
 */
export async function replaceWholeFile(
  root: string,
  path: string,
  content: string | Uint8Array,
  mayReplace: () => Promise<boolean>,
): Promise<boolean> {
  const target = prepareTarget(root, path);
  const temporary = temporaryPath(root, target);

  try {
    const file = await open(temporary, "wx", fileModes[visibilityOf(path)]);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }

    if (!(await mayReplace())) {
      await rm(temporary, { force: true });
      return false;
    }

    await rename(temporary, target); // F1; a link of that name is replaced, what it points to is not touched: F2
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }

  await syncFolder(dirname(target));
  return true;
}

const temporaryFolder = ".autopilot/drafts";
/** A younger one may be in use by another process. */
const temporaryAgeMaxMs = 3_600_000;
/** Leftovers are looked for once per process and checkout. */
const sweptRoots = new Set<string>();

/**
 * A free path for a temporary file that will be renamed to `target`: on the same file system. F5
 */
export function temporaryPath(root: string, target: string): string {
  const ownFolder = lstatOrNull(join(root, ".autopilot"));
  if (ownFolder?.isDirectory() !== true || ownFolder.dev !== lstatOrNull(dirname(target))?.dev) {
    return `${target}.${randomUUID()}.tmp`;
  }

  const folder = join(root, temporaryFolder);
  const stats = lstatOrNull(folder) ?? makeFolder(folder, folderModes.private);
  if (!stats.isDirectory()) throw new Error(obstacleText(root, folder, stats)); // F2
  if (!sweptRoots.has(root)) deleteLeftovers(folder);
  sweptRoots.add(root);

  return join(folder, randomUUID());
}

/** Deletes the temporary files that a crash left. */
function deleteLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const stats = lstatOrNull(join(folder, name));
    if (stats?.isFile() === true && Date.now() - stats.mtimeMs > temporaryAgeMaxMs) {
      rmSync(join(folder, name), { force: true });
    }
  }
}

/**
 * Appends to a file. Not synced: losing the last lines in a crash is acceptable for its callers.
 */
export async function appendToFile(root: string, path: string, text: string): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | noFollowFlags;
  const file = await open(prepareTarget(root, path), flags, fileModes[visibilityOf(path)]);

  try {
    if (!(await file.stat()).isFile()) {
      throw new Error(`${path} isn't a regular file; move it away`);
    }

    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

/**
 * Moves one file to another name in the same root; false if there is none that can be reached
 * without a link.
 */
export async function moveFile(root: string, from: string, to: string): Promise<boolean> {
  const source = join(root, from);
  if (!isReachable(root, from) || lstatOrNull(source)?.isFile() !== true) return false; // F2
  const target = prepareTarget(root, to);
  await rename(source, target);
  await syncFolder(dirname(target));
  await syncFolder(dirname(source));

  return true;
}

/** Makes a rename in this folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

export type FileRead =
  | { readonly kind: "absent" }
  | { readonly kind: "read"; readonly bytes: Buffer }
  /** Something is there that cannot be read as this file: `why` completes the sentence "it …". */
  | { readonly kind: "unusable"; readonly rule: string; readonly why: string };

/** The bytes of a regular file, reached without a link, if it has at most `bytesMax`. */
export async function readBounded(root: string, path: string, bytesMax: number): Promise<FileRead> {
  const obstacle = findObstacle(root, path);
  if (obstacle === "absent") return { kind: "absent" };
  if (obstacle !== null) {
    return { kind: "unusable", rule: "not_reached", why: `cannot be reached: ${obstacle}` };
  }

  const stats = lstatOrNull(join(root, path));
  if (stats === null) return { kind: "absent" };
  if (stats.isSymbolicLink()) {
    return { kind: "unusable", rule: "link", why: "is a link, and links are not followed" };
  }

  if (!stats.isFile()) {
    return {
      kind: "unusable",
      rule: "no_file",
      why: `is ${stats.isDirectory() ? "a folder" : "no regular file"}`,
    };
  }

  try {
    const file = await open(join(root, path), constants.O_RDONLY | noFollowFlags); // F2
    try {
      const { size } = await file.stat();
      if (size > bytesMax) {
        return {
          kind: "unusable",
          rule: "too_large",
          why: `has ${size} bytes, at most ${bytesMax} are read`,
        };
      } // F3

      return { kind: "read", bytes: await file.readFile() };
    } finally {
      await file.close();
    }
  } catch (error) {
    return {
      kind: "unusable",
      rule: "unreadable",
      why: `cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`,
    };
  }
}

/**
 * The full path of a file to be written. Creates its folders; throws if a link or a file is among
 * them.
 */
function prepareTarget(root: string, path: string): string {
  invariant(mayWrite(path), `F4: ${path} stands in written-files.ts with its format`);
  const target = join(root, path);
  let folder = root;

  for (const part of parentFolders(path)) {
    folder = join(folder, part);
    const stats = lstatOrNull(folder) ?? makeFolder(folder, folderModes[visibilityOf(path)]);
    if (!stats.isDirectory()) throw new Error(obstacleText(root, folder, stats)); // F2
  }

  if (lstatOrNull(target)?.isDirectory() === true) {
    throw new Error(`${path} is a folder, so nothing can be written there; move it away`);
  }

  return target;
}

/**
 * Whether a path can be reached: its folders are there, and none of them is a link. The file itself
 * need not be there.
 */
export const isReachable = (root: string, path: string): boolean =>
  findObstacle(root, path) === null;

/**
 * Why the path cannot be reached, `absent` if a folder on the way is missing; null if it can be
 * reached.
 */
function findObstacle(root: string, path: string): string | null {
  let folder = root;
  for (const part of parentFolders(path)) {
    folder = join(folder, part);
    const stats = lstatOrNull(folder);
    if (stats === null) return "absent";
    if (!stats.isDirectory()) return obstacleText(root, folder, stats);
  }

  return null;
}

const parentFolders = (path: string): readonly string[] =>
  dirname(path)
    .split(/[/\\]/)
    .filter((part) => part !== "" && part !== ".");

const obstacleText = (root: string, folder: string, stats: Stats): string =>
  `${folder.slice(root.length + 1).replaceAll(sep, "/")} is ${stats.isSymbolicLink() ? "a link, and links are not followed" : "no folder"}`;

function makeFolder(path: string, mode: number): Stats {
  mkdirSync(path, { mode, recursive: true }); // another process may have made it meanwhile
  return lstatSync(path);
}

function lstatOrNull(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}
