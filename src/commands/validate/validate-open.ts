// validate-open: opens an untrusted file for reading only.
//
// Invariants:
//   O1. No link leads out of the given folder.
//   O2. Only regular files are opened; opening never waits for the other end of a pipe.

import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, type Stats, statSync } from "node:fs";
import { dirname, isAbsolute, relative } from "node:path";
import { errorCode } from "../../journal/failure.ts";

/** Why a file is not read: `format` is what was found instead, `message` completes the sentence "the path …". */
export type Unread = { readonly format: "missing" | "folder" | "unknown"; readonly rule: string; readonly message: string };

/** Opens it, passes it on and closes it; returns why if it cannot be read. `within` is the folder that nothing leads out of. */
export async function withOpened<Value>(
  path: string,
  within: string,
  use: (fd: number, stats: Stats) => Promise<Value> | Value,
): Promise<Value | Unread> {
  const opened = opening(path, within);
  if (typeof opened !== "number") return opened;
  try {
    const stats = fstatSync(opened);
    if (!stats.isFile()) return notAFile(stats); // O2
    return await use(opened, stats);
  } finally {
    closeSync(opened);
  }
}

function opening(path: string, within: string): number | Unread {
  try {
    const atPath = lstatSync(path);
    const real = realpathSync(path);
    if (isOutside(realpathSync(within), real)) return outside(path, real, atPath); // O1
    const stats = lstatSync(real);
    if (!stats.isFile()) return notAFile(stats);
    return openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return unreadFor(errorCode(error), path);
  }
}

const isOutside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === ".." || way.startsWith("../") || isAbsolute(way);
};

function outside(path: string, real: string, atPath: Stats): Unread {
  const relation = atPath.isSymbolicLink() ? "is a link to" : `is reached through a link, and lies at`;
  return {
    format: "unknown",
    rule: "link",
    message: `${relation} ${real}, which is outside of ${dirname(path)}; links that lead out are not followed, so name that file itself`,
  };
}

function notAFile(stats: Stats): Unread {
  if (stats.isDirectory()) return { format: "folder", rule: "file", message: "is a folder, expected a file" };
  const notRegular = (kind: string): Unread => ({ format: "unknown", rule: "file", message: `is ${kind}, expected a regular file` });
  if (stats.isFIFO()) return notRegular("a named pipe");
  return notRegular(stats.isSocket() ? "a socket" : "a device");
}

function unreadFor(code: string | null, path: string): Unread {
  if (code === "ENOENT" || code === "ENOTDIR") {
    if (isLink(path)) return { format: "missing", rule: "link", message: "is a link to nothing" };
    return { format: "missing", rule: "exists", message: "there is no such file" };
  }
  if (code === "ELOOP") return { format: "unknown", rule: "link", message: "is a link that leads nowhere" };
  if (code === "EACCES" || code === "EPERM") return { format: "unknown", rule: "file", message: "may not be read by this user" };
  if (code === "ENXIO") return { format: "unknown", rule: "file", message: "is a socket, expected a regular file" };
  return { format: "unknown", rule: "file", message: `cannot be read (${code ?? "unknown error"})` };
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Whether there is a folder, links followed. */
export function isFolderAt(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // opening it reports the reason
  }
}

export const isUnread = (value: object): value is Unread => "format" in value && "rule" in value && "message" in value;

/** The first bytes of a file, or all of them; at most so many. */
export function bytesOf(fd: number, bytesMax: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Math.min(bytesMax, fstatSync(fd).size));
  let size = 0;
  for (let read = -1; read !== 0 && size < bytes.length; size += read) read = readSync(fd, bytes, size, bytes.length - size, size);
  return bytes.subarray(0, size);
}
