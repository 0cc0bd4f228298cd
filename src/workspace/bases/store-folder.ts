// store-folder: the user's private cache folder for what many runs share: bases and history.
//
// Invariants:
//   S1. Nothing is used from a folder that another user owns, that others may write to, or that is
//       a link: a writer there could change what is judged.

import { chmodSync, lstatSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { readErrorCode, WorkspaceFailed } from "../failure.ts";

export const storeBytesMax = 20 * 1024 ** 3;

/** The folder by the usual rules for caches. */
export function findStoreFolder(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string {
  const configured = env["XDG_CACHE_HOME"];
  const cache =
    configured !== undefined && configured.startsWith("/")
      ? configured
      : join(env["HOME"] || homedir(), ".cache");
  return join(cache, "autopilot");
}

/** Creates the folder and those below it, or refuses one that is not private to the user. S1 */
export function openStoreFolder(folder: string, names: readonly string[]): void {
  try {
    mkdirSync(dirname(folder), { recursive: true });
    for (const path of [folder, ...names.map((name) => join(folder, name))]) {
      const isNew = lstatSync(path, { throwIfNoEntry: false }) === undefined;
      if (isNew) mkdirSync(path, { recursive: true, mode: 0o700 });
      requirePrivate(path);
      if (isNew) chmodSync(path, 0o700);
    }
  } catch (error) {
    if (error instanceof WorkspaceFailed) throw error;
    const code = readErrorCode(error);
    if (code === null) throw error;
    const reason = code === "ENOSPC" || code === "EDQUOT" ? "disk_full" : "workspace_unusable";
    throw new WorkspaceFailed(
      reason,
      `The cache folder ${folder} could not be opened (${code}).`,
      "set XDG_CACHE_HOME to a folder of yours",
    );
  }
}

/** Whether no other user owns it or may write to it; true for a path that does not exist. */
export function isPrivate(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat === undefined || (isOwn(stat.uid) && (stat.mode & 0o022) === 0);
}

const isOwn = (uid: number): boolean => process.getuid === undefined || process.getuid() === uid;

function requirePrivate(path: string): void {
  const flaw = findFlaw(path);
  if (flaw === null) return;
  throw new WorkspaceFailed(
    "workspace_unusable",
    `The cache folder ${path} ${flaw.problem}. What is kept there decides what checks see, so it isn't used.`,
    flaw.hint,
  );
}

/** Why a path can't be trusted as a private folder, and what to do about it. */
function findFlaw(path: string): { readonly problem: string; readonly hint: string } | null {
  const stat = lstatSync(path);
  const orElsewhere = "or set XDG_CACHE_HOME to a folder of yours";
  if (!stat.isDirectory()) return { problem: "is not a folder", hint: `remove it, ${orElsewhere}` };
  if (!isOwn(stat.uid)) {
    return {
      problem: "belongs to another user",
      hint: `have it removed (as root or by that user), ${orElsewhere}`,
    };
  }

  if ((stat.mode & 0o022) !== 0) {
    return { problem: "can be written by others", hint: `remove it, or run chmod go-w ${path}` };
  }

  return null;
}
