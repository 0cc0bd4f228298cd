// intact: whether anything in a shared folder was changed since it was made, told by change times alone.
//
// Invariants:
//   I1. Writing, adding, removing, renaming and changing modes all set the change time of a file or of its folder, and no ordinary process
//       can set that time back. So one look after a use vouches for every use before it.
//   I2. The time is the file system's own, taken after the last write; its clock has advanced before others can reach the folder.

import { execFile } from "node:child_process";
import { lstatSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { errorErrno } from "../failure.ts";
import { programOnPath } from "../isolation/box-programs.ts";

const run = promisify(execFile);
/** Longer than the tick of a file system's clock. */
const tickMs = 25;
const findTimeoutMs = 120_000;

/** A folder, and the change time that nothing in it may exceed; a decimal number of nanoseconds. */
export type MadeFolder = { readonly files: string; readonly madeNs: string };

/** The time for a folder that is now complete, by a file beside it on the same disk. I2 */
export async function sealTime(mark: string): Promise<string> {
  writeFileSync(mark, "");
  const { ctimeNs } = lstatSync(mark, { bigint: true });
  await sleep(tickMs);
  return String(ctimeNs);
}

/** What a note says about when its folder was made; null if it says nothing usable. */
export const readMadeNs = (stored: unknown): string | null => {
  const made = typeof stored === "object" && stored !== null && "made" in stored ? stored.made : null;
  return typeof made === "string" && /^\d{10,25}$/.test(made) ? made : null;
};

/** Whether nothing at or below the folder changed since it was made. */
export async function isIntact({ files, madeNs }: MadeFolder): Promise<boolean> {
  const made = BigInt(madeNs);
  const time = `@${made / 1_000_000_000n}.${String(made % 1_000_000_000n).padStart(9, "0")}`;
  const find = programOnPath("find");
  if (find === null) return isIntactByWalk(files, made);
  try {
    const { stdout } = await run(find, [files, "-newerct", time, "-print", "-quit"], {
      timeout: findTimeoutMs,
      env: { ...process.env, LC_ALL: "C" },
    });
    return stdout === "";
  } catch {
    return isIntactByWalk(files, made); // not every find knows the test; a folder that is gone is found out there
  }
}

function isIntactByWalk(path: string, made: bigint): boolean {
  try {
    const stat = lstatSync(path, { bigint: true });
    if (stat.ctimeNs > made) return false;
    return !stat.isDirectory() || readdirSync(path).every((name) => isIntactByWalk(join(path, name), made));
  } catch (error) {
    if (errorErrno(error) === null) throw error;
    return false;
  }
}

/** Whether what these folders have at a path, if anything, is as it was made. */
export const isIntactAt = (folders: readonly MadeFolder[], path: Buffer): boolean =>
  folders.every(({ files, madeNs }) => {
    const stat = lstatSync(Buffer.concat([Buffer.from(`${files}/`), path]), { bigint: true, throwIfNoEntry: false });
    return stat === undefined || stat.ctimeNs <= BigInt(madeNs);
  });
