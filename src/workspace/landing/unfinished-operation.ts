// unfinished-operation: finds a git operation (rebase, merge, cherry-pick, revert) that a person
// has begun and not finished, and that moving the branch would break.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { readSmallFile } from "../folder.ts";
import { readBranchOfHead } from "../git/refs.ts";
import type { Repository } from "../git/repository.ts";

/** Files that git keeps beside the checkout's HEAD while it waits for its user to go on. */
const markers: readonly (readonly [file: string, operation: string])[] = [
  ["MERGE_HEAD", "a merge"],
  ["CHERRY_PICK_HEAD", "a cherry-pick"],
  ["REVERT_HEAD", "a revert"],
];
const lineBytesMax = 4_096;
const rebaseFolders = ["rebase-merge", "rebase-apply"];

/** What keeps a branch from being moved, and the checkout that it happens in. */
export type UnfinishedOperation = { readonly detail: string; readonly checkout: string };

/**
 * A rebase of this branch in any checkout, or another operation in one that has it; null if there
 * is none.
 */
export async function findUnfinishedOperation(
  { root, gitDir, commonDir }: Repository,
  ref: string,
): Promise<UnfinishedOperation | null> {
  const branch = ref.replace(/^refs\/heads\//, "");
  const linked = await readdir(join(commonDir, "worktrees")).catch((): string[] => []);
  const mainCheckout = basename(commonDir) === ".git" ? dirname(commonDir) : commonDir; // as `git worktree list` has it

  const checkouts = [
    { folder: gitDir, checkout: root, where: "" },
    { folder: commonDir, checkout: mainCheckout, where: ` in ${mainCheckout}` },
    ...linked.map((name) => {
      const folder = join(commonDir, "worktrees", name);
      return {
        folder,
        checkout: dirname(readLine(join(folder, "gitdir")) ?? join(root, ".git")),
        where: ` in the worktree ${name}`,
      };
    }),
  ];

  for (const { folder, checkout, where } of checkouts) {
    const describe = (problem: string): UnfinishedOperation => ({
      detail: `${branch} can't be moved: ${problem}${where}`,
      checkout,
    });

    if (rebaseFolders.some((name) => readLine(join(folder, name, "head-name")) === ref)) {
      return describe("it is being rebased");
    }

    if (ifReadable(() => readBranchOfHead(folder)) !== ref) continue;
    const operation = markers.find(([name]) => existsSync(join(folder, name)))?.[1];
    if (operation !== undefined) return describe(`${operation} is unfinished`);
  }

  return null;
}

const readLine = (path: string): string | null =>
  ifReadable(() => readSmallFile(path, lineBytesMax)?.toString("utf8").trim() ?? null);

/** What was read; null if a folder has the file's name, or we may not read it. */
function ifReadable(read: () => string | null): string | null {
  try {
    return read();
  } catch {
    return null;
  }
}
