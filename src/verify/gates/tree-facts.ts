// tree-facts: reads what artifact rules need to know of a folder: its entries, and the beginning of
// a file's text.
//
// Invariants:
//   T1. No link is followed: not in the walk, not at the end of a path, not in its middle.
//   T2. The walk and every read are bounded, each and in total; what was left out is reported.
//   T3. Git's own folders and installed packages aren't artifacts: a checkout may hold copies of
//       them that are in no commit.
//   T4. Only text is read as text: not bytes that aren't UTF-8, nor a NUL, nor a file that changes
//       while it is read.
//   T5. In stacked folders the first that has a name decides, as in the kernel's overlay: folders
//       of the same name are merged, and a character device marks a name as deleted.

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
/** How much one judgement may read in total. */
export const readingLimits = { filesMax: 10_000, bytesMax: 256 * 1024 * 1024 } as const;

/** Folders without artifacts, anywhere. */
export const ignoredFolders: readonly string[] = [".git", "node_modules", ".venv", "venv"];
const ignoredNames: ReadonlySet<string> = new Set(ignoredFolders);

/**
 * Every entry below a folder, or below stacked folders (T5), by its path with `/`, without the
 * ignored folders.
 */
export async function listTree(
  folder: string | readonly string[],
  limits: { entriesMax: number; depthMax: number } = listingLimits,
): Promise<Listing> {
  const entries = new Map<string, Entry>();
  const topFolders = typeof folder === "string" ? [folder] : folder;
  const fileFolders = new Map<string, string>();
  let isWhole = true;

  const walk = async (folders: readonly string[], path: string, depth: number): Promise<void> => {
    const items = await readLayers(folders, path);
    for (const [name, { item, layers }] of items) {
      if (ignoredNames.has(name)) continue; // T3
      const entryPath = path === "" ? name : `${path}/${name}`;
      const [first = ""] = layers;
      if (item.isCharacterDevice() && folders.length > 1) continue; // T5
      if (entries.size >= limits.entriesMax || depth > limits.depthMax) {
        isWhole = false; // T2
        return;
      }

      // A link's own kind, from the folder's listing and lstat (T1).
      if (item.isDirectory()) {
        entries.set(entryPath, { kind: "folder", size: 0 });
        await walk(layers, entryPath, depth + 1);
      } else if (item.isFile()) {
        entries.set(entryPath, { kind: "file", size: (await lstat(join(first, entryPath))).size });
        if (first !== topFolders[0]) fileFolders.set(entryPath, first);
      } else {
        entries.set(entryPath, { kind: item.isSymbolicLink() ? "link" : "other", size: 0 });
      }
    }
  };
  await walk(topFolders, "", 1);
  return { entries, isWhole, folderOf: (path) => fileFolders.get(path) ?? topFolders[0] ?? "" };
}

/**
 * The items at a path of stacked folders, and for a folder its layers, down to the first that isn't
 * a folder (T5).
 */
async function readLayers(
  folders: readonly string[],
  path: string,
): Promise<ReadonlyMap<string, { readonly item: Dirent; readonly layers: readonly string[] }>> {
  const itemsByName = new Map<
    string,
    { readonly item: Dirent; readonly layers: string[]; isMergeable: boolean }
  >();

  for (const folder of folders) {
    for (const item of await readdir(join(folder, path), { withFileTypes: true })) {
      const earlier = itemsByName.get(item.name);
      if (earlier === undefined) {
        itemsByName.set(item.name, { item, layers: [folder], isMergeable: item.isDirectory() });
      } else if (earlier.isMergeable && item.isDirectory()) {
        earlier.layers.push(folder);
      } else {
        earlier.isMergeable = false;
      }
    }
  }

  return itemsByName;
}

const cachedMax = 64;

/** Reads the beginning of a listed regular file as text; null if it isn't one (any more). */
export function createTextReader(
  listing: Listing,
  limits: { filesMax: number; bytesMax: number } = readingLimits,
): (path: string) => Text | null {
  const cache = new Map<string, Text | null>();
  const used = { files: 0, bytes: 0 };
  return (path) => {
    const cached = cache.get(path);
    if (cached !== undefined) return cached;
    if (listing.entries.get(path)?.kind !== "file") return null;
    if (used.files >= limits.filesMax || used.bytes >= limits.bytesMax) {
      return {
        text: "",
        isWhole: false,
        fault: `too much to read: ${used.files} files, ${used.bytes} bytes before it`,
      };
    } // T2

    // Only entries that the walk has reached are opened, so no parent folder was a link (T1).
    const text = readBeginning(join(listing.folderOf(path), path));
    used.files += 1;
    used.bytes += text?.text.length ?? 0;
    if (cache.size >= cachedMax) cache.clear();
    cache.set(path, text);

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
    let filledBytes = 0;
    for (
      let readBytes = -1;
      readBytes !== 0 && filledBytes < bytes.length;
      filledBytes += readBytes
    ) {
      readBytes = readSync(file, bytes, filledBytes, bytes.length - filledBytes, filledBytes);
    }

    if (filledBytes !== stat.size && !(filledBytes === bytes.length && stat.size > textBytesMax)) {
      return { text: "", isWhole: false, fault: "a file that changed while it was read" };
    } // T4

    return decodeText(
      bytes.subarray(0, Math.min(filledBytes, textBytesMax)),
      stat.size <= textBytesMax,
    );
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** A file's bytes as text. A cut end may be inside a character. */
function decodeText(bytes: Uint8Array, isWhole: boolean): Text {
  const nul = bytes.indexOf(0);
  if (nul >= 0) return { text: "", isWhole, fault: `no text: a NUL at byte ${nul}` }; // T4
  try {
    return {
      text: new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isWhole }),
      isWhole,
    };
  } catch {
    return { text: "", isWhole, fault: "no text: bytes that are not UTF-8" }; // T4
  }
}
