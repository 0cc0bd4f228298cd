// limits-seen: what was seen to hold, kept with the run while the machine is the same, so that taking a run up again does not wait for it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";

const Seen = v.strictObject({ where: v.string(), means: v.string(), holdsProcesses: v.boolean(), holdsMemory: v.boolean() });
export type Seen = v.InferOutput<typeof Seen>;

const fileIn = (runDir: string): string => join(runDir, "limits.json");

/** The same start of the same machine, the same user, the same place among its groups of processes. */
export function whereNow(): string {
  const text = (path: string): string => {
    try {
      return readFileSync(path, "utf8").trim();
    } catch {
      return "";
    }
  };
  return [text("/proc/sys/kernel/random/boot_id"), text("/proc/self/cgroup"), process.getuid?.() ?? ""].join("\n");
}

export function readSeen(runDir: string): Seen | null {
  try {
    const read = v.safeParse(Seen, JSON.parse(readFileSync(fileIn(runDir), "utf8")));
    return read.success && read.output.where === whereNow() && whereNow().trim() !== "" ? read.output : null;
  } catch {
    return null; // not there, or not to be believed: it is tried anew
  }
}

export function writeSeen(runDir: string, seen: Omit<Seen, "where">): void {
  try {
    writeFileSync(fileIn(runDir), `${JSON.stringify({ where: whereNow(), ...seen })}\n`, { mode: 0o600 });
  } catch {
    // Without it the next opening tries anew.
  }
}
