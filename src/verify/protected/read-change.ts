// read-change: reads both texts of a changed file, up to a size.

import type { GitSha } from "../../contracts/ids.ts";
import type { Difference, Workspace } from "../../ports/workspace.ts";
import type { ChangedFile } from "./judge.ts";

export type TreeReader = Pick<Workspace, "differences" | "pathsAt" | "textAt">;
export type CommitRange = { readonly base: GitSha; readonly commit: GitSha };

export const textBytesMax = 512 * 1024;
/** The differences after this many are not read: only their content hashes are compared. */
const differencesReadMax = 1_000;

/** `index`: the difference's place among those that are read. */
export async function readChange(
  workspace: TreeReader,
  { base, commit }: CommitRange,
  difference: Difference,
  index: number,
): Promise<ChangedFile> {
  const { path, kind } = difference;
  const mayRead = index < differencesReadMax;
  const isAtBase = kind !== "added";
  const isAtCommit = kind !== "deleted";

  return {
    difference,
    before: mayRead && isAtBase ? await workspace.textAt(base, path, textBytesMax) : null,
    after: mayRead && isAtCommit ? await workspace.textAt(commit, path, textBytesMax) : null,
  };
}
