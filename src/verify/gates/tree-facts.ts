// tree-facts: reads what artifact rules need of a folder: its entries, and the beginning of a file's text.
//
// Invariants:
//   T1. No link is followed: not in the walk, not at the end of a path, not in its middle.
//   T2. The walk and every read are bounded, each and in total; a cut is reported.
//   T3. Git's own folders and installed packages aren't artifacts: a checkout may hold copies of them that no commit knows.
//   T4. What isn't text is not read as one: bytes that aren't UTF-8, a NUL, a file that changes under the reader.
//   T5. In stacked folders the first that has a name decides, as in the kernel's overlay: folders of one name are merged, and a character
//       device means that nothing is there.

import { closeSync, constants, type Dirent, fstatSync, openSync, readSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

export type Entry = { readonly kind: "file" | "link" | "folder" | "other"; readonly size: number };
export type Listing = {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly isWhole: boolean;
  /** In which of the listed folders a file is. */
  readonly folderOf: (path: string) => string;
};
/** The beginning of a file; with `fault`, why it isn't readable text. */
export type Text = { readonly text: string; readonly isWhole: boolean; readonly fault?: string };

export const listingLimits = { entriesMax: 200_000, depthMax: 64 } as const;
export const textBytesMax = 1024 * 1024;
/** For one judgement: limits of files and bytes. */
export const readingLimits = { filesMax: 10_000, bytesMax: 256 * 1024 * 1024 } as const;

/** Folders without artifacts, anywhere. */
export const unseenFolders: readonly string[] = [".git", "node_modules", ".venv", "venv"];
const unseen: ReadonlySet<string> = new Set(unseenFolders);

/** Every entry below a folder, or below stacked folders (T5), by its path with `/`, without non-artifacts. */
export async function listTree(
  folder: string | readonly string[],
  limits: { entriesMax: number; depthMax: number } = listingLimits,
): Promise<Listing> {
  const entries = new Map<string, Entry>();
  const top = typeof folder === "string" ? [folder] : folder;
  const lower = new Map<string, string>();
  let isWhole = true;
  const cursor = async (folders: readonly string[], path: string, depth: number): Promise<void> => {
    const items = await itemsOf(folders, path);
    for (const [name, { item, lies }] of items) {
      if (unseen.has(name)) continue; // T3
      const below = path === "" ? name : `${path}/${name}`;
      const [first = ""] = lies;
      if (item.isCharacterDevice() && folders.length > 1) continue; // T5
      if (entries.size >= limits.entriesMax || depth > limits.depthMax) {
        isWhole = false; // T2
        return;
      }
      // A link's own kind, from the folder's listing and lstat (T1).
      if (item.isDirectory()) {
        entries.set(below, { kind: "folder", size: 0 });
        await cursor(lies, below, depth + 1);
      } else if (item.isFile()) {
        entries.set(below, { kind: "file", size: (await lstat(join(first, below))).size });
        if (first !== top[0]) lower.set(below, first);
      } else entries.set(below, { kind: item.isSymbolicLink() ? "link" : "other", size: 0 });
    }
  };
  await cursor(top, "", 1);
  return { entries, isWhole, folderOf: (path) => lower.get(path) ?? top[0] ?? "" };
}

/** What is at a path of each folder, and for a folder its layers: until something hides what is below (T5). */
async function itemsOf(
  folders: readonly string[],
  path: string,
): Promise<ReadonlyMap<string, { readonly item: Dirent; readonly lies: readonly string[] }>> {
  const found = new Map<string, { readonly item: Dirent; readonly lies: string[]; isOpen: boolean }>();
  for (const folder of folders)
    for (const item of await readdir(join(folder, path), { withFileTypes: true })) {
      const known = found.get(item.name);
      if (known === undefined) found.set(item.name, { item, lies: [folder], isOpen: item.isDirectory() });
      else if (known.isOpen && item.isDirectory()) known.lies.push(folder);
      else known.isOpen = false;
    }
  return found;
}

const rememberedMax = 64;

/** Reads the beginning of a listed regular file as text; null if it isn't one (any more). */
export function textReader(
  listing: Listing,
  limits: { filesMax: number; bytesMax: number } = readingLimits,
): (path: string) => Text | null {
  const known = new Map<string, Text | null>();
  const spent = { files: 0, bytes: 0 };
  return (path) => {
    const before = known.get(path);
    if (before !== undefined) return before;
    if (listing.entries.get(path)?.kind !== "file") return null;
    if (spent.files >= limits.filesMax || spent.bytes >= limits.bytesMax)
      return { text: "", isWhole: false, fault: `too much to read: ${spent.files} files, ${spent.bytes} bytes before it` }; // T2
    // Only entries that the walk has reached are opened, so no parent folder was a link (T1).
    const text = readBeginning(join(listing.folderOf(path), path));
    spent.files += 1;
    spent.bytes += text?.text.length ?? 0;
    if (known.size >= rememberedMax) known.clear();
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
    // One byte more than its size, to detect a file that grows meanwhile.
    const bytes = Buffer.alloc(Math.min(stat.size, textBytesMax) + 1); // T2
    let filled = 0;
    for (let read = -1; read !== 0 && filled < bytes.length; filled += read)
      read = readSync(file, bytes, filled, bytes.length - filled, filled);
    if (filled !== stat.size && !(filled === bytes.length && stat.size > textBytesMax))
      return { text: "", isWhole: false, fault: "a file that changed while it was read" }; // T4
    return textOf(bytes.subarray(0, Math.min(filled, textBytesMax)), stat.size <= textBytesMax);
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** A file's bytes as text. A cut end may be inside a character. */
function textOf(bytes: Uint8Array, isWhole: boolean): Text {
  const nul = bytes.indexOf(0);
  if (nul >= 0) return { text: "", isWhole, fault: `no text: a NUL at byte ${nul}` }; // T4
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole }), isWhole };
  } catch {
    return { text: "", isWhole, fault: "no text: bytes that are not UTF-8" }; // T4
  }
}
