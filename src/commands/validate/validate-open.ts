// validate-open: opens an untrusted file for reading only.
//
// Invariants:
//   O1. No link leads out of the given folder.
//   O2. Only regular files are opened; opening never waits for the other end of a pipe.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { isAbsolute, relative } from "node:path";
import { errorCode } from "../../journal/journal-failure.ts";

/**
 * Why a file is not read: `format` is what was found instead, `message` completes the sentence "the
 * path …".
 */
export type Unread = {
  readonly format: "missing" | "folder" | "unknown";
  readonly rule: string;
  readonly message: string;
};

/**
 * Opens a file for `use` and closes it; returns why if it cannot be read. No link is followed out
 * of the folder `within`.
 */
export async function withOpened<Value>(
  path: string,
  within: string,
  use: (fd: number, stats: Stats) => Promise<Value> | Value,
): Promise<Value | Unread> {
  const opened = openFile(path, within);
  if (typeof opened !== "number") return opened;
  try {
    const stats = fstatSync(opened);
    if (!stats.isFile()) return describeNotAFile(stats); // O2
    return await use(opened, stats);
  } finally {
    closeSync(opened);
  }
}

function openFile(path: string, within: string): number | Unread {
  try {
    const linkStats = lstatSync(path);
    const real = realpathSync(path);
    if (isOutside(realpathSync(within), real)) return describeOutside(within, real, linkStats); // O1
    const stats = lstatSync(real);
    if (!stats.isFile()) return describeNotAFile(stats);

    return openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return describeOpenError(errorCode(error), path);
  }
}

const isOutside = (folder: string, path: string): boolean => {
  const relativePath = relative(folder, path);
  return relativePath === ".." || relativePath.startsWith("../") || isAbsolute(relativePath);
};

function describeOutside(within: string, real: string, linkStats: Stats): Unread {
  const relation = linkStats.isSymbolicLink()
    ? "is a link to"
    : `is reached through a link, and lies at`;

  return {
    format: "unknown",
    rule: "link",
    message: `${relation} ${real}, which is outside of ${within}; links that lead out are not followed, so name that file itself`,
  };
}

function describeNotAFile(stats: Stats): Unread {
  if (stats.isDirectory()) {
    return { format: "folder", rule: "file", message: "is a folder, expected a file" };
  }

  const notRegular = (kind: string): Unread => ({
    format: "unknown",
    rule: "file",
    message: `is ${kind}, expected a regular file`,
  });
  if (stats.isFIFO()) return notRegular("a named pipe");
  return notRegular(stats.isSocket() ? "a socket" : "a device");
}

function describeOpenError(code: string | null, path: string): Unread {
  if (code === "ENOENT" || code === "ENOTDIR") {
    if (isLink(path)) return { format: "missing", rule: "link", message: "is a link to nothing" };
    return { format: "missing", rule: "exists", message: "there is no such file" };
  }

  if (code === "ELOOP") {
    return { format: "unknown", rule: "link", message: "is a link that leads nowhere" };
  }

  if (code === "EACCES" || code === "EPERM") {
    return { format: "unknown", rule: "file", message: "may not be read by this user" };
  }

  if (code === "ENXIO") {
    return { format: "unknown", rule: "file", message: "is a socket, expected a regular file" };
  }

  return {
    format: "unknown",
    rule: "file",
    message: `cannot be read (${code ?? "unknown error"})`,
  };
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

export const isUnread = (value: object): value is Unread =>
  "format" in value && "rule" in value && "message" in value;

/** The file's bytes from its beginning, at most `bytesMax` of them. */
export function readBytes(fd: number, bytesMax: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Math.min(bytesMax, fstatSync(fd).size));
  let size = 0;
  for (let read = -1; read !== 0 && size < bytes.length; size += read) {
    read = readSync(fd, bytes, size, bytes.length - size, size);
  }

  return bytes.subarray(0, size);
}
