// sheets: the documents a face draws whole, each only when it changed. What somebody else left under such a name is moved, never lost.
//
// Invariants:
//   S1. A file that this run has not drawn before is moved into the run's own folder before it is drawn over or taken away.
//   S2. A sheet that is on the disk as it should be is not written again.

import { createHash } from "node:crypto";
import { appendFileSync, existsSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isReached, readBounded, syncFolder, writeWholeFile } from "./whole-file.ts";

export type Sheets = {
  /** `path` is relative to the user's checkout. */
  readonly draw: (path: string, text: string) => Promise<void>;
  /** Takes a sheet away that is not to be there. */
  readonly clear: (path: string) => Promise<void>;
  /** Makes a name this run's own: whatever lies there is moved away, unless this run drew it. True where something was moved. */
  readonly claim: (path: string) => Promise<boolean>;
};

const sheetBytesMax = 64 * 1024 * 1024;

/** `folder`: the run's own, which remembers between two lives what was drawn. */
export function openSheets(root: string, folder: string): Sheets {
  const listed = join(folder, "drawn");
  const known = new Set(namesIn(listed));
  /** What was last drawn, by hash: pages of many phases would be a lot to remember. */
  const latest = new Map<string, string>();

  const claim = async (path: string): Promise<boolean> => {
    if (known.has(path)) return false;
    const isMoved = await setAside(root, path, folder); // S1
    known.add(path);
    appendFileSync(listed, `${path}\n`, { mode: 0o600 });
    return isMoved;
  };

  return {
    claim,
    async draw(path, text) {
      const drawn = createHash("sha256").update(text).digest("base64");
      if (latest.get(path) === drawn) return; // S2
      if (latest.has(path) || !(await isOnDisk(root, path, text))) {
        await claim(path);
        await writeWholeFile(root, path, text);
      }
      latest.set(path, drawn);
    },
    async clear(path) {
      latest.delete(path);
      if (!isReached(root, path) || lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() !== false) return;
      if (!(await claim(path))) await rm(join(root, path), { force: true });
    },
  };
}

/** What is no folder is moved to the same path below `set-aside` of the run; false where nothing was there. A link is moved itself. */
export async function setAside(root: string, path: string, folder: string): Promise<boolean> {
  if (!isReached(root, path)) return false; // what lies behind a link is none of ours
  const from = join(root, path);
  const stats = lstatSync(from, { throwIfNoEntry: false });
  if (stats === undefined || stats.isDirectory()) return false;
  let to = join(folder, "set-aside", path);
  for (let n = 2; existsSync(to); n++) to = join(folder, "set-aside", `${path}.${n}`);
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  await rename(from, to);
  await syncFolder(dirname(to));
  return true;
}

async function isOnDisk(root: string, path: string, text: string): Promise<boolean> {
  const read = await readBounded(root, path, sheetBytesMax);
  return read.kind === "read" && read.bytes.equals(Buffer.from(text));
}

function namesIn(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return []; // nothing was drawn yet
  }
}
