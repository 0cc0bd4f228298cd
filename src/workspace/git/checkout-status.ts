// checkout-status: lists uncommitted files of the user's checkout, with the user's own
// configuration so that their filters and line endings count.

import { listSome } from "../../kit/list-some.ts";
import { bytePathFromBytes, displayPath } from "./byte-path.ts";
import { git } from "./git.ts";
import type { PathTest } from "../layers/scope-globs.ts";
import type { GitPlaces } from "./git-places.ts";
import { openUserView } from "./user-view.ts";

export type CheckoutStatus = {
  /** Tracked files that differ from HEAD, staged or not. */
  readonly changed: readonly string[];
  readonly untracked: readonly string[];
};

/** The checkout's uncommitted files, without the runner's own. */
export const readCheckoutStatus = (
  repository: GitPlaces,
  isOwned: PathTest,
): Promise<CheckoutStatus> => queryStatus(repository, isOwned, "all");

/** Only the tracked files that differ. This is faster: untracked files need not be searched. */
export const readChangedFiles = async (
  repository: GitPlaces,
  isOwned: PathTest,
): Promise<readonly string[]> => (await queryStatus(repository, isOwned, "no")).changed;

async function queryStatus(
  repository: GitPlaces,
  isOwned: PathTest,
  untrackedFiles: "all" | "no",
): Promise<CheckoutStatus> {
  const { out } = await git({
    ...(await openUserView(repository)),
    args: [
      "status",
      "--porcelain=v1",
      "-z",
      `--untracked-files=${untrackedFiles}`,
      "--ignore-submodules=all",
      "--no-renames",
    ],
  });

  const changed: string[] = [];
  const untracked: string[] = [];

  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index); // each row: two letters, a blank, the path, NUL
    const path = displayPath(bytePathFromBytes(out.subarray(index + 3, end)));
    const isUntracked = out.toString("latin1", index, index + 2) === "??";
    if (!isOwned(path)) (isUntracked ? untracked : changed).push(path);
    index = end + 1;
  }

  return { changed, untracked };
}

/** The warning about uncommitted changes, shown before a run begins. */
export function describeUncommitted(changed: readonly string[], commit: string): string {
  const have = changed.length === 1 ? "has" : "have";
  return `${listSome(changed)} ${have} uncommitted changes: they are not part of the run, which starts at ${commit.slice(0, 12)}, and block the merge until you commit or stash them.`;
}
