// generated-files: the documents a playbook writes whole, each only when it changed. A foreign file of such a name is moved, never lost.
//
// Invariants:
//   S1. A file that this run has not written itself, byte for byte, is moved into the run's own folder before it is overwritten or deleted:
//       a foreign file, and a page of ours that a person has edited.
//   S2. A sheet that is on the disk as it should be is not written again.

import { createHash } from "node:crypto";
import { appendFileSync, existsSync, lstatSync, mkdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readOwnFile } from "../../project/own-file.ts";
import { isReachable, readBounded, syncFolder, writeWholeFile } from "./whole-file.ts";

export type GeneratedFiles = {
  /** `path` is relative to the user's checkout. */
  readonly draw: (path: string, text: string) => Promise<void>;
  /** Takes a sheet away that is not to be there. */
  readonly clear: (path: string) => Promise<void>;
  /** Makes a name this run's own: whatever is there is moved away, unless this run has drawn under it. */
  readonly claim: (path: string) => Promise<void>;
  /** Moves away what a person made of a sheet of ours. */
  readonly aside: (path: string) => Promise<void>;
  /** What was moved away since this was last asked that a person had written in, in words for them. */
  readonly remarks: () => readonly string[];
};

const generatedFileBytesMax = 64 * 1024 * 1024;

/** `folder`: the run's own, which remembers between two lives what was drawn. */
export function openGeneratedFiles(root: string, folder: string): GeneratedFiles {
  const listed = join(folder, "drawn");
  /** What was ever drawn, by path and hash: pages of many phases would be a lot to remember. */
  const known = drawnIn(listed);
  const latest = new Map<string, string>();
  let reported: string[] = [];

  const remember = (path: string, hash: string): void => {
    const hashes = known.get(path) ?? new Set();
    if (hashes.has(hash)) return;
    known.set(path, hashes.add(hash));
    appendFileSync(listed, `${path}\t${hash}\n`, { mode: 0o600 }); // before it is drawn: a crash in between leaves no page of ours unknown
  };
  const aside = async (path: string): Promise<void> => {
    const to = await setAside(root, path, folder); // S1
    if (to !== null && known.has(path))
      reported.push(`${path} was changed by somebody and is drawn anew; what they wrote is kept in ${to}`);
  };
  const isOurs = async (path: string): Promise<boolean> => {
    const read = await readBounded(root, path, generatedFileBytesMax);
    const hashes = known.get(path);
    return (
      read.kind === "absent" || (read.kind === "read" && (hashes?.has(contentHash(read.bytes)) === true || hashes?.has(anything) === true))
    );
  };

  return {
    aside,
    async claim(path) {
      if (known.has(path)) return;
      await aside(path);
      remember(path, "");
    },
    async draw(path, text) {
      const hash = contentHash(text);
      if (latest.get(path) === hash) return; // S2
      if (!(await isOnDisk(root, path, text))) {
        if (!(await isOurs(path))) await aside(path);
        remember(path, hash);
        await writeWholeFile(root, path, text);
      } else remember(path, hash);
      latest.set(path, hash);
    },
    async clear(path) {
      latest.delete(path);
      if (!isReachable(root, path) || lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() !== false) return;
      if (await isOurs(path)) await rm(join(root, path), { force: true });
      else await aside(path);
    },
    remarks() {
      const all = reported;
      reported = [];
      return all;
    },
  };
}

const contentHash = (content: string | Buffer): string => createHash("sha256").update(content).digest("base64");

/** What isn't a folder is moved to the same path below `set-aside` of the run, and where to is said; null if nothing was there. A link is moved itself. */
export async function setAside(root: string, path: string, folder: string): Promise<string | null> {
  if (!isReachable(root, path)) return null; // what is behind a link is none of ours
  const from = join(root, path);
  const stats = lstatSync(from, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return null;
  let to = join(folder, "set-aside", path);
  for (let n = 2; existsSync(to); n++) to = join(folder, "set-aside", `${path}.${n}`);
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  await rename(from, to);
  await syncFolder(dirname(to));
  return to;
}

async function isOnDisk(root: string, path: string, text: string): Promise<boolean> {
  const read = await readBounded(root, path, generatedFileBytesMax);
  return read.kind === "read" && read.bytes.equals(Buffer.from(text));
}

/** A line without a hash was written before hashes were: whatever is there then is this run's. */
const anything = "*";

function drawnIn(path: string): Map<string, Set<string>> {
  const drawn = new Map<string, Set<string>>();
  for (const line of readLines(path)) {
    const [name = "", hash = anything] = line.split("\t");
    drawn.set(name, (drawn.get(name) ?? new Set()).add(hash));
  }
  return drawn;
}

function readLines(path: string): readonly string[] {
  return (readOwnFile(path) ?? "").split("\n").filter(Boolean); // nothing if nothing was drawn yet
}
