// sealed-folder: whether a shared folder is still the one that was made, and nothing in it was changed since, told by change times alone.
//
// Invariants:
//   I1. Writing, adding, removing, renaming and changing modes all set the change time of a file or of its folder, and no ordinary process
//       can set that time back. So one look after a use vouches for every use before it.
//   I2. The time is the file system's own, taken after the last write; its clock has advanced before others can reach the folder.
//   I3. It is still the same folder: by its inode, and by inode and change time of the folder around it, in which nothing changes after it
//       was made (store.ts, T4). So one that took its place is noticed, and one that did for a while.

import { execFile } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { readErrorCode } from "../failure.ts";
import { findProgramOnPath } from "../isolation/program-paths.ts";

const run = promisify(execFile);
/** Longer than the tick of a file system's clock. */
export const tickMs = 25;
const findTimeoutMs = 120_000;
/** A folder of so few files and folders is looked at sooner than another program is started. */
const entriesFew = 200;

/**
 * A folder, the change time that nothing in it may exceed (a decimal number of nanoseconds), and what tells it from another; empty for a
 * folder that nobody shares.
 */
export type SealedFolder = { readonly files: string; readonly sealedNs: string; readonly id: string };

/** What tells a folder from any that takes its place; null if there is none. I3 */
export function folderId(files: string): string | null {
  try {
    const [own, around] = [lstatSync(files, { bigint: true }), lstatSync(dirname(files), { bigint: true })];
    return own.isDirectory() && around.isDirectory() ? `${own.ino}:${around.ino}:${around.ctimeNs}` : null;
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return null;
  }
}

/** I3 */
export const isSameFolder = ({ files, id }: SealedFolder): boolean => id === "" || folderId(files) === id;

/** Where something is mounted at or below a folder; null if nothing is, or that cannot be known here. */
export function findMountIn(folder: string): string | null {
  try {
    const real = realpathSync(folder);
    const written = Buffer.from(real)
      .toString("latin1")
      .replaceAll(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);
    const points = readFileSync("/proc/self/mountinfo", "latin1")
      .split("\n")
      .filter((row) => row.includes(written))
      .map((row) => row.split(" ")[4] ?? "")
      .map((point) => point.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))))
      .map((point) => Buffer.from(point, "latin1").toString("utf8"));
    return points.find((point) => point === real || point.startsWith(`${real}/`)) ?? null;
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return null;
  }
}

/** The time for a folder that is now complete, by a file beside it on the same disk. I2 */
export async function takeSealNs(mark: string): Promise<string> {
  writeFileSync(mark, "");
  const { ctimeNs } = lstatSync(mark, { bigint: true });
  await sleep(tickMs);
  return String(ctimeNs);
}

/** What a note says about when its folder was made; null if it says nothing usable. */
export const readSealNs = (stored: unknown): string | null => {
  const made = typeof stored === "object" && stored !== null && "made" in stored ? stored.made : null;
  return typeof made === "string" && /^\d{10,25}$/.test(made) ? made : null;
};

/** Whether it is still the folder that was made, and nothing at or below it changed since. */
export const isIntact = async (folder: SealedFolder): Promise<boolean> =>
  isSameFolder(folder) && findMountIn(dirname(folder.files)) === null && isUnchanged(folder);

/** Whether nothing at or below a folder changed since a time. */
export async function isUnchanged({ files, sealedNs }: Pick<SealedFolder, "files" | "sealedNs">): Promise<boolean> {
  const made = BigInt(sealedNs);
  const time = `@${made / 1_000_000_000n}.${String(made % 1_000_000_000n).padStart(9, "0")}`;
  const find = findProgramOnPath("find");
  const answer = isIntactByWalk(Buffer.from(files), made, { entries: find === null ? Number.POSITIVE_INFINITY : entriesFew });
  if (answer !== "too many" || find === null) return answer === true;
  try {
    const { stdout } = await run(find, [files, "-newerct", time, "-print", "-quit"], {
      timeout: findTimeoutMs,
      env: { ...process.env, LC_ALL: "C" },
    });
    return stdout === "";
  } catch {
    return isIntactByWalk(Buffer.from(files), made, { entries: Number.POSITIVE_INFINITY }) === true; // not every find knows the test
  }
}

/** The same by looking at every file and folder, as long as there are no more than are left to look at. */
function isIntactByWalk(path: Buffer, made: bigint, left: { entries: number }): boolean | "too many" {
  if (left.entries-- <= 0) return "too many";
  try {
    const stat = lstatSync(path, { bigint: true });
    if (stat.ctimeNs > made) return false;
    for (const name of stat.isDirectory() ? readdirSync(path, { encoding: "buffer" }) : []) {
      const answer = isIntactByWalk(Buffer.concat([path, Buffer.from("/"), name]), made, left);
      if (answer !== true) return answer;
    }
    return true;
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return false;
  }
}

/** Whether what these folders have at a path, if anything, is as it was made. */
export const isIntactAt = (folders: readonly SealedFolder[], path: Buffer): boolean =>
  folders.every(({ files, sealedNs }) => {
    const stat = lstatSync(Buffer.concat([Buffer.from(`${files}/`), path]), { bigint: true, throwIfNoEntry: false });
    return stat === undefined || stat.ctimeNs <= BigInt(sealedNs);
  });
