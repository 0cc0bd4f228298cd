// own-file: the door by which files of ours are read outside the journal. What is in a repository may have been put there by anybody: a
// pipe in a file's place must not hang a command, a device must not fill the memory, a link must not lead elsewhere.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** A file's beginning is read into memory up to here, unless a caller says less. */
const bytesMaxDefault = 64 << 20;
const noFollow = constants.O_NOFOLLOW ?? 0;
const noWait = constants.O_NONBLOCK ?? 0;

/** Opens a regular file without waiting, hands it over, and closes it; null if there is none, or something else is there. */
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
