// processes: which processes belong to a command, and their end.
//
// A process belongs if it is in the command's group or session, descends from one that is, or still has the command's own HOME in
// its environment, a folder no other command ever had; so `setsid`, `nohup` and a double fork do not hide it. One that does all of that
// *and* wipes its environment does: only a process namespace (isolation) holds that one. Where there is no /proc, the group is all that
// can be seen.

import { readdirSync, readFileSync } from "node:fs";

/**
 * `word`: what only this command's processes have in their environment, as `NAME=value`. `began`: the kernel's tick at which the command
 * began; nobody who began before it belongs. Zero where that is not known.
 */
export type Family = { readonly leader: number; readonly word: string; readonly began: number };

type Row = { readonly pid: number; readonly parent: number; readonly group: number; readonly session: number; readonly began: number };

/** The family of a command that was just started: it is still there to be asked when it began, if only to be collected. */
export const familyOf = (leader: number, word: string): Family => ({ leader, word, began: beganOf(statOf(leader)) });

/**
 * The command's living processes, zombies left out. Read one after the other: each is a few microseconds, and a promise for each is more.
 * `strangers`: who was seen not to belong by an earlier look of the same moment, and is not read again: nobody comes to belong later.
 */
export function livingOf(family: Family, strangers: Set<number> = new Set()): readonly number[] {
  const pids = pidsHere();
  if (pids === null) return isGroupAlive(family.leader) ? [family.leader] : [];
  const found = new Set<number>();
  const others: Row[] = [];
  for (const pid of pids) {
    const row = strangers.has(pid) || pid === process.pid ? null : rowOf(pid);
    if (row === null) continue;
    if (row.began < family.began) strangers.add(pid);
    else if (row.group === family.leader || row.session === family.leader) found.add(pid);
    else others.push(row);
  }
  for (const { pid } of others) {
    const words = environOf(pid);
    if (words.includes(family.word)) found.add(pid);
    else if (found.size === 0 && words.length > 1) strangers.add(pid); // one that is just being made shows nothing yet
  }
  // Children of what was found, until nothing is new.
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of others) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

/** Sends a signal to the group and to everything else that belongs. */
export function signalFamily(family: Family, signal: "SIGTERM" | "SIGKILL", strangers?: Set<number>): number {
  const living = livingOf(family, strangers); // looked for first: what is gone by then was not left behind
  send(-family.leader, signal);
  for (const pid of living) send(pid, signal);
  return living.length;
}

/** Kills until nothing is left, or `roundsMax` rounds are over; says how many were found at first and how many are left. */
export async function endFamily(family: Family, roundsMax = 40): Promise<{ readonly found: number; readonly left: number }> {
  let first = -1;
  let left = 0;
  // What ended with the command, or was just told to, may take a moment longer, and was not left behind.
  const strangers = new Set<number>();
  const later = (ms: number): Promise<void> => pause(ms).then(() => strangers.clear()); // a number may mean another by then
  for (let look = 0; look < settleLooks && livingOf(family, strangers).length > 0; look++) await later(Math.min(settleMs, 2 << look));
  for (let round = 0; round < roundsMax; round++) {
    left = signalFamily(family, "SIGKILL", strangers);
    if (first < 0) first = left;
    if (left === 0) break;
    await later(5 + round * 2);
  }
  return { found: Math.max(0, first), left };
}

/** Soon at first, a fifth of a second in all. */
const settleLooks = 13;
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
  const fields = statOf(pid);
  const [state, parent, group, session] = fields;
  if (state === undefined || session === undefined || state === "Z" || state === "X") return null;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), began: beganOf(fields) };
}

/** The program's name is in brackets and may hold anything, so the fields are counted from the last bracket on. */
function statOf(pid: number): readonly string[] {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

const beganOf = (fields: readonly string[]): number => Number(fields[19] ?? 0) || 0;

const environOf = (pid: number): readonly string[] => read(`/proc/${pid}/environ`).split("\0");

/** Nothing if it is gone meanwhile, or another user's. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
