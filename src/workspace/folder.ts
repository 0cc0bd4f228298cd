// folder: creates and deletes whole folders and small files so that a crash leaves the old or the new, never a half.
//
// Invariants:
//   F1. A folder is renamed away before anything in it is deleted, so its name never shows a half-deleted tree.
//   F2. Deleting follows no link.
//   F3. Reading never blocks and ends: only regular files are read.

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { errorErrno } from "./failure.ts";

const run = promisify(execFile);
const eraseTimeoutMs = 600_000;

/** Writes a small file atomically: temp file, sync, rename, sync of the folder. Private to its owner by default. */
export async function writeWhole(path: string, text: string | Buffer, mode?: number): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(text);
    if (mode !== undefined) await file.chmod(mode);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const jsonBytesMax = 64 << 20;

/** A JSON file's content, or null if there is none or it isn't JSON. */
export async function readJson(path: string): Promise<unknown> {
  try {
    const bytes = readSmallFile(path, jsonBytesMax);
    return bytes === null ? null : (JSON.parse(bytes.toString("utf8")) as unknown);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** A regular file's bytes; null if there is none, if it is something else (a pipe, a device: F3), or larger. */
export function readSmallFile(path: string, bytesMax: number): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ENXIO", "ELOOP"].includes(errorErrno(error) ?? "")) return null;
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= bytesMax ? readFileSync(fd) : null;
  } finally {
    closeSync(fd);
  }
}

/** Deletes a folder. What cannot be deleted stays in `trash`. */
export async function discard(folder: string, trash: string): Promise<void> {
  const trashed = await moveToTrash(folder, trash);
  if (trashed !== null) await erase(trashed);
}

/** Renames a folder away, to be deleted later; null if there was none. */
export async function moveToTrash(folder: string, trash: string): Promise<string | null> {
  await mkdir(trash, { recursive: true, mode: 0o700 });
  const grave = join(trash, randomUUID());
  try {
    await rename(folder, grave); // F1
    return grave;
  } catch (error) {
    if (errorErrno(error) === "ENOENT") return null;
    throw error;
  }
}

/** Deletes a folder; folders made unreadable on purpose are opened first. */
export async function erase(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true }); // F2
  } catch {
    makeDeletable(folder);
    // What is nested too deep for a path can only be deleted from inside, which `rm` does.
    await rm(folder, { recursive: true, force: true }).catch(() =>
      run("rm", ["-rf", "--", folder], { timeout: eraseTimeoutMs }).catch(() => undefined),
    );
  }
}

function makeDeletable(folder: string): void {
  try {
    if (!lstatSync(folder).isDirectory()) return;
    chmodSync(folder, 0o700);
    for (const entry of readdirSync(folder, { withFileTypes: true, encoding: "buffer" })) {
      if (entry.isDirectory()) makeDeletable(join(folder, entry.name.toString("utf8")));
    }
  } catch {
    // What cannot be opened is left in the trash.
  }
}
