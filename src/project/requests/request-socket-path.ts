// request-socket-path: finds the path of a run's socket. A socket's path is limited to about a
// hundred bytes, so a run in a deep folder has its socket in a private folder under the system's
// temporary folder, recorded in control.json.
//
// Invariant:
//   K1. A socket outside the run's folder is used only in a folder that is private to the user, and
//       only under the name derived from the run's own path; whatever control.json says.

import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { sha256 } from "../sha256.ts";

const socketPathBytesMax = 100;
const controlBytesMax = 4096;

/** The owner's side: a path that can be bound, or null if none can be trusted. */
export async function chooseSocketPath(runDir: string): Promise<string | null> {
  const folder = await realpath(runDir);
  const pathInRun = join(folder, "control.sock");
  const control = join(folder, "control.json");
  await rm(control, { force: true });
  if (Buffer.byteLength(pathInRun) <= socketPathBytesMax) return pathInRun;
  const privateFolder = join(tmpdir(), getPrivateFolderName());
  await mkdir(privateFolder, { mode: 0o700 }).catch(() => undefined);
  const path = join(privateFolder, toSocketName(folder));
  if (Buffer.byteLength(path) > socketPathBytesMax || !(await isPrivate(privateFolder))) {
    return null;
  } // K1

  await writeFile(control, `${JSON.stringify({ socket: path })}\n`, { mode: 0o600, flag: "wx" });
  return path;
}

/** The sender's side: where the owner would listen, or null. */
export async function findSocketPath(runDir: string): Promise<string | null> {
  const folder = await realpath(runDir);
  const pathInRun = join(folder, "control.sock");
  if (Buffer.byteLength(pathInRun) <= socketPathBytesMax) return pathInRun;
  const recorded = await readControl(join(folder, "control.json"));
  if (recorded === null || !isAbsolute(recorded)) return null;
  const parent = dirname(recorded);
  if (basename(recorded) !== toSocketName(folder) || basename(parent) !== getPrivateFolderName()) {
    return null;
  } // K1

  return (await isPrivate(parent)) ? recorded : null;
}

/**
 * Removes the socket of an owner that died. False if another kind of file is there: it isn't ours,
 * and is left alone.
 */
export async function clearSocket(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => null);
  if (stat === null) return true;
  if (!stat.isSocket() && !stat.isSymbolicLink()) return false;
  await rm(path, { force: true });

  return true;
}

async function isPrivate(folder: string): Promise<boolean> {
  const stat = await lstat(folder).catch(() => null);
  return (
    stat !== null &&
    stat.isDirectory() &&
    stat.uid === process.getuid?.() &&
    (stat.mode & 0o077) === 0
  );
}

/** The socket's path that the owner has recorded; null if there is none that can be read. */
async function readControl(path: string): Promise<string | null> {
  const file = await open(
    path,
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  ).catch(() => null);
  if (file === null) return null;
  try {
    const { bytesRead, buffer } = await file.read(
      Buffer.alloc(controlBytesMax),
      0,
      controlBytesMax,
      0,
    );
    const value: unknown = JSON.parse(buffer.toString("utf8", 0, bytesRead));
    return typeof value === "object" &&
      value !== null &&
      "socket" in value &&
      typeof value.socket === "string"
      ? value.socket
      : null;
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

const getPrivateFolderName = (): string => `autopilot-${process.getuid?.() ?? "user"}`;
const toSocketName = (folder: string): string => `${sha256(folder).slice(0, 24)}.sock`;
