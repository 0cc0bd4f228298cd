// processes: which processes belong to a command, and their end.
//
// A process belongs if it is in the command's group or session, descends from one that is, or still has the command's own HOME in
// its environment, a folder no other command ever had; so `setsid`, `nohup` and a double fork do not hide it. One that does all of that
// *and* wipes its environment does: only a process namespace (isolation) holds that one. Where there is no /proc, the group is all that
// can be seen.

import { readdirSync, readFileSync } from "node:fs";

/** `word`: what only this command's processes have in their environment, as `NAME=value`. */
export type Family = { readonly leader: number; readonly word: string };

type Row = { readonly pid: number; readonly parent: number; readonly group: number; readonly session: number };

/** The command's living processes, zombies left out. Read one after the other: each is a few microseconds, and a promise for each is more. */
export function livingOf(family: Family): readonly number[] {
  const pids = pidsHere();
  if (pids === null) return isGroupAlive(family.leader) ? [family.leader] : [];
  const rows = pids.flatMap((pid) => rowOf(pid) ?? []);
  const found = new Set<number>();
  for (const { pid, group, session } of rows) {
    const isKin = group === family.leader || session === family.leader || environOf(pid).includes(family.word);
    if (isKin && pid !== process.pid) found.add(pid);
  }
  // Children of what was found, until nothing is new.
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of rows) if (found.has(parent) && pid !== process.pid) found.add(pid);
  }
  return [...found];
}

/** Sends a signal to the group and to everything else that belongs. */
export function signalFamily(family: Family, signal: "SIGTERM" | "SIGKILL"): number {
  const living = livingOf(family); // looked for first: what is gone by then was not left behind
  send(-family.leader, signal);
  for (const pid of living) send(pid, signal);
  return living.length;
}

/** Kills until nothing is left, or `roundsMax` rounds are over; says how many were found at first and how many are left. */
export async function endFamily(family: Family, roundsMax = 40): Promise<{ readonly found: number; readonly left: number }> {
  let first = -1;
  let left = 0;
  // What ended with the command, or was just told to, may take a moment longer, and was not left behind.
  for (let look = 0; look < settleLooks && livingOf(family).length > 0; look++) await pause(settleMs);
  for (let round = 0; round < roundsMax; round++) {
    left = signalFamily(family, "SIGKILL");
    if (first < 0) first = left;
    if (left === 0) break;
    await pause(5 + round * 2);
  }
  return { found: Math.max(0, first), left };
}

const settleLooks = 10;
const settleMs = 20;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already, or it is not ours to end; the next look tells which.
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

function pidsHere(): readonly number[] | null {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return null;
  }
}

function rowOf(pid: number): Row | null {
  const stat = read(`/proc/${pid}/stat`);
  // The program's name stands in brackets and may hold anything, so the fields are counted from the last bracket on.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === undefined || session === undefined || state === "Z" || state === "X") return null;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
}

const environOf = (pid: number): readonly string[] => read(`/proc/${pid}/environ`).split("\0");

/** Nothing where it is gone meanwhile, or another user's. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
