// watch-resources: polls the resource usage of a turn's processes, and reports once when it is too much. It backs up the kernel's limits,
// and replaces them where there are none.
//
// Invariants:
//   W1. It reports one sentence, once, and then stops.
//   W2. Polling takes at most a small part of the time, for all turns of this process together: a large folder is polled less often, and so
//       are many processes.
//   W3. What the first look at the folders finds does not count: it begins with the turn.

import { readFileSync } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import type { Belongs } from "./mark.ts";
import { beginMoment, openProcessTracker } from "./process-tracker.ts";

export type Bounds = { readonly processesMax: number; readonly memoryBytesMax: number; readonly diskBytesMax: number };

export type Watched = {
  readonly belongs: Belongs;
  /** The turn's first process; its descendants count even without the mark. */
  readonly root: number;
  /** Where it may write. */
  readonly folders: readonly string[];
  readonly bounds: Bounds;
  readonly everyMs?: number;
  readonly exceeded: (sentence: string) => void;
};

const everyMsDefault = 500;
/** Polling the disk takes at most one part in this many of the time, and so does polling the processes. */
const share = 20;
/** The fastest disk: the rest of the limit lasts at least so long, so the next poll can wait half of that. */
const diskBytesPerMsMax = 4 * 1024 ** 2;
const entriesMax = 2_000_000;
const psTimeoutMs = 1_000;

export function watchResources(watched: Watched): { readonly stop: () => void } {
  const { belongs, root, folders, bounds, everyMs = everyMsDefault } = watched;
  let isOver = false;
  let isScanning = false;
  let startOverAt = 0;
  const roll = openProcessTracker(belongs, root);
  let before: number | null = null;

  const say = (sentence: string): void => {
    if (isOver) return;
    isOver = true; // W1
    leave();
    watched.exceeded(sentence);
  };
  const lookAtDisk = async (): Promise<void> => {
    if (isScanning || performance.now() < startOverAt) return;
    isScanning = true;
    const began = performance.now();
    const bytes = await bytesBelow(folders, () => isOver);
    before ??= bytes; // W3
    const grown = bytes - before;
    const lastsMs = (bounds.diskBytesMax - grown) / diskBytesPerMsMax;
    startOverAt = performance.now() + Math.max((performance.now() - began) * share * round.looks.size, lastsMs / 2); // W2
    isScanning = false;
    if (grown > bounds.diskBytesMax) say(`It wrote ${shown(grown)} to disk; ${shown(bounds.diskBytesMax)} are allowed.`);
  };
  const look = (): void => {
    const pids = roll.look();
    if (pids.length > bounds.processesMax) return say(`It has ${pids.length} processes; ${bounds.processesMax} are allowed.`);
    const memory = pidMemory(pids);
    if (memory > bounds.memoryBytesMax)
      return say(`Its processes hold ${shown(memory)} of memory; ${shown(bounds.memoryBytesMax)} are allowed.`);
    void lookAtDisk();
  };
  const round = roundOf(everyMs);
  const leave = takePart(round, look);
  void lookAtDisk();
  return {
    stop: () => {
      isOver = true;
      leave();
    },
  };
}

type Round = { readonly everyMs: number; readonly looks: Set<() => void>; timer: NodeJS.Timeout | null; againAt: number };
const rounds = new Map<number, Round>();

function roundOf(everyMs: number): Round {
  const round = rounds.get(everyMs) ?? { everyMs, looks: new Set(), timer: null, againAt: 0 };
  rounds.set(everyMs, round);
  return round;
}

/** Joins the polls of all turns; returns the function that leaves. */
function takePart(round: Round, look: () => void): () => void {
  const lookAtAll = (): void => {
    const began = performance.now();
    if (began < round.againAt) return;
    beginMoment();
    for (const item of round.looks) item();
    round.againAt = performance.now() + (performance.now() - began) * share; // W2
  };
  round.looks.add(look);
  round.timer ??= setInterval(lookAtAll, round.everyMs).unref();
  return () => {
    round.looks.delete(look);
    if (round.looks.size > 0 || round.timer === null) return;
    clearInterval(round.timer);
    round.timer = null;
  };
}

const mebibyte = 1024 ** 2;
const shown = (bytes: number): string => `${Math.round(bytes / mebibyte)} MiB`;

/** Memory of its own and shared memory on Linux; elsewhere all that is resident, pages of shared programs included. */
function pidMemory(pids: readonly number[]): number {
  if (process.platform !== "linux") return memoryByPs(pids);
  return pids.reduce((sum, pid) => sum + countOwnBytes(readText(`/proc/${pid}/status`)), 0);
}

export function countOwnBytes(status: string): number {
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
  return (kilobytes("RssAnon") + kilobytes("RssShmem")) * 1024;
}

function memoryByPs(pids: readonly number[]): number {
  if (pids.length === 0) return 0;
  const answer = spawnSync("ps", ["-o", "rss=", "-p", pids.join(",")], { encoding: "utf8", timeout: psTimeoutMs });
  return (answer.stdout ?? "").split("\n").reduce((sum, line) => sum + Number(line.trim() || 0) * 1024, 0);
}

/** The files' disk usage, without following links; a file that vanishes meanwhile counts 0. */
async function bytesBelow(folders: readonly string[], isOver: () => boolean): Promise<number> {
  let bytes = 0;
  let entries = 0;
  const stack = [...folders];
  for (let folder = stack.pop(); folder !== undefined && entries < entriesMax && !isOver(); folder = stack.pop()) {
    const opened = await opendir(folder).catch(() => null);
    if (opened === null) continue;
    try {
      for await (const entry of opened) {
        entries += 1;
        const path = join(folder, entry.name);
        if (entry.isDirectory()) stack.push(path);
        else bytes += ((await lstat(path).catch(() => null))?.blocks ?? 0) * 512;
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
