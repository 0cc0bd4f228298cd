// own-file: reads our files outside the journal safely. A repository's contents are untrusted: a
// pipe at a file's path must not hang a command, a device must not fill the memory, a link must not
// lead elsewhere.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** The most that is read into memory, unless a caller asks for less. */
const bytesMaxDefault = 64 << 20;
const noFollow = constants.O_NOFOLLOW ?? 0;
const noWait = constants.O_NONBLOCK ?? 0;

/**
 * Opens a regular file without blocking, passes it on, and closes it; null if there is none, or
 * something else is there.
 */
export function withOwnFile<T>(path: string, use: (fd: number, size: number) => T): T | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | noFollow | noWait);
  } catch {
    return null;
  }

  try {
    const stat = fstatSync(fd);
    return stat.isFile() ? use(fd, stat.size) : null;
  } finally {
    closeSync(fd);
  }
}

/** A regular file's text; null if there is none, or it is larger. */
export const readOwnFile = (path: string, bytesMax = bytesMaxDefault): string | null =>
  withOwnFile(path, (fd, size) => (size > bytesMax ? null : readFileSync(fd, "utf8")));
