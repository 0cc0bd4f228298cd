// generated-files: writes the files a playbook generates, each only when it changed. Another file
// in its place is moved away, never lost.
//
// Invariants:
//   S1. A file that this run has not written itself, byte for byte, is moved into the run's own
//       folder before it is overwritten or deleted: a foreign file, and a page of ours that a
//       person has edited.
//   S2. Content that is on disk, or that this process wrote last, is not written again.

import { createHash } from "node:crypto";
import { appendFileSync, existsSync, lstatSync, mkdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readOwnFile } from "../../project/own-file.ts";
import { isReachable, readBounded, syncFolder, writeWholeFile } from "./whole-file.ts";

export type GeneratedFiles = {
  /** `path` is relative to the user's checkout. */
  readonly write: (path: string, text: string) => Promise<void>;
  /** Deletes a generated file that should no longer exist. */
  readonly remove: (path: string) => Promise<void>;
  /**
   * Reserves a path for this run: whatever is there is moved away, unless this run wrote or
   * reserved it before.
   */
  readonly claim: (path: string) => Promise<void>;
  /** Moves away whatever is at this path, with a warning if this run has written there. */
  readonly moveAside: (path: string) => Promise<void>;
  /** A message for each edited file that was moved away since the last call. */
  readonly takeWarnings: () => readonly string[];
};

const generatedFileBytesMax = 64 * 1024 * 1024;

/** `folder` is the run's own; it keeps the hashes of written files between two processes. */
export function openGeneratedFiles(root: string, folder: string): GeneratedFiles {
  const hashListPath = join(folder, "drawn"); // the name that earlier versions gave it
  /** Hashes of everything this run ever wrote; the texts themselves would be too much to keep. */
  const hashesByPath = loadHashes(hashListPath);
  /** What this process wrote or found last at each path. */
  const latestHashes = new Map<string, string>();
  let warnings: string[] = [];

  const recordHash = (path: string, hash: string): void => {
    const hashes = hashesByPath.get(path) ?? new Set();
    if (hashes.has(hash)) return;
    hashesByPath.set(path, hashes.add(hash));
    // Before the file is written: after a crash in between, the file is still known as ours.
    appendFileSync(hashListPath, `${path}\t${hash}\n`, { mode: 0o600 });
  };

  const moveAside = async (path: string): Promise<void> => {
    const movedTo = await setAside(root, path, folder);
    if (movedTo !== null && hashesByPath.has(path)) {
      warnings.push(
        `${path} was changed by somebody and is drawn anew; what they wrote is kept in ${movedTo}`,
      );
    }
  };

  /**
   * Whether nothing would be lost if the file were overwritten: it isn't there, or has content that
   * this run once wrote.
   */
  const isOurs = async (path: string): Promise<boolean> => {
    const file = await readBounded(root, path, generatedFileBytesMax);
    if (file.kind !== "read") return file.kind === "absent";
    const hashes = hashesByPath.get(path);

    return hashes !== undefined && (hashes.has(anyHash) || hashes.has(contentHash(file.bytes)));
  };

  return {
    moveAside,
    async claim(path) {
      if (hashesByPath.has(path)) return;
      await moveAside(path);
      recordHash(path, ""); // claimed, but no content is ours yet
    },
    async write(path, text) {
      const hash = contentHash(text);
      if (latestHashes.get(path) === hash) return; // S2
      if (!(await hasContent(root, path, text))) {
        if (!(await isOurs(path))) await moveAside(path); // S1
        recordHash(path, hash);
        await writeWholeFile(root, path, text);
      } else {
        recordHash(path, hash);
      }

      latestHashes.set(path, hash);
    },
    async remove(path) {
      latestHashes.delete(path);
      const stats = isReachable(root, path)
        ? lstatSync(join(root, path), { throwIfNoEntry: false })
        : undefined;
      if (stats === undefined || stats.isDirectory()) return;
      if (await isOurs(path)) await rm(join(root, path), { force: true });
      else await moveAside(path); // S1
    },
    takeWarnings() {
      const takenWarnings = warnings;
      warnings = [];
      return takenWarnings;
    },
  };
}

const contentHash = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("base64");

/**
 * Moves a file or link to the same path below the run's `set-aside` folder and returns the new
 * path; null if no file is there.
 */
export async function setAside(root: string, path: string, folder: string): Promise<string | null> {
  if (!isReachable(root, path)) return null; // never touch what is behind a link
  const source = join(root, path);
  const stats = lstatSync(source, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return null;
  let target = join(folder, "set-aside", path);
  for (let copyNumber = 2; existsSync(target); copyNumber++) {
    target = join(folder, "set-aside", `${path}.${copyNumber}`);
  }

  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  await rename(source, target);
  await syncFolder(dirname(target));

  return target;
}

async function hasContent(root: string, path: string, text: string): Promise<boolean> {
  const file = await readBounded(root, path, generatedFileBytesMax);
  return file.kind === "read" && file.bytes.equals(Buffer.from(text));
}

/**
 * For a line without a hash, as earlier versions wrote them: any content of that file counts as
 * this run's.
 */
const anyHash = "*";

/** The hashes by path. A line of the list: `quality/PROGRESS.md`, a tab, the hash in base64. */
function loadHashes(path: string): Map<string, Set<string>> {
  const hashesByPath = new Map<string, Set<string>>();
  for (const line of readLines(path)) {
    const [name = "", hash = anyHash] = line.split("\t");
    hashesByPath.set(name, (hashesByPath.get(name) ?? new Set()).add(hash));
  }

  return hashesByPath;
}

function readLines(path: string): readonly string[] {
  return (readOwnFile(path) ?? "").split("\n").filter(Boolean); // the list does not exist before the first write
}
