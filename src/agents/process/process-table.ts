// process-table: lists processes with their parents and initial environments.
//
// On Linux from /proc. Elsewhere from `ps`; it shows the environment of one's own processes after the command, which is enough to find a
// mark (its values contain no blanks).

import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { keepStartTicks } from "../../kit/start-ticks.ts";
import type { EnvironmentFilter } from "./process-mark.ts";

/** A process, with its start time, so that a reused pid is not mistaken for it. */
export type ProcessInfo = { readonly pid: number; readonly parent: number; readonly began: string };

const psTimeoutMs = 1000;
const psBytesMax = 32 * 1024 * 1024;

/** Which processes a search reads: all, or those that began no earlier than the runner, as everything that it starts does. */
export type SearchRange = "all" | "since_runner";

/** The processes that belong, without the runner itself and its ancestors. */
export function findMarkedProcesses(belongs: EnvironmentFilter, range: SearchRange): readonly number[] {
  const ancestors = findAncestors(process.pid);
  return readEnvironments(range).flatMap(({ pid, words }) => (belongs(words) && !ancestors.has(pid) ? [pid] : []));
}

/** Children of a process that the runner started, their children, and so on, as far as the chain is unbroken. */
export function findDescendants(root: number): readonly ProcessInfo[] {
  const processes = readProcesses();
  const descendants: ProcessInfo[] = [];
  const reached = new Set([root]);
  for (let grew = true; grew;) {
    grew = false;
    for (const candidate of processes) {
      if (reached.has(candidate.pid) || !reached.has(candidate.parent)) continue;
      reached.add(candidate.pid);
      descendants.push(candidate);
      grew = true;
    }
  }
  return descendants;
}

/** Whether this very process still runs; a zombie does not. */
export function isAlive(info: ProcessInfo): boolean {
  const current = process.platform === "linux" ? readProcStat(info.pid) : readProcesses().find(({ pid }) => pid === info.pid);
  return current !== undefined && current.began === info.began;
}

export function readProcess(pid: number): ProcessInfo | undefined {
  return process.platform === "linux" ? readProcStat(pid) : readProcesses().find((seen) => seen.pid === pid);
}

export function findAncestors(pid: number): ReadonlySet<number> {
  const parentOf = process.platform === "linux" ? (item: number) => readProcStat(item)?.parent : parentsByPs();
  const ancestors = new Set<number>();
  for (let current: number | undefined = pid; current !== undefined && current > 0 && !ancestors.has(current); current = parentOf(current))
    ancestors.add(current);
  return ancestors;
}

function parentsByPs(): (pid: number) => number | undefined {
  const parents = new Map(readProcesses().map((seen) => [seen.pid, seen.parent]));
  return (pid) => parents.get(pid);
}

function readProcesses(): readonly ProcessInfo[] {
  if (process.platform !== "linux") return parsePs(ps("pid=,ppid=,lstart="));
  return listPidsSinceRunner().flatMap((pid) => readProcStat(pid) ?? []);
}

function readEnvironments(range: SearchRange): readonly { readonly pid: number; readonly words: readonly string[] }[] {
  if (process.platform !== "linux") return parsePsEnvironment(ps("pid=,command=", "-E"));
  return (range === "all" ? pids() : listPidsSinceRunner()).map((pid) => ({ pid, words: readStartEnvironment(pid) }));
}

/** On Linux only: the `NAME=value` words it was begun with. */
export function readStartEnvironment(pid: number): readonly string[] {
  return readOrEmpty(`/proc/${pid}/environ`).split("\0");
}

const startTickOf = keepStartTicks({
  inodeOf: (pid) => lstatSync(`/proc/${pid}`, { throwIfNoEntry: false })?.ino,
  readStartTick: (pid) => Number(readStatFields(pid)[startField]), // of a zombie too, which would be read again each time
});

/** On Linux only: the processes that began no earlier than the runner. A machine has hundreds of others, which need not be read each time. */
export function listPidsSinceRunner(): readonly number[] {
  const runnerTick = startTickOf(process.pid) ?? 0;
  return pids().filter((pid) => (startTickOf(pid) ?? 0) >= runnerTick);
}

/** On Linux only. */
function pids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** On Linux only; zombies do not count. */
export function readProcStat(pid: number): ProcessInfo | undefined {
  const fields = readStatFields(pid);
  const [state, parent] = fields;
  const began = fields[startField];
  if (state === undefined || parent === undefined || began === undefined || state === "Z" || state === "X") return undefined;
  return { pid, parent: Number(parent), began };
}

const startField = 19;

/** The name is in parentheses and may hold anything, parentheses too; what follows the last one is regular. */
function readStatFields(pid: number): readonly string[] {
  const line = readOrEmpty(`/proc/${pid}/stat`);
  return line.slice(line.lastIndexOf(")") + 2).split(" ");
}

/**
 * A process may be gone, or another user's, between being listed and being read: then the result is empty. As UTF-8, since Node reads that
 * straight into the text; for anything else it sets 64 kB aside, for every file of every process.
 */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function ps(columns: string, ...more: readonly string[]): string {
  const answer = spawnSync("ps", ["-A", "-ww", ...more, "-o", columns], {
    encoding: "utf8",
    timeout: psTimeoutMs,
    maxBuffer: psBytesMax,
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
  });
  return answer.stdout ?? "";
}

export function parsePs(text: string): readonly ProcessInfo[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(.+?)\s*$/.exec(line);
    return match === null ? [] : [{ pid: Number(match[1]), parent: Number(match[2]), began: match[3] ?? "" }];
  });
}

export function parsePsEnvironment(text: string): readonly { readonly pid: number; readonly words: readonly string[] }[] {
  return text.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(.*)$/.exec(line);
    return match === null ? [] : [{ pid: Number(match[1]), words: (match[2] ?? "").split(" ") }];
  });
}
