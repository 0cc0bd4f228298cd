// process-table: lists processes with their parents and the environments they were started with.
//
// On Linux from /proc. Elsewhere from `ps`, which shows the environment of one's own processes
// after the command; that is enough to find a mark, whose values contain no blanks.

import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { keepStartTicks } from "../../kit/start-ticks.ts";
import type { EnvironmentFilter } from "./process-mark.ts";

/** A process, with its start time, so that a reused pid is not mistaken for it. */
export type ProcessInfo = {
  readonly pid: number;
  readonly parent: number;
  readonly startTime: string;
};

const psTimeoutMs = 1000;
const psBytesMax = 32 * 1024 * 1024;

/**
 * Which processes a search reads: all, or on Linux those that began no earlier than the runner, as
 * everything that it starts does.
 */
export type SearchRange = "all" | "since_runner";

/** The marked processes, without the runner itself and its ancestors. */
export function findMarkedProcesses(
  isMarked: EnvironmentFilter,
  range: SearchRange,
): readonly number[] {
  const ancestors = findAncestors(process.pid);
  return readEnvironments(range).flatMap(({ pid, entries }) =>
    isMarked(entries) && !ancestors.has(pid) ? [pid] : [],
  );
}

/**
 * The descendants of a process that the runner started, as far as their chain of parents is
 * unbroken.
 */
export function findDescendants(root: number): readonly ProcessInfo[] {
  const processes = readProcesses();
  const descendants: ProcessInfo[] = [];
  const reached = new Set([root]);

  for (let hasGrown = true; hasGrown;) {
    hasGrown = false;
    for (const candidate of processes) {
      if (reached.has(candidate.pid) || !reached.has(candidate.parent)) continue;
      reached.add(candidate.pid);
      descendants.push(candidate);
      hasGrown = true;
    }
  }

  return descendants;
}

/** Whether this very process still runs; a zombie does not. */
export function isAlive(info: ProcessInfo): boolean {
  const current = readProcess(info.pid);
  return current !== undefined && current.startTime === info.startTime;
}

/** A running process; undefined if there is none of this pid, or only a zombie. */
export function readProcess(pid: number): ProcessInfo | undefined {
  return process.platform === "linux"
    ? readProcStat(pid)
    : readProcesses().find((info) => info.pid === pid);
}

/** A process and those above it. */
export function findAncestors(pid: number): ReadonlySet<number> {
  const findParent =
    process.platform === "linux"
      ? (child: number) => readProcStat(child)?.parent
      : readParentsByPs();

  const ancestors = new Set<number>();
  for (
    let current: number | undefined = pid;
    current !== undefined && current > 0 && !ancestors.has(current);
  ) {
    ancestors.add(current);
    current = findParent(current);
  }

  return ancestors;
}

function readParentsByPs(): (pid: number) => number | undefined {
  const parents = new Map(readProcesses().map((info) => [info.pid, info.parent]));
  return (pid) => parents.get(pid);
}

function readProcesses(): readonly ProcessInfo[] {
  if (process.platform !== "linux") return parsePs(runPs("pid=,ppid=,lstart="));
  return listPidsSinceRunner().flatMap((pid) => readProcStat(pid) ?? []);
}

function readEnvironments(
  range: SearchRange,
): readonly { readonly pid: number; readonly entries: readonly string[] }[] {
  if (process.platform !== "linux") return parsePsEnvironment(runPs("pid=,command=", "-E"));
  return (range === "all" ? listPids() : listPidsSinceRunner()).map((pid) => ({
    pid,
    entries: readStartEnvironment(pid),
  }));
}

/** On Linux only: the `NAME=value` entries of the environment that a process was started with. */
export function readStartEnvironment(pid: number): readonly string[] {
  return readOrEmpty(`/proc/${pid}/environ`).split("\0");
}

const findStartTick = keepStartTicks({
  inodeOf: (pid) => lstatSync(`/proc/${pid}`, { throwIfNoEntry: false })?.ino,
  readStartTick: (pid) => Number(readStatFields(pid)[startTimeField]), // a zombie's too: otherwise it would be read again each time
});

/**
 * On Linux only: the processes that began no earlier than the runner. A machine has hundreds of
 * others, which need not be read each time.
 */
export function listPidsSinceRunner(): readonly number[] {
  const runnerTick = findStartTick(process.pid) ?? 0;
  return listPids().filter((pid) => (findStartTick(pid) ?? 0) >= runnerTick);
}

/** Every pid. On Linux only. */
function listPids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** On Linux only; zombies do not count. */
export function readProcStat(pid: number): ProcessInfo | undefined {
  const fields = readStatFields(pid);
  const [state, parent] = fields;
  const startTime = fields[startTimeField];
  if (
    state === undefined ||
    parent === undefined ||
    startTime === undefined ||
    state === "Z" ||
    state === "X"
  ) {
    return undefined;
  }

  return { pid, parent: Number(parent), startTime };
}

/** The position of the start time among the fields after the program's name. */
const startTimeField = 19;

/**
 * The fields after the program's name. The name is in parentheses and may itself contain some, so
 * the last one counts.
 */
function readStatFields(pid: number): readonly string[] {
  const line = readOrEmpty(`/proc/${pid}/stat`);
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

/**
 * A file's text; empty if the process is gone by now, or another user's. It is read as UTF-8,
 * because Node reads that directly into a string; for other encodings it allocates 64 kB, which
 * adds up over every file of every process.
 */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function runPs(columns: string, ...more: readonly string[]): string {
  const answer = spawnSync("ps", ["-A", "-ww", ...more, "-o", columns], {
    encoding: "utf8",
    timeout: psTimeoutMs,
    maxBuffer: psBytesMax,
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
  });
  return answer.stdout ?? "";
}

/** Rows of `pid ppid lstart`: `  42     1 Fri Jan  2 00:00:00 2026`. */
export function parsePs(text: string): readonly ProcessInfo[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(.+?)\s*$/.exec(line);
    return match === null
      ? []
      : [{ pid: Number(match[1]), parent: Number(match[2]), startTime: match[3] ?? "" }];
  });
}

/** Rows of `pid command` with the environment after the command: `  42 sleep 9 PATH=/bin`. */
export function parsePsEnvironment(
  text: string,
): readonly { readonly pid: number; readonly entries: readonly string[] }[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(.*)$/.exec(line);
    return match === null ? [] : [{ pid: Number(match[1]), entries: (match[2] ?? "").split(" ") }];
  });
}
