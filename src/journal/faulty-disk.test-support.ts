// faulty-disk: makes a disk whose n-th change fails, once or from then on, for fault tests.

import type { Disk } from "./disk.ts";
import { nodeDisk } from "./disk.ts";

export type Fault = {
  /**
   * Which call fails, counted from 1 over all calls of the kinds below, or over the named ones.
   * Closing and unlinking never fail.
   */
  readonly nth: number;
  readonly code: "ENOSPC" | "EDQUOT" | "EIO" | "EROFS";
  readonly lasts: "once" | "for ever";
  readonly only?: readonly Change[];
};

export type Change = "open" | "write" | "fdatasync" | "fsync" | "ftruncate" | "rename" | "mkdir";

export type FaultyDisk = Disk & { readonly calls: Change[]; readonly failed: Change[] };

/**
 * Without a fault it only counts. A failing write takes half of the bytes first, as a nearly full
 * disk does.
 */
export function faultyDisk(fault: Fault | null, base: Disk = nodeDisk): FaultyDisk {
  const calls: Change[] = [];
  const failed: Change[] = [];
  let matchingCalls = 0;

  function errorFor(change: Change): Error | null {
    calls.push(change);
    if (fault === null || fault.only?.includes(change) === false) return null;
    matchingCalls++;
    const isHit = fault.lasts === "once" ? matchingCalls === fault.nth : matchingCalls >= fault.nth;
    if (!isHit) return null;
    failed.push(change);

    return Object.assign(new Error(`${fault.code}: injected into ${change}`), {
      code: fault.code,
      syscall: change,
    });
  }

  function attempt<T>(change: Change, action: () => T): T {
    const error = errorFor(change);
    if (error !== null) throw error;
    return action();
  }

  return {
    calls,
    failed,
    open: (path, flags, mode) => attempt("open", () => base.open(path, flags, mode)),
    close: (fd) => base.close(fd),
    write(fd, bytes, offset, length, position) {
      const error = errorFor("write");
      if (error === null) return base.write(fd, bytes, offset, length, position);
      base.write(fd, bytes, offset, length >> 1, position);
      throw error;
    },
    fdatasync: (fd) => attempt("fdatasync", () => base.fdatasync(fd)),
    fdatasyncLater(fd, done) {
      const error = errorFor("fdatasync");
      if (error === null) base.fdatasyncLater(fd, done);
      else setImmediate(done, error);
    },
    fsync: (fd) => attempt("fsync", () => base.fsync(fd)),
    ftruncate: (fd, bytes) => attempt("ftruncate", () => base.ftruncate(fd, bytes)),
    rename: (from, to) => attempt("rename", () => base.rename(from, to)),
    unlink: (path) => base.unlink(path),
    mkdir: (path, mode) => attempt("mkdir", () => base.mkdir(path, mode)),
  };
}
