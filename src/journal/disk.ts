// disk: puts every call by which the journal changes the disk behind one small interface, so that a
// test can make the n-th of them fail.

import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

export interface Disk {
  open(path: string, flags: number, mode: number): number;
  close(fd: number): void;
  /** May write less than asked for, as the kernel may. A null position appends. */
  write(
    fd: number,
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number | null,
  ): number;
  fdatasync(fd: number): void;
  /** The same off the main thread. */
  fdatasyncLater(fd: number, onDone: (error: Error | null) => void): void;
  fsync(fd: number): void;
  ftruncate(fd: number, bytes: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  /** Creates the folder and its missing parents; returns whether anything was created. */
  mkdir(path: string, mode: number): boolean;
}

export const nodeDisk: Disk = {
  open: openSync,
  close: closeSync,
  write: writeSync,
  fdatasync: fdatasyncSync,
  fdatasyncLater: fdatasync,
  fsync: fsyncSync,
  ftruncate: ftruncateSync,
  rename: renameSync,
  unlink: unlinkSync,
  mkdir: (path, mode) => mkdirSync(path, { recursive: true, mode }) !== undefined,
};

export const fileMode = 0o600;
export const folderMode = 0o700;

/** Never through a symbolic link, and never blocking on a pipe at the file's path. */
const safeFlags = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
export const readFlags = constants.O_RDONLY | safeFlags;
export const appendFlags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | safeFlags;
/** Created if it is missing; what it has is kept, and written over only where a write says so. */
export const keepFlags = constants.O_RDWR | constants.O_CREAT | safeFlags;
/** For an existing file: only a process that could write to it may lock it. */
export const editFlags = constants.O_RDWR | safeFlags;
const replaceFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | safeFlags;

/** Writes all of it: a nearly full disk takes a part first and refuses only the next call. */
export function writeAll(
  disk: Disk,
  fd: number,
  bytes: Uint8Array,
  length: number,
  position: number | null,
): void {
  let writtenBytes = 0;
  while (writtenBytes < length) {
    const written = disk.write(
      fd,
      bytes,
      writtenBytes,
      length - writtenBytes,
      position === null ? null : position + writtenBytes,
    );
    if (written <= 0) {
      throw Object.assign(new Error("the disk took nothing"), { code: "EIO", syscall: "write" });
    }

    writtenBytes += written;
  }
}

/** Replaces a whole file such that after any crash either the old one or the new one is there. */
export function replaceFile(disk: Disk, path: string, temporary: string, bytes: Uint8Array): void {
  const fd = disk.open(temporary, replaceFlags, fileMode);
  try {
    try {
      writeAll(disk, fd, bytes, bytes.length, 0);
      disk.fsync(fd);
    } finally {
      disk.close(fd);
    }

    disk.rename(temporary, path);
  } catch (error) {
    unlinkQuietly(disk, temporary);
    throw error;
  }

  syncFolder(disk, dirname(path));
}

/** Makes the names in a folder durable: new, renamed and removed ones. */
export function syncFolder(disk: Disk, path: string): void {
  // Windows has no folder handle to sync; its file system journals names itself.
  if (process.platform === "win32") return;
  const fd = disk.open(path, constants.O_RDONLY, 0);

  try {
    disk.fsync(fd);
  } finally {
    disk.close(fd);
  }
}

/**
 * Creates a folder whose name survives a power cut. Missing parents are created too, but only the
 * last name is made durable.
 */
export function makeFolder(disk: Disk, path: string): void {
  if (disk.mkdir(path, folderMode)) syncFolder(disk, join(path, ".."));
}

/** For cleanup after a failure, where a second failure must not hide the first. */
export function unlinkQuietly(disk: Disk, path: string): void {
  try {
    disk.unlink(path);
  } catch {
    // The first failure is the one to report.
  }
}
