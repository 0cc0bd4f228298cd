// diff: what changed between two commits of the user's repository, as a patch and file by file.
// Runs no diff driver and no filter.

import type { GitSha } from "../../contracts/ids.ts";
import { git } from "./git.ts";
import type { Repository } from "./repository.ts";

type RepositoryPaths = Pick<Repository, "root" | "gitDir">;

/** `insertions`, `deletions`: null for a binary file. */
export type ChangedFile = {
  readonly path: string;
  readonly insertions: number | null;
  readonly deletions: number | null;
};

const patchBytesMax = 64 * 1_048_576;
const filePatchBytesMax = 2 * 1_048_576;
const safeDiffArgs = ["--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all"];

const toGitContext = ({ root, gitDir }: RepositoryPaths) => ({
  cwd: root,
  env: { GIT_DIR: gitDir },
});

/**
 * Whether all these commits still exist: a branch may have been deleted, and its commits with it.
 */
export async function hasCommits(
  repository: RepositoryPaths,
  commits: readonly GitSha[],
): Promise<boolean> {
  for (const commit of commits) {
    const { code } = await git({
      ...toGitContext(repository),
      args: ["cat-file", "-e", `${commit}^{commit}`],
      acceptedExitCodes: [0, 1, 128],
    }); // 1, 128: missing
    if (code !== 0) return false;
  }

  return true;
}

/** The changed files, with their numbers of lines. */
export async function readFileChanges(
  repository: RepositoryPaths,
  base: GitSha,
  tip: GitSha,
): Promise<readonly ChangedFile[]> {
  const { out } = await git({
    ...toGitContext(repository),
    args: ["diff-tree", "-r", "-z", "--numstat", ...safeDiffArgs, base, tip, "--"],
  });

  const parseLineCount = (text: string | undefined): number | null =>
    text === "-" || text === undefined ? null : Number.parseInt(text, 10);
  return out
    .toString("utf8")
    .split("\0")
    .filter((row) => row !== "")
    .map((row) => row.split("\t")) // `12<tab>3<tab>path`; a path may contain tabs
    .map(([insertions, deletions, ...path]) => ({
      path: path.join("\t"),
      insertions: parseLineCount(insertions),
      deletions: parseLineCount(deletions),
    }));
}

/**
 * The whole patch, as `git apply` takes it; `isCut` if it was too large and only its beginning is
 * returned.
 */
export async function readPatch(
  repository: RepositoryPaths,
  base: GitSha,
  tip: GitSha,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const { out, isCut } = await git({
    ...toGitContext(repository),
    args: ["diff-tree", "-r", "-p", "--no-color", ...safeDiffArgs, base, tip, "--"],
    outputBytesMax: patchBytesMax,
  });

  return { text: out.toString("utf8"), isCut };
}

/** The patch of one file. Its path is taken literally: nothing in it is a pattern. */
export async function readFilePatch(
  repository: RepositoryPaths,
  base: GitSha,
  tip: GitSha,
  path: string,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const { out, isCut } = await git({
    ...toGitContext(repository),
    args: [
      "--literal-pathspecs",
      "diff-tree",
      "-r",
      "-p",
      "--no-color",
      ...safeDiffArgs,
      base,
      tip,
      "--",
      path,
    ],
    outputBytesMax: filePatchBytesMax,
  });

  return { text: out.toString("utf8"), isCut };
}
