// processes: who is alive on this machine, by the environment and the words it was started with,
// whatever namespace it lives in.

import { readdirSync, readFileSync } from "node:fs";

/** Each as its number and its words. */
export function processesWith(
  isMeant: (environment: string, args: readonly string[]) => boolean,
): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(
      (pid) =>
        pid !== process.pid &&
        isAlive(pid) &&
        isMeant(read(pid, "environ"), read(pid, "cmdline").split("\0")),
    )
    .map((pid) => `${pid} ${read(pid, "cmdline").replaceAll("\0", " ").slice(0, 200)}`);
}

const isAlive = (pid: number): boolean => /^State:\s+[^ZX]/m.test(read(pid, "status"));

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
