// owner: reads who holds a run from its lock file, without touching the lock: for readers, which
// must start fast and never disturb.

import { closeSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { nodeDisk, readFlags } from "./disk.ts";
import { openFile } from "./open-file.ts";

export const lockFile = "journal.lock";

/**
 * `started` distinguishes a process from a later one with the same pid; null if the system does not
 * say.
 */
export type Owner = {
  readonly pid: number;
  readonly host: string;
  readonly started: string | null;
};

/** This process, as the owner of a run. */
export function describeThisProcess(): Owner {
  return {
    pid: process.pid,
    host: hostname(),
    started: readProcessStart(process.pid)?.started ?? null,
  };
}

/**
 * The living owner of a run, or null. An owner on another host cannot be checked, and counts as
 * living.
 */
export function findOwner(dir: string): { readonly pid: number; readonly host: string } | null {
  const owner = readOwner(dir);
  if (owner === null) return null;
  if (owner.host === hostname() && !isAlive(owner)) return null;

  return { pid: owner.pid, host: owner.host };
}

/**
 * The owner that the lock file names, alive or not; null if there is none or the file makes no
 * sense.
 */
export function readOwner(dir: string): Owner | null {
  try {
    const fd = openFile(nodeDisk, join(dir, lockFile), readFlags);
    try {
      const value = JSON.parse(readFileSync(fd, "utf8")) as Partial<Owner>;
      if (
        !Number.isSafeInteger(value.pid) ||
        typeof value.host !== "string" ||
        (value.pid ?? 0) <= 0
      ) {
        return null;
      }

      return {
        pid: value.pid ?? 0,
        host: value.host,
        started: typeof value.started === "string" ? value.started : null,
      };
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

/** Whether an owner on this host still runs. */
export function isAlive(owner: Owner): boolean {
  if (process.platform === "linux") {
    const start = readProcessStart(owner.pid);
    return (
      start !== null && !start.isDead && (owner.started === null || owner.started === start.started)
    );
  }

  try {
    process.kill(owner.pid, 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it is alive.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Of /proc/<pid>/stat, counted from the state, which comes first after the command's name: the
 * start time.
 */
const startTimeField = 19;

/**
 * When a process started, in kernel ticks since boot and with the boot id, so that no reboot can
 * fake a match; null if it is gone, or if this isn't Linux.
 */
function readProcessStart(
  pid: number,
): { readonly started: string; readonly isDead: boolean } | null {
  if (process.platform !== "linux") return null;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command's name is in parentheses and may hold anything, so the fields are counted from
    // the last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const start = fields[startTimeField] ?? "";
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();

    return { started: `${start}@${boot}`, isDead: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return null;
  }
}
