// tree-facts: what artifact rules may know of a folder: its entries, and the beginning of a file's text.
//
// Invariants:
//   T1. No link is followed: not in the walk, not at the end of a path, not in its middle.
//   T2. The walk and every read are bounded; what was cut off is said.
//   T3. Git's own folders and installed packages are no artifacts: a checkout may hold copies of them that no commit knows.

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export type Entry = { readonly kind: "file" | "link" | "folder" | "other"; readonly size: number };
export type Listing = { readonly entries: ReadonlyMap<string, Entry>; readonly isWhole: boolean };
export type Text = { readonly text: string; readonly isWhole: boolean };

export const listingLimits = { entriesMax: 200_000, depthMax: 64 } as const;
export const textBytesMax = 1024 * 1024;

const unseen: ReadonlySet<string> = new Set([".git", "node_modules", ".venv", "venv"]);

/** Every entry below a folder by its path with `/`, less what is no artifact. */
export async function listTree(folder: string, limits: { entriesMax: number; depthMax: number } = listingLimits): Promise<Listing> {
  const entries = new Map<string, Entry>();
  let isWhole = true;
  const walk = async (path: string, depth: number): Promise<void> => {
    for (const item of await readdir(join(folder, path), { withFileTypes: true })) {
      if (unseen.has(item.name)) continue; // T3
      const name = path === "" ? item.name : `${path}/${item.name}`;
      if (entries.size >= limits.entriesMax || depth > limits.depthMax) {
        isWhole = false; // T2
        return;
      }
      // A link's own kind is what a folder's listing and lstat tell (T1).
      if (item.isDirectory()) {
        entries.set(name, { kind: "folder", size: 0 });
        await walk(name, depth + 1);
      } else if (item.isFile()) entries.set(name, { kind: "file", size: (await lstat(join(folder, name))).size });
      else entries.set(name, { kind: item.isSymbolicLink() ? "link" : "other", size: 0 });
    }
  };
  await walk("", 1);
  return { entries, isWhole };
}

/** Reads the beginning of a listed regular file as text; null where it is none, or is none any more. */
export function textReader(folder: string, listing: Listing): (path: string) => Text | null {
  const known = new Map<string, Text | null>();
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    // Only what the walk has reached is opened, so no folder on the way was a link (T1).
    const text = listing.entries.get(path)?.kind === "file" ? readBeginning(join(folder, path)) : null;
    if (known.size >= 64) known.clear();
    known.set(path, text);
    return text;
  };
}

function readBeginning(path: string): Text | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK); // T1
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return null;
    const bytes = Buffer.alloc(Math.min(stat.size, textBytesMax)); // T2
    let filled = 0;
    for (let read = -1; read !== 0 && filled < bytes.length; filled += read)
      read = readSync(file, bytes, filled, bytes.length - filled, filled);
    return { text: new TextDecoder().decode(bytes.subarray(0, filled)), isWhole: filled >= stat.size };
  } finally {
    closeSync(file);
  }
}
