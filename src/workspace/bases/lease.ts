// lease: who uses something shared, as a lock of the kernel on a file in it. It ends with the process, however that ends.

import { closeSync, openSync, utimesSync } from "node:fs";
import { errnoOf } from "../failure.ts";

type TryLock = (fd: number, options?: { readonly shared?: boolean }) => boolean;
let loading: Promise<TryLock> | null = null;
const loadTryLock = (): Promise<TryLock> => (loading ??= import("fs-native-extensions").then(({ tryLock }) => tryLock));

export type Lease = { readonly release: () => void };

/** Shares the thing whose lease file this is; null where it is being taken away or is gone. Its last use is now. */
export const shareLease = (path: string): Promise<Lease | null> => lease(path, true);
/** Has the thing alone, to take it away; null where anybody uses it. */
export const aloneLease = (path: string): Promise<Lease | null> => lease(path, false);

async function lease(path: string, shared: boolean): Promise<Lease | null> {
  const tryLock = await loadTryLock();
  let fd: number;
  try {
    fd = openSync(path, "r+");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return null;
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
