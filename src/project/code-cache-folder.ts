// code-cache-folder: where compiled code is cached, and whether it may be loaded: anyone who can write it, or replace the folder, runs code
// as this user.

import { lstatSync, realpathSync, type Stats } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** Null if the user has switched it off. */
export function codeCacheFolder(env: Env): string | null {
  const wanted = env["AUTOPILOT_CODE_CACHE"] ?? "";
  if (wanted === "off") return null;
  if (wanted.startsWith("/")) return wanted;
  const given = env["XDG_CACHE_HOME"];
  const cache = given !== undefined && given.startsWith("/") ? given : join(env["HOME"] || homedir(), ".cache");
  return join(cache, "autopilot", "code");
}

/** Why nothing is loaded from a folder, as the end of a sentence; null if it may be. A folder that does not exist yet is fine. */
export function whyNoCache(folder: string): string | null {
  if (!folder.startsWith("/")) return `${folder} isn't an absolute path`;
  for (let at = folder; ; at = dirname(at)) {
    if (lookAt(join(at, ".git")) !== null) return `it would lie in the repository ${at}, and may have come with it`;
    if (at === dirname(at)) break;
  }
  for (const at of [dirname(folder), folder]) {
    const found = lookAt(at);
    if (found !== null && !found.isDirectory()) return `${at} is ${found.isSymbolicLink() ? "a link" : "not a folder"}`;
    if (found !== null && (!isOurs(found) || (found.mode & 0o022) !== 0)) return notAlone(at, found);
  }
  // Anyone who can rename a parent folder could replace it: it must be ours or root's, and not writable by others except with the sticky
  // bit, which lets users rename only their own.
  for (let at = nearestReal(dirname(dirname(folder))); at !== dirname(at); at = dirname(at)) {
    const found = lookAt(at);
    if (found === null) continue;
    const isOpen = (found.mode & 0o002) !== 0 && (found.mode & 0o1000) === 0;
    if (isOpen || !(isOurs(found) || found.uid === 0)) return notAlone(at, found);
  }
  return null;
}

const isOurs = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();
const notAlone = (at: string, stats: Stats): string =>
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

const lookAt = (path: string): Stats | null => {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
};
