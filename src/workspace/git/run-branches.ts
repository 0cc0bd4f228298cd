// run-branches: a run's branches in the user's repository: lists them, finds unmerged work, and deletes one.

import type { GitSha } from "../../contracts/ids.ts";
import { git } from "./git.ts";
import type { Repository } from "./repository.ts";

type RepositoryPaths = Pick<Repository, "root" | "gitDir">;

export type RunBranch = {
  readonly name: string;
  readonly commit: GitSha;
  /** Another branch, tag or remote branch has all of it. */
  readonly isMerged: boolean;
  readonly isCheckedOut: boolean;
};

const gitCallIn = ({ root, gitDir }: RepositoryPaths) => ({ cwd: root, env: { GIT_DIR: gitDir } });
const runBranch = (run: string): string => `autopilot/${run}`;

/** The run's own branch and those of its child runs. `runs`: the others here, whose names may have the same prefix. */
export async function readRunBranches(repository: RepositoryPaths, run: string, runs: readonly string[]): Promise<readonly RunBranch[]> {
  const format = "%(refname:short)%00%(objectname)%00%(worktreepath)";
  const { out } = await git({ ...gitCallIn(repository), args: ["for-each-ref", `--format=${format}`, "refs/heads/autopilot/"] });
  const others = runs.filter((candidate) => candidate !== run && candidate.startsWith(`${run}-`)).map(runBranch);
  const isOurs = (name: string): boolean => {
    const isChild = name.startsWith(`${runBranch(run)}-`) && !others.some((other) => name === other || name.startsWith(`${other}-`));
    return name === runBranch(run) || isChild;
  };
  const branches = out
    .toString("utf8")
    .split("\n")
    .map((row) => row.split("\0"))
    .flatMap(([name = "", commit = "", worktree = ""]) => (isOurs(name) ? [{ name, commit, isCheckedOut: worktree !== "" }] : []));
  const ownRefs = new Set(branches.map(({ name }) => `refs/heads/${name}`));
  return Promise.all(branches.map(async (branch) => ({ ...branch, isMerged: await isInOtherRef(repository, branch.commit, ownRefs) })));
}

async function isInOtherRef(repository: RepositoryPaths, commit: GitSha, ownRefs: ReadonlySet<string>): Promise<boolean> {
  const args = ["for-each-ref", `--contains=${commit}`, "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags"];
  const { out } = await git({ ...gitCallIn(repository), args });
  return out
    .toString("utf8")
    .split("\n")
    .some((ref) => ref !== "" && !ownRefs.has(ref));
}

/** Deletes a branch that has not moved; one that was moved meanwhile stays. */
export async function deleteBranch(repository: RepositoryPaths, name: string, commit: GitSha): Promise<boolean> {
  const args = ["update-ref", "-d", `refs/heads/${name}`, commit];
  return (await git({ ...gitCallIn(repository), args, codes: [0, 1, 128] })).code === 0;
}
