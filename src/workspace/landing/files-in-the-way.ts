// files-in-the-way: untracked files, also ignored ones, where a merge would put new files.

import { lstatSync, readdirSync, type Stats } from "node:fs";
import { readErrorCode } from "../failure.ts";
import { type BytePath, bytePathBytes, bytePathFromBytes, displayPath, joinBytePath, listParentFolders } from "../git/byte-path.ts";
import type { TreeDifference } from "../git/tree-folders.ts";

const namesShownMax = 5;

/**
 * What a checkout has, without git knowing of it, where these differences would put a file: at its path, below it, or in the place of a
 * folder above it. What they take away themselves is not in the way.
 */
export function findFilesInTheWay({ root }: { readonly root: string }, differences: readonly TreeDifference[]): readonly string[] {
  const removed = new Set(differences.filter(({ now }) => now === undefined).map(({ path }) => path));
  const inTheWay = new Set<BytePath>();
  for (const { path, was } of differences) {
    if (was !== undefined) continue;
    const above = listParentFolders(path).find((folder) => statIn(root, folder)?.isDirectory() === false);
    if (above !== undefined) {
      if (!removed.has(above)) inTheWay.add(above);
      continue;
    }
    for (const file of filesAt(root, path)) if (!removed.has(file)) inTheWay.add(file);
  }
  return [...inTheWay].map(displayPath);
}

/** The path itself, or all files below it if it is a folder; nothing if there is nothing. */
function filesAt(root: string, path: BytePath): readonly BytePath[] {
  const stat = statIn(root, path);
  if (stat?.isDirectory() !== true) return stat === undefined ? [] : [path];
  const names = readdirSync(bytesIn(root, path), { encoding: "buffer" });
  return names.flatMap((name) => filesAt(root, joinBytePath(path, bytePathFromBytes(name))));
}

/** Undefined if there is nothing, also where something above the path is no folder. */
function statIn(root: string, path: BytePath): Stats | undefined {
  try {
    return lstatSync(bytesIn(root, path));
  } catch (error) {
    const errno = readErrorCode(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") return undefined;
    throw error;
  }
}

const bytesIn = (root: string, path: BytePath): Buffer => Buffer.concat([Buffer.from(`${root}/`), bytePathBytes(path)]);

export const describeFilesInTheWay = (names: readonly string[]): string =>
  `Files git does not track (ignored ones too: .gitignore, .git/info/exclude) are in the way; move them away: ${formatShortList(names)}`;

export const formatShortList = (names: readonly string[]): string =>
  `${names.slice(0, namesShownMax).join(", ")}${names.length > namesShownMax ? ` and ${names.length - namesShownMax} more` : ""}`;
