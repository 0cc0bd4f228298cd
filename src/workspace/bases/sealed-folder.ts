// sealed-folder: tells whether a shared folder is still the one that was sealed (finished), and
// nothing in it was changed since, by change times (ctime) alone.
//
// Invariants:
//   I1. Writing, adding, removing, renaming and changing modes all set the ctime of a file or of
//       its folder, and no ordinary process can set a ctime back. So one check after a use vouches
//       for every use before it.
//   I2. The seal's time is the file system's own, taken after the last write; its clock has
//       advanced before others can reach the folder.
//   I3. The folder's identity is its inode, with the inode and the ctime of the folder around it,
//       in which nothing is created, renamed or removed any more (store.ts). So a folder that took
//       its place is noticed, even if the original was put back.

import { execFile } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { readErrorCode } from "../failure.ts";
import { findProgramOnPath } from "../isolation/program-paths.ts";

const execFileAsync = promisify(execFile);
/** Longer than the tick of a file system's clock. */
export const tickMs = 25;
const findTimeoutMs = 120_000;
/** Checking so few files and folders here is faster than starting `find`. */
const walkedEntriesMax = 200;

export type SealedFolder = {
  readonly files: string;
  /** The ctime that nothing in the folder may exceed, in nanoseconds, as decimal digits. */
  readonly sealedNs: string;
  /**
   * Distinguishes the folder from any that takes its place (I3); empty for a folder that is not
   * shared.
   */
  readonly id: string;
};

/** The identity of the folder at a path; null if there is none. I3 */
export function readFolderId(files: string): string | null {
  try {
    const [folder, parent] = [
      lstatSync(files, { bigint: true }),
      lstatSync(dirname(files), { bigint: true }),
    ];
    return folder.isDirectory() && parent.isDirectory()
      ? `${folder.ino}:${parent.ino}:${parent.ctimeNs}`
      : null;
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return null;
  }
}

/** Whether the path still has the folder that was sealed. I3 */
export const isSameFolder = ({ files, id }: SealedFolder): boolean =>
  id === "" || readFolderId(files) === id;

/**
 * Where something is mounted at or below a folder; null if nothing is, or that cannot be known
 * here.
 */
export function findMountIn(folder: string): string | null {
  try {
    const realPath = realpathSync(folder);
    const escapedPath = escapeMountPath(realPath);
    const mountPoints = readFileSync("/proc/self/mountinfo", "latin1")
      .split("\n")
      .filter((row) => row.includes(escapedPath))
      .map((row) => unescapeMountPath(row.split(" ")[4] ?? ""));

    return (
      mountPoints.find((point) => point === realPath || point.startsWith(`${realPath}/`)) ?? null
    );
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return null;
  }
}

/** As the kernel's mount table has a path: `/a b` is `/a\040b`. */
const escapeMountPath = (path: string): string =>
  Buffer.from(path)
    .toString("latin1")
    .replaceAll(/[ \t\n\\]/g, (char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`);

function unescapeMountPath(escaped: string): string {
  const bytes = escaped.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/**
 * The seal's time for a folder that is complete now: the ctime of a new file beside it, on the same
 * disk. I2
 */
export async function takeSealNs(mark: string): Promise<string> {
  writeFileSync(mark, "");
  const { ctimeNs } = lstatSync(mark, { bigint: true });
  await sleep(tickMs);

  return String(ctimeNs);
}

/** The seal's time in a folder's note; null if it has none that can be used. */
export const readSealNs = (note: unknown): string | null => {
  const sealedNs = typeof note === "object" && note !== null && "made" in note ? note.made : null;
  return typeof sealedNs === "string" && /^\d{10,25}$/.test(sealedNs) ? sealedNs : null;
};

/** Whether it is still the folder that was sealed, and nothing at or below it changed since. */
export const isIntact = async (folder: SealedFolder): Promise<boolean> =>
  isSameFolder(folder) && findMountIn(dirname(folder.files)) === null && isUnchanged(folder);

/** Whether nothing at or below a folder changed since a time. */
export async function isUnchanged({
  files,
  sealedNs,
}: Pick<SealedFolder, "files" | "sealedNs">): Promise<boolean> {
  const sinceNs = BigInt(sealedNs);
  const findTime = `@${sinceNs / 1_000_000_000n}.${String(sinceNs % 1_000_000_000n).padStart(9, "0")}`;
  const find = findProgramOnPath("find");
  const answer = walkUnchanged(Buffer.from(files), sinceNs, {
    entriesLeft: find === null ? Number.POSITIVE_INFINITY : walkedEntriesMax,
  });
  if (answer !== "too many" || find === null) return answer === true;
  try {
    const { stdout } = await execFileAsync(find, [files, "-newerct", findTime, "-print", "-quit"], {
      timeout: findTimeoutMs,
      env: { ...process.env, LC_ALL: "C" },
    });
    return stdout === "";
  } catch {
    return (
      walkUnchanged(Buffer.from(files), sinceNs, { entriesLeft: Number.POSITIVE_INFINITY }) === true
    ); // some `find`s lack -newerct
  }
}

/**
 * The same by reading the ctime of every file and folder; gives up when `entriesLeft`, which it
 * counts down, is used up.
 */
function walkUnchanged(
  path: Buffer,
  sinceNs: bigint,
  limit: { entriesLeft: number },
): boolean | "too many" {
  if (limit.entriesLeft-- <= 0) return "too many";
  try {
    const stat = lstatSync(path, { bigint: true });
    if (stat.ctimeNs > sinceNs) return false;
    for (const name of stat.isDirectory() ? readdirSync(path, { encoding: "buffer" }) : []) {
      const answer = walkUnchanged(Buffer.concat([path, Buffer.from("/"), name]), sinceNs, limit);
      if (answer !== true) return answer;
    }

    return true;
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return false; // it vanished, or can't be read
  }
}

/**
 * Whether what these folders have at a path, if anything, was not changed since they were sealed.
 */
export const isIntactAt = (folders: readonly SealedFolder[], path: Buffer): boolean =>
  folders.every(({ files, sealedNs }) => {
    const changedNs = readChangeTime(Buffer.concat([Buffer.from(`${files}/`), path]));
    return changedNs === null || changedNs <= BigInt(sealedNs);
  });

/** Null if nothing is there, also where a part of the path is a file. */
function readChangeTime(path: Buffer): bigint | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? null;
  } catch (error) {
    if (readErrorCode(error) === "ENOTDIR") return null;
    throw error;
  }
}
