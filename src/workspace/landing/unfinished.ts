// unfinished: finds an operation of git's that a person has begun and not ended, and that moving a branch would break.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { readSmallFile } from "../folder.ts";
import type { Repository } from "../git/repository.ts";

/** What git keeps while it waits for its user to go on, beside the checkout's HEAD. */
const markers: readonly (readonly [file: string, operation: string])[] = [
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
];
const lineBytesMax = 4_096;
const rebaseFolders = ["rebase-merge", "rebase-apply"];

/** A rebase of this branch in any checkout, or another operation in one that has it; null if there is none. */
export async function findUnfinished({ gitDir, commonDir }: Repository, ref: string): Promise<string | null> {
  const linked = await readdir(join(commonDir, "worktrees")).catch((): string[] => []);
  for (const folder of new Set([gitDir, commonDir, ...linked.map((name) => join(commonDir, "worktrees", name))])) {
    const where = linked.includes(basename(folder)) ? ` in the worktree ${basename(folder)}` : "";
    if (rebaseFolders.some((name) => readLine(join(folder, name, "head-name")) === ref)) return `it is being rebased${where}`;
    if (readLine(join(folder, "HEAD")) !== `ref: ${ref}`) continue;
    const operation = markers.find(([name]) => existsSync(join(folder, name)))?.[1];
    if (operation !== undefined) return `${operation} is unfinished${where}`;
  }
  return null;
}

function readLine(path: string): string | null {
  try {
    return readSmallFile(path, lineBytesMax)?.toString("utf8").trim() ?? null;
  } catch {
    return null; // a folder of that name, or not ours to read
  }
}
