// watch-resources: polls the resource usage of a turn's processes, and reports once when it is too
// much. It backs up the kernel's limits, and replaces them where there are none.
//
// Invariants:
//   W1. It reports one sentence, once, and then stops.
//   W2. Polling takes at most a small part of the time, for all turns of this process together: a
//       large folder is polled less often, and so are many processes.
//   W3. Only growth counts: what the first scan of the folders finds was there before the turn.

import { readFileSync } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import type { EnvironmentFilter } from "./process-mark.ts";
import { beginMoment, openProcessTracker } from "./process-tracker.ts";

export type ResourceBounds = {
  readonly processesMax: number;
  readonly memoryBytesMax: number;
  readonly diskBytesMax: number;
};

export type WatchInput = {
  readonly isMarked: EnvironmentFilter;
  /** The turn's first process; its descendants count even without the mark. */
  readonly rootPid: number;
  /** Where it may write. */
  readonly folders: readonly string[];
  readonly bounds: ResourceBounds;
  readonly intervalMs?: number;
  readonly onExceeded: (sentence: string) => void;
};

const intervalMsDefault = 500;
/**
 * Polling the disk takes at most one part in this many of the time, and so does polling the
 * processes.
 */
const timeShare = 20;
/**
 * The fastest disk. At this speed the remaining bytes of the limit last for some time; the next
 * poll can wait half of it.
 */
const diskBytesPerMsMax = 4 * 1024 ** 2;
/** What is beyond is not counted. */
const entriesMax = 2_000_000;
/** The unit of `blocks` in POSIX. */
const blockBytes = 512;
const psTimeoutMs = 1_000;

/** Polls until it has reported, or is stopped. */
export function watchResources(watched: WatchInput): { readonly stop: () => void } {
  const { isMarked, rootPid, folders, bounds, intervalMs = intervalMsDefault } = watched;
  const tracker = openProcessTracker(isMarked, rootPid);
  const poll = openPoll(intervalMs);
  const disk = openDiskScan(folders, poll);
  let isOver = false;

  const report = (sentence: string): void => {
    if (isOver) return;
    isOver = true; // W1
    leavePoll();
    watched.onExceeded(sentence);
  };

  const checkDisk = async (): Promise<void> => {
    const grownBytes = await disk.scan(bounds.diskBytesMax, () => isOver);
    if (grownBytes !== null && grownBytes > bounds.diskBytesMax) {
      report(
        `It wrote ${formatMebibytes(grownBytes)} to disk; ${formatMebibytes(bounds.diskBytesMax)} are allowed.`,
      );
    }
  };

  const check = (): void => {
    const pids = tracker.scan();
    if (pids.length > bounds.processesMax) {
      return report(`It has ${pids.length} processes; ${bounds.processesMax} are allowed.`);
    }

    const memory = readMemory(pids);
    if (memory > bounds.memoryBytesMax) {
      return report(
        `Its processes hold ${formatMebibytes(memory)} of memory; ${formatMebibytes(bounds.memoryBytesMax)} are allowed.`,
      );
    }

    void checkDisk();
  };

  const leavePoll = joinPoll(poll, check);
  void checkDisk();

  return {
    stop: () => {
      isOver = true;
      leavePoll();
    },
  };
}

type DiskScan = {
  /** How much the folders have grown; null if it is too early for another scan. */
  readonly scan: (bytesMax: number, isOver: () => boolean) => Promise<number | null>;
};

function openDiskScan(folders: readonly string[], poll: Poll): DiskScan {
  let isScanning = false;
  let nextScanMs = 0;
  let bytesAtStart: number | null = null;

  return {
    scan: async (bytesMax, isOver) => {
      if (isScanning || performance.now() < nextScanMs) return null;
      isScanning = true;
      const began = performance.now();
      const bytes = await readDiskBytes(folders, isOver);
      bytesAtStart ??= bytes; // W3
      const grownBytes = bytes - bytesAtStart;
      const limitLastsMs = (bytesMax - grownBytes) / diskBytesPerMsMax;
      nextScanMs =
        performance.now() +
        Math.max((performance.now() - began) * timeShare * poll.checks.size, limitLastsMs / 2); // W2

      isScanning = false;
      return grownBytes;
    },
  };
}

type Poll = {
  readonly intervalMs: number;
  readonly checks: Set<() => void>;
  timer: NodeJS.Timeout | null;
  nextAtMs: number;
};
const polls = new Map<number, Poll>();

function openPoll(intervalMs: number): Poll {
  const sharedPoll = polls.get(intervalMs) ?? {
    intervalMs,
    checks: new Set(),
    timer: null,
    nextAtMs: 0,
  };
  polls.set(intervalMs, sharedPoll);
  return sharedPoll;
}

/** Joins the polls of all turns; returns the function that leaves. */
function joinPoll(sharedPoll: Poll, pollCheck: () => void): () => void {
  const checkAll = (): void => {
    const began = performance.now();
    if (began < sharedPoll.nextAtMs) return;
    beginMoment();
    for (const item of sharedPoll.checks) item();
    sharedPoll.nextAtMs = performance.now() + (performance.now() - began) * timeShare; // W2
  };

  sharedPoll.checks.add(pollCheck);
  sharedPoll.timer ??= setInterval(checkAll, sharedPoll.intervalMs).unref();
  return () => {
    sharedPoll.checks.delete(pollCheck);
    if (sharedPoll.checks.size > 0 || sharedPoll.timer === null) return;
    clearInterval(sharedPoll.timer);
    sharedPoll.timer = null;
  };
}

const mebibyte = 1024 ** 2;
const formatMebibytes = (bytes: number): string => `${Math.round(bytes / mebibyte)} MiB`;

/**
 * Memory of its own and shared memory on Linux; elsewhere all that is resident, pages of shared
 * programs included.
 */
function readMemory(pids: readonly number[]): number {
  if (process.platform !== "linux") return readMemoryByPs(pids);
  return pids.reduce((sum, pid) => sum + countOwnBytes(readText(`/proc/${pid}/status`)), 0);
}

/** By the text of /proc/PID/status: memory of its own, and shared memory. */
export function countOwnBytes(status: string): number {
  const kilobytes = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  return (kilobytes("RssAnon") + kilobytes("RssShmem")) * 1024;
}

function readMemoryByPs(pids: readonly number[]): number {
  if (pids.length === 0) return 0;
  const answer = spawnSync("ps", ["-o", "rss=", "-p", pids.join(",")], {
    encoding: "utf8",
    timeout: psTimeoutMs,
  });
  return (answer.stdout ?? "")
    .split("\n")
    .reduce((sum, line) => sum + Number(line.trim() || 0) * 1024, 0);
}

/** The files' disk usage, without following links; a file that vanishes meanwhile counts 0. */
async function readDiskBytes(folders: readonly string[], isOver: () => boolean): Promise<number> {
  let bytes = 0;
  let entries = 0;
  const stack = [...folders];
  for (
    let folder = stack.pop();
    folder !== undefined && entries < entriesMax && !isOver();
    folder = stack.pop()
  ) {
    const opened = await opendir(folder).catch(() => null);
    if (opened === null) continue;
    try {
      for await (const entry of opened) {
        entries += 1;
        const path = join(folder, entry.name);
        if (entry.isDirectory()) stack.push(path);
        else bytes += ((await lstat(path).catch(() => null))?.blocks ?? 0) * blockBytes;
      }
    } catch {
      continue; // The folder went away while it was read.
    }
  }

  return bytes;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
