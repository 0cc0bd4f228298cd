// files-in-the-way: finds untracked files, also ignored ones, at paths where a merge would put new
// files.

import { listSome } from "../../kit/list-some.ts";
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { readErrorCode } from "../failure.ts";
import {
  type BytePath,
  bytePathFromBytes,
  displayPath,
  joinBytePath,
  listParentFolders,
  toDiskPath,
} from "../git/byte-path.ts";
import type { TreeDifference } from "../git/tree-folders.ts";

const namesShownMax = 5;

/**
 * The untracked files of a checkout where these differences would put a file: at its path, below
 * it, or in place of a folder above it. Files that the differences delete are not in the way.
 */
export function findFilesInTheWay(
  { root }: { readonly root: string },
  differences: readonly TreeDifference[],
): readonly string[] {
  const removed = new Set(
    differences.filter(({ after }) => after === undefined).map(({ path }) => path),
  );

  const inTheWay = new Set<BytePath>();
  for (const { path, before } of differences) {
    if (before !== undefined) continue;
    const fileAbove = listParentFolders(path).find(
      (folder) => statIn(root, folder)?.isDirectory() === false,
    );
    if (fileAbove !== undefined) {
      if (!removed.has(fileAbove)) inTheWay.add(fileAbove);
      continue;
    }

    for (const file of listFilesAt(root, path)) if (!removed.has(file)) inTheWay.add(file);
  }

  return [...inTheWay].map(displayPath);
}

/** The path itself, or all files below it if it is a folder; nothing if there is nothing. */
function listFilesAt(root: string, path: BytePath): readonly BytePath[] {
  const stat = statIn(root, path);
  if (stat?.isDirectory() !== true) return stat === undefined ? [] : [path];
  const names = readdirSync(toDiskPath(root, path), { encoding: "buffer" });

  return names.flatMap((name) => listFilesAt(root, joinBytePath(path, bytePathFromBytes(name))));
}

/** Undefined if nothing is there, also if something above the path isn't a folder. */
function statIn(root: string, path: BytePath): Stats | undefined {
  try {
    return lstatSync(toDiskPath(root, path));
  } catch (error) {
    const code = readErrorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** The sentence about files in the way, and what to do. */
export const describeFilesInTheWay = (names: readonly string[]): string =>
  `Files git does not track (ignored ones too: .gitignore, .git/info/exclude) are in the way; move them away: ${formatShortList(names)}`;

export const formatShortList = (names: readonly string[]): string => listSome(names, namesShownMax);
