// fd-walk: reads files in a folder that a hostile process may be changing at the same time, without
// ever leaving it.
//
// Invariants:
//   W1. No link is followed: every folder on the way is opened by its name inside the folder opened
//       before it (through /proc/self/fd), refusing links, so that a folder swapped for a link
//       between two reads cannot lead outside.
//   W2. Only regular files are read; opening never blocks on a pipe or device.
//   W3. Without /proc/self/fd, every parent folder is checked before and after a read and must be
//       the same real folder both times.

import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type BigIntStats,
  type Stats,
} from "node:fs";
import { join } from "node:path";
import {
  bytePathFromBytes,
  bytePathToBytes,
  splitBytePath,
  type BytePath,
  toDiskPath,
} from "../git/byte-path.ts";
import { readErrorCode } from "../failure.ts";

const hasProc = existsSync("/proc/self/fd");
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const chunkBytes = 1 << 20;

/**
 * Thrown if a path was not read; the message says why: it is missing, not what it should be, or
 * unreadable.
 */
export class NotRead extends Error {
  override readonly name = "NotRead";
}

/** A folder held open; names are looked up inside it and nowhere else. */
export type OpenFolder = {
  list(): BytePath[];
  stat(name: BytePath): Stats;
  /** What a link says, as bytes. */
  linkTarget(name: BytePath): Buffer;
  /** Reads a regular file in pieces, and returns its stat data when it was opened. */
  read(name: BytePath, onPiece: (bytes: Buffer) => void, bytesMax: number): Stats;
};

/**
 * Opens the folder at `path` below `root`, passes it to `use`, and closes it. Throws NotRead if it
 * isn't a real folder.
 */
export function withFolder<T>(root: string, path: BytePath, use: (folder: OpenFolder) => T): T {
  return hasProc ? withFolderByFd(root, path, use) : withFolderByPath(root, path, use);
}

function withFolderByFd<T>(root: string, path: BytePath, use: (folder: OpenFolder) => T): T {
  let fd = open(root, folderFlags);
  try {
    for (const part of splitBytePath(path)) {
      const below = open(pathInside(fd, part), folderFlags); // W1
      closeSync(fd);
      fd = below;
    }

    const folderFd = fd;
    return use(openFolderAt((name) => pathInside(folderFd, name)));
  } finally {
    closeSync(fd);
  }
}

function withFolderByPath<T>(root: string, path: BytePath, use: (folder: OpenFolder) => T): T {
  const parts = splitBytePath(path);
  const folders = [root];

  for (const part of parts) {
    folders.push(join(folders.at(-1) ?? root, bytePathToBytes(part).toString("utf8")));
  }

  const readIdentities = (): string => folders.map((folder) => readIdentity(folder)).join(" "); // W3
  const identities = readIdentities();
  const result = use(openFolderAt((name) => toDiskPath(folders.at(-1) ?? root, name)));

  if (readIdentities() !== identities) {
    throw new NotRead("a folder on the way was changed meanwhile");
  }

  return result;
}

function readIdentity(folder: string): string {
  let stat: BigIntStats;
  try {
    stat = lstatSync(folder, { bigint: true });
  } catch (error) {
    throw new NotRead(readErrorCode(error) ?? "unreadable");
  }

  if (!stat.isDirectory()) throw new NotRead("not a folder");
  return `${stat.dev}:${stat.ino}`;
}

const pathInside = (fd: number, name: BytePath): Buffer =>
  Buffer.concat([Buffer.from(`/proc/self/fd/${fd}/`), bytePathToBytes(name)]);

/** A system error of `read` becomes a NotRead. */
function orNotRead<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const code = readErrorCode(error);
    if (code === null) throw error;
    throw new NotRead(code);
  }
}

/** `toPath`: where a name of the folder is. */
function openFolderAt(toPath: (name: BytePath) => Buffer): OpenFolder {
  return {
    list: () =>
      orNotRead(() =>
        readdirSync(toPath("." as BytePath), { encoding: "buffer" }).map((name) =>
          bytePathFromBytes(name),
        ),
      ),
    stat: (name) => orNotRead(() => lstatSync(toPath(name))),
    linkTarget: (name) => orNotRead(() => readlinkSync(toPath(name), { encoding: "buffer" })),
    read: (name, onPiece, bytesMax) => {
      const fd = open(toPath(name), fileFlags);
      try {
        const stat = fstatSync(fd);
        if (!stat.isFile()) throw new NotRead("not a regular file"); // W2
        if (stat.size > bytesMax) throw new NotRead("larger than the limit");
        const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, stat.size + 1)); // one byte more shows that a file grew
        let total = 0;

        for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer)) {
          total += count;
          if (total > stat.size) throw new NotRead("grew while it was read");
          onPiece(buffer.subarray(0, count));
        }

        if (total !== stat.size) throw new NotRead("shrank while it was read");
        return stat;
      } finally {
        closeSync(fd);
      }
    },
  };
}

function open(path: string | Buffer, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    throw new NotRead(readErrorCode(error) ?? "unreadable");
  }
}
