// inherited-files: closes file descriptors inherited from the parent process, before anything of
// ours is started.
//
// Invariants:
//   D1. A descriptor that a shell holds (`exec 200>lock`) would lead an agent or a check out of its
//       sandbox: a folder that is open needs no path. Node passes on what it did not open itself,
//       so all of that is closed here.
//   D2. Left open: the three streams, Node's own channel, and what the command line names
//       (`--prompt <(cat text)`).

import { closeSync, readdirSync, readFileSync } from "node:fs";

/** O_CLOEXEC on Linux: a child does not get such a descriptor. */
const closedOnExec = 0o2000000;

/** Closes what a child would get, too. Without /proc nothing is closed. */
export function closeInheritedFiles(
  argv: readonly string[],
  channel = process.env["NODE_CHANNEL_FD"],
): void {
  for (const fd of listInherited()) {
    // `/dev/fd/63` or `/proc/self/fd/63`, as a shell writes `<(…)`.
    const isNamed = argv.some((word) =>
      new RegExp(`/(?:dev|proc/self)/fd/${fd}(?!\\d)`).test(word),
    );
    if (isNamed || String(fd) === channel) continue; // D2
    try {
      closeSync(fd);
    } catch {
      continue; // it was the one that listed the others
    }
  }
}

function listInherited(): readonly number[] {
  try {
    return readdirSync("/proc/self/fdinfo")
      .map(Number)
      .filter((fd) => fd > 2 && isPassedOn(fd)); // D1
  } catch {
    return [];
  }
}

function isPassedOn(fd: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closedOnExec) === 0;
  } catch {
    return false;
  }
}
