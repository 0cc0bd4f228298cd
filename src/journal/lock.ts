// lock: lets one owner at a time have a run (J3 of journal.ts), by a kernel lock, which ends with
// its process however that dies.

import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Disk } from "./disk.ts";
import { keepFlags, writeAll } from "./disk.ts";
import { toJournalFailure, JournalFailure } from "./journal-failure.ts";
import { openFile } from "./open-file.ts";
import type { Owner } from "./owner.ts";
import { isAlive, lockFile, describeThisProcess, readOwner } from "./owner.ts";

export type Lock = { release(): void };

/**
 * How often a refused process looks whether the owner has written its pid, and how long it waits
 * between.
 */
const ownerTriesMax = 20;
const ownerWaitMs = 5;

/**
 * Takes the lock, or fails with `run_locked` and the owner's pid. Shared, it excludes only
 * exclusive holders.
 */
export async function takeLock(disk: Disk, dir: string, { shared = false } = {}): Promise<Lock> {
  const tryLock = await loadTryLock();
  const fd = openFile(disk, join(dir, lockFile), keepFlags);

  try {
    if (!tryLock(fd, { shared })) {
      const owner = await waitForOwner(dir);
      throw new JournalFailure({
        kind: "run_locked",
        pid: owner?.pid ?? null,
        host: owner?.host ?? null,
      });
    }

    replaceContent(disk, fd, `${JSON.stringify(describeThisProcess())}\n`);
  } catch (error) {
    // Closing releases the lock too, if it was ours.
    disk.close(fd);
    throw toJournalFailure(error, "taking the lock");
  }

  return { release: () => release(disk, fd) };
}

/** Loaded only by owners: readers need neither the addon nor its load time. */
export async function loadTryLock(): Promise<
  (fd: number, options?: { readonly shared?: boolean }) => boolean
> {
  try {
    return (await import("fs-native-extensions")).tryLock;
  } catch (error) {
    throw new JournalFailure(
      {
        kind: "journal_unwritable",
        detail: `no file locks on ${process.platform}-${process.arch}`,
      },
      error,
    );
  }
}

async function waitForOwner(dir: string): Promise<Owner | null> {
  for (let tries = 0; tries < ownerTriesMax; tries++) {
    const owner = readOwner(dir);
    if (owner !== null && (owner.host !== describeThisProcess().host || isAlive(owner))) {
      return owner;
    }

    await pause(ownerWaitMs);
  }

  return null;
}

function replaceContent(disk: Disk, fd: number, text: string): void {
  const bytes = Buffer.from(text);
  disk.ftruncate(fd, 0);
  writeAll(disk, fd, bytes, bytes.length, 0);
}

function release(disk: Disk, fd: number): void {
  try {
    disk.ftruncate(fd, 0);
  } catch {
    // A stale pid is harmless: readers see that its process is gone, and owners ask the kernel.
  }

  disk.close(fd);
}
