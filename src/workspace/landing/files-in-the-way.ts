// files-in-the-way: untracked files, also ignored ones, where a merge would put new files.

import { lstatSync } from "node:fs";
import type { GitSha } from "../../contracts/ids.ts";
import { type BytePath, bytePathBytes, displayPath } from "../git/byte-path.ts";
import type { GitCall } from "../git/git.ts";
import { filesBetween } from "../git/tree-folders.ts";

const namesShownMax = 5;

export const findAddedFiles = async (call: Omit<GitCall, "args">, from: GitSha, to: GitSha): Promise<readonly BytePath[]> =>
  (await filesBetween(call, from, to)).filter(({ was }) => was === undefined).map(({ path }) => path);

/** Those of the paths at which a checkout has something. */
export const existingFiles = ({ root }: { readonly root: string }, paths: readonly BytePath[]): readonly string[] =>
  paths
    .filter((path) => lstatSync(Buffer.concat([Buffer.from(`${root}/`), bytePathBytes(path)]), { throwIfNoEntry: false }) !== undefined)
    .map((path) => displayPath(path));

export const filesInTheWayMessage = (names: readonly string[]): string =>
  `Files git does not track are in the way; move them away: ${shortList(names)}`;

export const shortList = (names: readonly string[]): string =>
  `${names.slice(0, namesShownMax).join(", ")}${names.length > namesShownMax ? ` and ${names.length - namesShownMax} more` : ""}`;
