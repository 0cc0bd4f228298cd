// base-lock: a kernel lock on a file inside a shared base: shared while the base is used, exclusive to delete it. It ends with the process.

import { closeSync, openSync, utimesSync } from "node:fs";
import { errorErrno } from "../failure.ts";

type TryLock = (fd: number, options?: { readonly shared?: boolean }) => boolean;
let loading: Promise<TryLock> | null = null;
const loadTryLock = (): Promise<TryLock> => (loading ??= import("fs-native-extensions").then(({ tryLock }) => tryLock));

export type BaseLock = { readonly release: () => void };

/** Keeps a base from being deleted; null if it is gone or being deleted. Also records the time of its last use. */
export const lockShared = (path: string): Promise<BaseLock | null> => lock(path, true);
/** Locks a base exclusively, to delete it; null if it is in use. */
export const lockExclusive = (path: string): Promise<BaseLock | null> => lock(path, false);

async function lock(path: string, shared: boolean): Promise<BaseLock | null> {
  const tryLock = await loadTryLock();
  let fd: number;
  try {
    fd = openSync(path, "r+");
  } catch (error) {
    if (errorErrno(error) === "ENOENT") return null;
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
