// exchange-git: opens the two git directories that an exchange works with: the user's own, and one
// of ours that writes into the user's objects.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { git, readGitLine } from "../../workspace/git/git.ts";
import type { GitContext } from "../../workspace/git/safe-git-call.ts";
import { type Identity, toIdentityVariables, readIdentity } from "../../workspace/git/identity.ts";
import { createOwnGitDirectory } from "../../workspace/git/own-git-directory.ts";
import { findRepository, type Repository } from "../../workspace/git/repository.ts";
import { refuse } from "../../project/respond.ts";

type GitOptions = GitContext & { readonly env: Readonly<Record<string, string>> };

export type ExchangeGit = {
  readonly repository: Repository;
  /** The user's object folder. */
  readonly objects: string;
  /** Our git directory. */
  readonly ownGitDir: string;
  /** A git call in our directory. The objects that it writes go into the user's repository. */
  readonly ours: GitOptions;
  /** A git call in the user's repository. */
  readonly user: GitOptions;
  /** The user's name and address, for commits. */
  readonly identity: Identity;
};

/**
 * `root`: the user's repository. `ownGitDir`: where our git directory is, created if it is missing.
 * Refuses what isn't a repository.
 */
export async function openExchangeGit(root: string, ownGitDir: string): Promise<ExchangeGit> {
  if (!existsSync(root)) return refuse("not_a_repository", { message: `${root} is not there.` });
  const lookup = await findRepository(root);
  if ("failure" in lookup) {
    return refuse(lookup.failure.reason, { message: `${root}: ${lookup.failure.detail}` });
  }

  const { repository } = lookup;
  // A path that leads elsewhere by a link, or by who looks at it (/proc/self/cwd), is not the
  // folder that its user named.
  if (repository.root !== root) {
    return refuse("workspace_unusable", {
      message: `${root} is ${repository.root} now.`,
      remediation: ["autopilot portfolio edit PROJECT --repo DIR"],
    });
  }

  const objects = join(repository.commonDir, "objects");
  await createOwnGitDirectory(repository, ownGitDir);
  return {
    repository,
    objects,
    ownGitDir,
    ours: {
      cwd: ownGitDir,
      isOwn: true,
      env: { GIT_DIR: ownGitDir, GIT_OBJECT_DIRECTORY: objects },
    },
    user: { cwd: root, env: { GIT_DIR: repository.gitDir } },
    identity: await readIdentity(root),
  };
}

export type NewCommit = {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
};

/** Creates a commit of this tree in the user's name, and returns its hash. No branch is moved. */
export const commitTree = (
  { ours, identity }: ExchangeGit,
  { tree, parents, message }: NewCommit,
): Promise<string> =>
  readGitLine({
    ...ours,
    env: { ...ours.env, ...toIdentityVariables(identity) },
    args: ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"],
    input: [Buffer.from(message)],
  });

export async function isAncestor(
  { ours }: ExchangeGit,
  older: string,
  newer: string,
): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", older, newer];
  const { code } = await git({ ...ours, args, acceptedExitCodes: [0, 1, 128] });
  return code === 0;
}
