// run-branches: lists a run's branches in the user's repository, tells which have unmerged work,
// and deletes one.

import type { GitSha } from "../../contracts/ids.ts";
import { runBranchName } from "../../contracts/run-branch.ts";
import { git } from "./git.ts";
import type { Repository } from "./repository.ts";

type RepositoryPaths = Pick<Repository, "root" | "gitDir">;

export type RunBranch = {
  readonly name: string;
  readonly commit: GitSha;
  /** A branch, tag or remote branch that isn't the run's has all of it. */
  readonly isMerged: boolean;
  readonly isCheckedOut: boolean;
};

const toGitContext = ({ root, gitDir }: RepositoryPaths) => ({
  cwd: root,
  env: { GIT_DIR: gitDir },
});

/**
 * The run's own branch and those named after it. `runs`: all runs of the project, since another's
 * name may have the same prefix.
 */
export async function readRunBranches(
  repository: RepositoryPaths,
  run: string,
  runs: readonly string[],
): Promise<readonly RunBranch[]> {
  const format = "%(refname:lstrip=2)%00%(objectname)%00%(worktreepath)";
  const { out } = await git({
    ...toGitContext(repository),
    args: ["for-each-ref", `--format=${format}`, "refs/heads/autopilot/"],
  });

  const ownName = runBranchName(run);
  const otherNames = runs
    .filter((candidate) => candidate !== run && candidate.startsWith(`${run}-`))
    .map(runBranchName);
  const belongsToOther = (name: string): boolean =>
    otherNames.some((other) => name === other || name.startsWith(`${other}-`));
  const belongsToRun = (name: string): boolean =>
    name === ownName || (name.startsWith(`${ownName}-`) && !belongsToOther(name));

  const branches = out
    .toString("utf8")
    .split("\n")
    .map((row) => row.split("\0"))
    .map(([name = "", commit = "", worktree = ""]) => ({
      name,
      commit,
      isCheckedOut: worktree !== "",
    }))
    .filter(({ name }) => belongsToRun(name));
  const ownRefs = new Set(branches.map(({ name }) => `refs/heads/${name}`));
  return Promise.all(
    branches.map(async (branch) => ({
      ...branch,
      isMerged: await isInOtherRef(repository, branch.commit, ownRefs),
    })),
  );
}

async function isInOtherRef(
  repository: RepositoryPaths,
  commit: GitSha,
  ownRefs: ReadonlySet<string>,
): Promise<boolean> {
  const args = [
    "for-each-ref",
    `--contains=${commit}`,
    "--format=%(refname)",
    "refs/heads",
    "refs/remotes",
    "refs/tags",
  ];

  const { out } = await git({ ...toGitContext(repository), args });
  return out
    .toString("utf8")
    .split("\n")
    .some((ref) => ref !== "" && !ownRefs.has(ref));
}

/** Deletes a branch if it is still at this commit; returns whether it did. */
export async function deleteBranch(
  repository: RepositoryPaths,
  name: string,
  commit: GitSha,
): Promise<boolean> {
  const args = ["update-ref", "-d", `refs/heads/${name}`, commit];
  return (
    (await git({ ...toGitContext(repository), args, acceptedExitCodes: [0, 1, 128] })).code === 0
  );
}
