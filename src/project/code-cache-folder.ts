// code-cache-folder: finds the folder of cached compiled code, and decides whether code may be
// loaded from it: anyone who can write to the folder, or replace it, could run code as this user.

import { lstatSync, realpathSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** The folder that caches compiled code; null if the user has switched it off. */
export function findCodeCacheFolder(env: Env): string | null {
  const setting = env["AUTOPILOT_CODE_CACHE"] ?? "";
  if (setting === "off") return null;
  if (setting.startsWith("/")) return setting;
  const xdg = env["XDG_CACHE_HOME"];
  const cache =
    xdg !== undefined && xdg.startsWith("/") ? xdg : join(env["HOME"] || homedir(), ".cache");

  return join(cache, "autopilot", "code");
}

/**
 * Says why no code may be loaded from a folder, as the end of a sentence; null if it may. A folder
 * that does not exist yet is fine.
 */
export function whyNoCache(folder: string): string | null {
  if (!folder.startsWith("/")) return `${folder} isn't an absolute path`;

  const repository = listUpwards(folder).find((path) => readStats(join(path, ".git")) !== null);
  if (repository !== undefined) {
    return `it would lie in the repository ${repository}, and may have come with it`;
  }

  const parent = dirname(folder);
  return whyNotOurs(parent) ?? whyNotOurs(folder) ?? whyReplaceable(dirname(parent));
}

/** Says why a folder isn't ours alone; null if it is, or if there is none. */
function whyNotOurs(path: string): string | null {
  const stats = readStats(path);
  if (stats === null) return null;
  if (stats.isSymbolicLink()) return `${path} is a link`;
  if (!stats.isDirectory()) return `${path} is not a folder`;

  const mayOthersWrite = (stats.mode & 0o022) !== 0;
  return isOurs(stats) && !mayOthersWrite ? null : describeOthersAccess(path, stats);
}

/**
 * Anyone who can rename a parent folder could replace it: it must be ours or root's, and not
 * writable by others except with the sticky bit, which lets users rename only their own.
 */
function whyReplaceable(folder: string): string | null {
  const parents = listUpwards(findNearestReal(folder)).slice(0, -1); // nobody can rename the root
  for (const path of parents) {
    const stats = readStats(path);
    if (stats === null) continue;

    const isOpen = (stats.mode & 0o002) !== 0 && (stats.mode & 0o1000) === 0;
    const isTrusted = isOurs(stats) || stats.uid === 0;
    if (isOpen || !isTrusted) return describeOthersAccess(path, stats);
  }

  return null;
}

/** A path and every folder above it, up to the root. */
function listUpwards(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...listUpwards(parent)];
}

const isOurs = ({ uid }: Stats): boolean =>
  process.getuid === undefined || uid === process.getuid();
const describeOthersAccess = (at: string, stats: Stats): string =>
  isOurs(stats) || stats.uid === 0 ? `others may write to ${at}` : `${at} belongs to another user`;

/** The nearest folder at or above a path that exists, without links in its path. */
function findNearestReal(path: string): string {
  for (let candidate = path; ; candidate = dirname(candidate)) {
    try {
      return realpathSync(candidate);
    } catch {
      if (candidate === dirname(candidate)) return candidate;
    }
  }
}

const readStats = (path: string): Stats | null => {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
};
