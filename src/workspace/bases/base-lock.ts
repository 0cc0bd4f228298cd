// base-lock: a kernel lock on a file inside a shared base: shared while the base is used, exclusive to delete it. It ends with the process.

import { closeSync, lstatSync, openSync, utimesSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readErrorCode } from "../failure.ts";
import { moveToTrash } from "../folder.ts";

type TryLock = (fd: number, options?: { readonly shared?: boolean }) => boolean;
let loading: Promise<TryLock> | null = null;
export const loadTryLock = (): Promise<TryLock> => (loading ??= import("fs-native-extensions").then(({ tryLock }) => tryLock));

export type BaseLock = { readonly release: () => void };

/** Keeps a base from being deleted; null if it is gone or being deleted. Also records the time of its last use. */
export const lockShared = (path: string): Promise<BaseLock | null> => lock(path, true);
/** Locks a base exclusively, to delete it; null if it is in use. */
export const lockExclusive = (path: string): Promise<BaseLock | null> => lock(path, false);

async function lock(path: string, shared: boolean): Promise<BaseLock | null> {
  const tryLock = await loadTryLock();
  if (!isLockable(path)) return null;
  let fd: number;
  try {
    fd = openSync(path, "r+");
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return null;
    throw error;
  }
  if (!tryLock(fd, { shared })) {
    closeSync(fd);
    return null;
  }
  if (shared) utimesSync(path, new Date(), new Date());
  let isOpen = true;
  return {
    release: () => {
      if (isOpen) closeSync(fd);
      isOpen = false;
    },
  };
}

/** Moves a finished draft, locked, to its place in the store. Another's is left there; whatever else is there is no base, and goes. */
export async function placeDraft(draft: string, folder: string, trash: string): Promise<void> {
  try {
    await rename(draft, folder);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(readErrorCode(error) ?? "")) throw error;
    if (isLockable(join(folder, "lease"))) return; // another was first
    moveToTrash(folder, trash);
    await rename(draft, folder);
  }
}

/** Whether this is a regular file in a real folder: what a base is recognised by. */
function isLockable(path: string): boolean {
  return isRealFolder(dirname(path)) && lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

export const isRealFolder = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
