// base-lock: a kernel lock on the file `lease` inside a base, a folder of the store that many
// processes use: held shared while the base is used, exclusively to delete it. The kernel releases
// it when the process ends.

import { closeSync, lstatSync, openSync, utimesSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readErrorCode } from "../failure.ts";
import { moveToTrash } from "../folder.ts";

/** Locks an open file; false if another process holds a lock that excludes this one. */
type TryLock = (fd: number, options?: { readonly shared?: boolean }) => boolean;
let tryLockLoading: Promise<TryLock> | null = null;
/** Loaded on first use: not every command needs the native module. */
export const loadTryLock = (): Promise<TryLock> =>
  (tryLockLoading ??= import("fs-native-extensions").then(({ tryLock }) => tryLock));

export type BaseLock = { readonly release: () => void };

/**
 * Keeps a base from being deleted; null if it is gone or being deleted. Also records the time of
 * its last use.
 */
export const lockShared = (path: string): Promise<BaseLock | null> => lock(path, true);
/** Locks a base exclusively, to delete it; null if it is in use. */
export const lockExclusive = (path: string): Promise<BaseLock | null> => lock(path, false);

async function lock(path: string, isShared: boolean): Promise<BaseLock | null> {
  const tryLock = await loadTryLock();
  if (!isLockable(path)) return null;
  let fd: number;

  try {
    fd = openSync(path, "r+");
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return null;
    throw error;
  }

  if (!tryLock(fd, { shared: isShared })) {
    closeSync(fd);
    return null;
  }

  if (isShared) utimesSync(path, new Date(), new Date());
  let isOpen = true;
  return {
    release: () => {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}

/**
 * Moves a finished and locked draft to its place in the store. A base that another process placed
 * first stays; anything else is removed.
 */
export async function placeDraft(draft: string, folder: string, trash: string): Promise<void> {
  try {
    await rename(draft, folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(readErrorCode(error) ?? "")) throw error;
    if (isLockable(join(folder, "lease"))) return; // another process was first
    moveToTrash(folder, trash);
    await rename(draft, folder);
  }
}

/** Whether this is a regular file in a real folder. A base is recognised by such a lease. */
function isLockable(path: string): boolean {
  return (
    isRealFolder(dirname(path)) && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
  );
}

export const isRealFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
