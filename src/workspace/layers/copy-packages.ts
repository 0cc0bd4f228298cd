// copy-packages: finds installed packages (node_modules and the like; git/installed-folders.ts) in
// the user's checkout and copies them into the folders of agents and checks, so that both can work
// offline and neither can change the user's. At isolation overlay they are copied once, and each
// folder is shown the copy beneath it, which it cannot change either (bases/dependency-base.ts).
//
// Invariants:
//   D1. A copy is reused for checks only if nothing in it was touched since it was made: names,
//       inodes, sizes, modes, and times, of which no ordinary process can set back the ctime.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync } from "node:fs";
import { cp, lstat, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";
import { moveFolder } from "../folder.ts";
import type { BytePath } from "../git/byte-path.ts";
import { findIgnoredFolders } from "../git/installed-folders.ts";
import type { GitPlaces } from "../git/git-places.ts";

/** The names of folders that are provided unless the user configures others. */
export const dependencyNames = ["node_modules", ".venv", "venv", "vendor"] as const;

const execFileAsync = promisify(execFile);
const copyTimeoutMs = 900_000;
/** More folders than that are not provided: agents and checks do without them. */
const foldersMax = 200;
/** Longer than the tick of a file system's clock, so that a touch after the copy shows. */
const tickMs = 25;

/**
 * The existing folders (installed-folders.ts) with one of these names that git, or a further ignore
 * file, ignores; as paths from the root, at most `foldersMax`.
 */
export async function findDependencyFolders(
  places: GitPlaces,
  existing: readonly BytePath[],
  names: readonly string[],
  rules?: string,
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  return (await findIgnoredFolders(places, existing, names, rules))
    .filter((path) => !path.startsWith(".autopilot/")) // copies of our own
    .toSorted()
    .slice(0, foldersMax);
}

/**
 * Copies dependency folders into a fresh checkout; returns those that were copied. A path that
 * exists, or is below a link, is left out.
 */
export async function copyDependencies(
  root: string,
  folders: readonly string[],
  destination: string,
): Promise<readonly string[]> {
  const copied: string[] = [];
  for (const folder of folders) {
    if (!(await isPathFree(destination, folder))) continue;
    await copyFolder(join(root, folder), join(destination, folder));
    copied.push(folder);
  }

  return copied;
}

/**
 * Moves dependency folders out of a tree that is about to be deleted; returns those that could be
 * moved.
 */
export async function moveDependencies(
  from: string,
  folders: readonly string[],
  destination: string,
): Promise<readonly string[]> {
  const moved: string[] = [];
  for (const folder of folders) {
    if (!(await isRealFolder(from, folder)) || !(await isPathFree(destination, folder))) continue;
    try {
      moveFolder(join(from, folder), join(destination, folder));
      moved.push(folder);
    } catch (error) {
      if (readErrorCode(error) !== "EACCES") throw error; // its parent's mode forbids it: the caller copies instead
    }
  }

  return moved;
}

/** The copies' stat data; equal only while nothing in them was touched (D1). */
export async function fingerprintFolders(
  tree: string,
  folders: readonly string[],
): Promise<string> {
  if (folders.some((folder) => readdirSync(join(tree, folder)).length > 0)) await sleep(tickMs);
  const hash = createHash("sha256");

  const visit = (folder: string, isTop: boolean): void => {
    const stat = lstatSync(folder, { bigint: true });
    // Moving the folder itself changes its own times, never those of its contents.
    const times = isTop ? "" : `${stat.size}\0${stat.mtimeNs}\0${stat.ctimeNs}`;
    hash.update(`${folder.slice(tree.length)}\0${stat.mode}\0${stat.ino}\0${times}\n`);
    if (!stat.isDirectory()) return;
    for (const name of readdirSync(folder).sort()) visit(join(folder, name), false);
  };
  for (const folder of folders) visit(join(tree, folder), true);
  return hash.digest("hex");
}

/** Whether nothing is at the path, and everything above it is a real folder. */
async function isPathFree(destination: string, folder: string): Promise<boolean> {
  const parent = dirname(folder);
  if (parent !== "." && !(await isRealFolder(destination, parent))) return false;
  return (await lstat(join(destination, folder)).catch(() => null)) === null;
}

/** Whether every part of the path is a real folder. */
async function isRealFolder(tree: string, folder: string): Promise<boolean> {
  let path = tree;
  for (const part of folder.split("/")) {
    path = join(path, part);
    const stat = await lstat(path).catch(() => null);
    if (stat === null || !stat.isDirectory()) return false;
  }

  return true;
}

/** Copies a folder whole, sharing blocks if the file system supports it. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  if (process.platform === "linux") {
    try {
      await execFileAsync("cp", ["-a", "--reflink=auto", "--", from, to], {
        timeout: copyTimeoutMs,
      });

      return;
    } catch {
      // Not every cp knows --reflink; the slower way below reports the real error.
    }
  }

  try {
    await cp(from, to, {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
      force: true,
    });
  } catch (error) {
    const path =
      error instanceof Error && "path" in error && typeof error.path === "string"
        ? error.path
        : from;
    if (readErrorCode(error) !== "EACCES" || !path.startsWith(from)) throw error;
    throw new WorkspaceFailed(
      "workspace_unusable",
      `You may not read ${path}, so agents and checks can't have the packages in ${from}.`,
      `make ${path} readable (chown, chmod u+r) or remove it, then try again`,
    );
  }
}
