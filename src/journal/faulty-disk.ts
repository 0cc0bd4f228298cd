// faulty-disk: a disk whose n-th change fails, once or from then on, for fault tests.

import type { Disk } from "./disk.ts";
import { nodeDisk } from "./disk.ts";

export type Fault = {
  /** Which call fails, counted from 1 over all calls that change the disk, or over the named ones. */
  readonly nth: number;
  readonly code: "ENOSPC" | "EDQUOT" | "EIO" | "EROFS";
  readonly lasts: "once" | "for ever";
  readonly only?: readonly Change[];
};

export type Change = "open" | "write" | "fdatasync" | "fsync" | "ftruncate" | "rename" | "mkdir";

export type FaultyDisk = Disk & { readonly calls: Change[]; readonly failed: Change[] };

/** Without a fault it only counts. A failing write takes half of the bytes first, as a nearly full disk does. */
export function faultyDisk(fault: Fault | null, under: Disk = nodeDisk): FaultyDisk {
  const calls: Change[] = [];
  const failedChanges: Change[] = [];
  let counted = 0;

  function errorFor(change: Change): Error | null {
    calls.push(change);
    if (fault === null || fault.only?.includes(change) === false) return null;
    counted++;
    const isHit = fault.lasts === "once" ? counted === fault.nth : counted >= fault.nth;
    if (!isHit) return null;
    failedChanges.push(change);
    return Object.assign(new Error(`${fault.code}: injected into ${change}`), { code: fault.code, syscall: change });
  }

  function tried<T>(change: Change, action: () => T): T {
    const error = errorFor(change);
    if (error !== null) throw error;
    return action();
  }

  return {
    calls,
    failed: failedChanges,
    open: (path, flags, mode) => tried("open", () => under.open(path, flags, mode)),
    close: (fd) => under.close(fd),
    write(fd, bytes, offset, length, position) {
      const error = errorFor("write");
      if (error === null) return under.write(fd, bytes, offset, length, position);
      under.write(fd, bytes, offset, length >> 1, position);
      throw error;
    },
    fdatasync: (fd) => tried("fdatasync", () => under.fdatasync(fd)),
    fdatasyncLater(fd, done) {
      const error = errorFor("fdatasync");
      if (error === null) under.fdatasyncLater(fd, done);
      else setImmediate(done, error);
    },
    fsync: (fd) => tried("fsync", () => under.fsync(fd)),
    ftruncate: (fd, bytes) => tried("ftruncate", () => under.ftruncate(fd, bytes)),
    rename: (from, to) => tried("rename", () => under.rename(from, to)),
    unlink: (path) => under.unlink(path),
    mkdir: (path, mode) => tried("mkdir", () => under.mkdir(path, mode)),
  };
}
