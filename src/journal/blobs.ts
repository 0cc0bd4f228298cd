// blobs: stores payloads too large for a line, each under its own hash. A blob is on disk before
// the event that names it.

import { hash } from "node:crypto";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Hash } from "../contracts/ids.ts";
import type { Disk } from "./disk.ts";
import { makeFolder, nodeDisk, readFlags, replaceFile, syncFolder } from "./disk.ts";
import { errorCode, damaged, JournalFailure } from "./journal-failure.ts";
import { openFile } from "./open-file.ts";

export const blobBytesMax = 256 * 1024 * 1024;
/** Also keeps a name that was read somewhere from leading out of the folder. */
const hashPattern = /^[0-9a-f]{64}$/;

/**
 * Stores bytes durably under their hash; those that are there already and intact are not written
 * again.
 */
export function writeBlob(disk: Disk, dir: string, content: string | Uint8Array): Hash {
  const bytes = toBlobBytes(content);
  const name = hash("sha256", bytes);
  const folder = join(dir, "blobs", name.slice(0, 2));
  const path = join(folder, name);
  makeFolder(disk, join(dir, "blobs"));
  makeFolder(disk, folder);

  if (hasBlob(dir, name)) {
    // It may have been renamed into place just before a crash: made durable before an event names
    // it.
    syncFolder(disk, folder);
    return name;
  }

  replaceFile(disk, path, `${path}.tmp`, bytes);
  return name;
}

/** The bytes as they will be stored, within the limit. */
export function toBlobBytes(content: string | Uint8Array): Uint8Array {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  if (bytes.length > blobBytesMax) {
    throw new JournalFailure({
      kind: "event_too_large",
      bytes: bytes.length,
      bytesMax: blobBytesMax,
    });
  }

  return bytes;
}

/** A blob's bytes, after a check that they still have the hash they are named by. Needs no lock. */
export function readBlob(dir: string, name: Hash): Buffer {
  if (!hashPattern.test(name)) throw damaged(null, null, "a blob is named by 64 hex digits");
  let fd: number;

  try {
    fd = openFile(nodeDisk, join(dir, "blobs", name.slice(0, 2), name), readFlags);
  } catch (error) {
    throw damaged(
      null,
      null,
      `blob ${name} cannot be read (${errorCode(error) ?? "not a file"})`,
      error,
    );
  }

  try {
    const bytes = fstatSync(fd).size > blobBytesMax ? null : readFileSync(fd);
    if (bytes === null || hash("sha256", bytes) !== name) {
      throw damaged(null, null, `blob ${name} is not what its name says`);
    }

    return bytes;
  } finally {
    closeSync(fd);
  }
}

/** Whether a blob exists and is intact; writing a damaged one replaces it. */
export function hasBlob(dir: string, name: Hash): boolean {
  try {
    readBlob(dir, name);
    return true;
  } catch {
    return false;
  }
}
