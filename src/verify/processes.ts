// processes: which processes belong to a command, and their end.
//
// A process belongs if it is in the command's group or session, descends from one that is, or carries the command's marker in
// its environment; so `setsid`, `nohup` and a double fork do not hide it. One that does all of that *and* wipes its environment
// does: only a process namespace (isolation) holds that one. Where there is no /proc, the group is all that can be seen.

import { readdir, readFile } from "node:fs/promises";
import { commandMarker } from "./environment.ts";

export type Family = { readonly leader: number; readonly marker: string };

type Row = { readonly pid: number; readonly parent: number; readonly group: number; readonly session: number };

/** The command's living processes, zombies left out. */
export async function livingOf(family: Family): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => null);
  if (names === null) return isGroupAlive(family.leader) ? [family.leader] : [];
  const rows = (await Promise.all(names.filter((name) => /^\d+$/.test(name)).map(rowOf))).filter((row) => row !== null);
  const needle = `${commandMarker}=${family.marker}`;
  const marked = await Promise.all(rows.map(async (row) => (await environOf(row.pid)).includes(needle)));
  const found = new Set<number>();
  for (const [index, row] of rows.entries()) {
    const isKin = row.group === family.leader || row.session === family.leader || marked[index] === true;
    if (isKin && row.pid !== process.pid) found.add(row.pid);
  }
  // Children of what was found, until nothing is new.
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of rows) if (found.has(parent) && pid !== process.pid) found.add(pid);
  }
  return [...found];
}

/** Sends a signal to the group and to everything else that belongs. */
export async function signalFamily(family: Family, signal: "SIGTERM" | "SIGKILL"): Promise<number> {
  const living = await livingOf(family); // looked for first: what is gone by then was not left behind
  send(-family.leader, signal);
  for (const pid of living) send(pid, signal);
  return living.length;
}

/** Kills until nothing is left, or `roundsMax` rounds are over; says how many were found at first and how many are left. */
export async function endFamily(family: Family, roundsMax = 40): Promise<{ readonly found: number; readonly left: number }> {
  let first = -1;
  let left = 0;
  for (let round = 0; round < roundsMax; round++) {
    left = await signalFamily(family, "SIGKILL");
    if (first < 0) first = left;
    if (left === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 5 + round * 2));
  }
  return { found: Math.max(0, first), left };
}

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

async function rowOf(name: string): Promise<Row | null> {
  const stat = await readFile(`/proc/${name}/stat`, "latin1").catch(() => "");
  // The program's name stands in brackets and may hold anything, so the fields are counted from the last bracket on.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (state === undefined || session === undefined || state === "Z" || state === "X") return null;
  return { pid: Number(name), parent: Number(parent), group: Number(group), session: Number(session) };
}

async function environOf(pid: number): Promise<readonly string[]> {
  const text = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return text.split("\0");
}
