// code-cache-folder: where compiled code is cached, and whether it may be loaded: anyone who can write it, or replace the folder, runs code
// as this user.

import { lstatSync, realpathSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** The folder that caches compiled code; null if the user has switched it off. */
export function codeCacheFolder(env: Env): string | null {
  const setting = env["AUTOPILOT_CODE_CACHE"] ?? "";
  if (setting === "off") return null;
  if (setting.startsWith("/")) return setting;
  const xdg = env["XDG_CACHE_HOME"];
  const cache = xdg !== undefined && xdg.startsWith("/") ? xdg : join(env["HOME"] || homedir(), ".cache");
  return join(cache, "autopilot", "code");
}

/** Says why no code may be loaded from a folder, as the end of a sentence; null if it may. A folder that does not exist yet is fine. */
export function whyNoCache(folder: string): string | null {
  if (!folder.startsWith("/")) return `${folder} isn't an absolute path`;
  for (let at = folder; ; at = dirname(at)) {
    if (readStats(join(at, ".git")) !== null) return `it would lie in the repository ${at}, and may have come with it`;
    if (at === dirname(at)) break;
  }
  for (const at of [dirname(folder), folder]) {
    const stats = readStats(at);
    if (stats !== null && !stats.isDirectory()) return `${at} is ${stats.isSymbolicLink() ? "a link" : "not a folder"}`;
    if (stats !== null && (!isOurs(stats) || (stats.mode & 0o022) !== 0)) return describeOthersAccess(at, stats);
  }
  // Anyone who can rename a parent folder could replace it: it must be ours or root's, and not writable by others except with the sticky
  // bit, which lets users rename only their own.
  for (let at = nearestReal(dirname(dirname(folder))); at !== dirname(at); at = dirname(at)) {
    const stats = readStats(at);
    if (stats === null) continue;
    const isOpen = (stats.mode & 0o002) !== 0 && (stats.mode & 0o1000) === 0;
    if (isOpen || !(isOurs(stats) || stats.uid === 0)) return describeOthersAccess(at, stats);
  }
  return null;
}

const isOurs = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();
const describeOthersAccess = (at: string, stats: Stats): string =>
  isOurs(stats) || stats.uid === 0 ? `others may write to ${at}` : `${at} belongs to another user`;

function nearestReal(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      return realpathSync(at);
    } catch {
      if (at === dirname(at)) return at;
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
