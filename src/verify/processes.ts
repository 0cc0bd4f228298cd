// processes: finds the processes that belong to a command, and ends them.
//
// A process belongs to a command if it is in the command's process group or session, descends from
// such a process, or still has the command's own HOME in its environment, a folder no other command
// ever had. So `setsid`, `nohup` and a double fork do not hide it. A process that does all of that
// *and* clears its environment escapes: only a process namespace (isolation) contains it. Without
// /proc, only the group can be seen.

import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { keepStartTicks } from "../kit/start-ticks.ts";

/**
 * `mark`: what only this command's processes have in their environment, as `NAME=value`.
 * `startTick`: the kernel's tick at which the command began; no earlier process belongs. Zero if
 * unknown.
 */
export type Family = { readonly leader: number; readonly mark: string; readonly startTick: number };

type ProcessRow = {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
};

/** The process family of a command that was just started: its start time can still be read. */
export const identifyFamily = (leader: number, mark: string): Family => ({
  leader,
  mark,
  startTick: parseStartTick(readStat(leader)),
});

/**
 * The command's living processes, without zombies. Read one after the other: each takes a few
 * microseconds, and a promise takes more.
 */
export function listLivingProcesses(family: Family): readonly number[] {
  const pids = listPids();
  if (pids === null) return isGroupAlive(family.leader) ? [family.leader] : [];
  const members = new Set<number>();
  const candidates: ProcessRow[] = [];

  for (const pid of pids) {
    if (pid === process.pid || (lookUpStartTick(pid) ?? 0) < family.startTick) continue;
    const row = readRow(pid);
    if (row === null) continue;
    if (row.group === family.leader || row.session === family.leader) members.add(pid);
    else candidates.push(row);
  }

  for (const { pid } of candidates) if (readEnviron(pid).includes(family.mark)) members.add(pid);
  // Children of those found, until there are no new ones.
  for (let sizeBefore = -1; sizeBefore !== members.size;) {
    sizeBefore = members.size;
    for (const { pid, parent } of candidates) if (members.has(parent)) members.add(pid);
  }

  return [...members];
}

/**
 * Sends a signal to the group and to everything else that belongs; returns how many living
 * processes that were.
 */
export function signalFamily(family: Family, signal: "SIGTERM" | "SIGKILL"): number {
  const living = listLivingProcesses(family); // scanned first: a process that is gone by then was not left behind
  send(-family.leader, signal);
  for (const pid of living) send(pid, signal);

  return living.length;
}

/**
 * Kills until nothing is left, for at most `roundsMax` rounds; returns how many processes were
 * found at first and how many are left.
 */
export async function endFamily(
  family: Family,
  roundsMax = 40,
): Promise<{ readonly found: number; readonly left: number }> {
  let foundAtFirst = -1;
  let aliveCount = 0;

  // Processes that end with the command, or were just signalled, may take a moment longer, and were
  // not left behind.
  for (let poll = 0; poll < settlePolls && listLivingProcesses(family).length > 0; poll++) {
    await pause(Math.min(settleMs, 2 << poll));
  }

  for (let round = 0; round < roundsMax; round++) {
    aliveCount = signalFamily(family, "SIGKILL");
    if (foundAtFirst < 0) foundAtFirst = aliveCount;
    if (aliveCount === 0) break;
    await pause(5 + round * 2);
  }

  return { found: Math.max(0, foundAtFirst), left: aliveCount };
}

/** Frequent at first, a fifth of a second in total. */
const settlePolls = 13;
const settleMs = 20;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already, or not ours to end; the next scan shows which.
  }
}

function isGroupAlive(leader: number): boolean {
  try {
    process.kill(-leader, 0);
    return true;
  } catch {
    return false;
  }
}

function listPids(): readonly number[] | null {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return null;
  }
}

function readRow(pid: number): ProcessRow | null {
  const fields = readStat(pid);
  const [state, parent, group, session] = fields;
  if (state === undefined || session === undefined || state === "Z" || state === "X") return null;

  return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
}

/**
 * The program's name is in brackets and may hold anything, so the fields are counted from the last
 * bracket on.
 */
function readStat(pid: number): readonly string[] {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Field 22 of /proc/PID/stat, which is the twentieth behind the program's name. */
const parseStartTick = (fields: readonly string[]): number => Number(fields[19] ?? 0) || 0;

const lookUpStartTick = keepStartTicks({
  inodeOf: (pid) => lstatSync(`/proc/${pid}`, { throwIfNoEntry: false })?.ino,
  readStartTick: (pid) => parseStartTick(readStat(pid)) || undefined,
});

const readEnviron = (pid: number): readonly string[] =>
  readOrEmpty(`/proc/${pid}/environ`).split("\0");

/** Empty if it is gone meanwhile, or another user's. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
