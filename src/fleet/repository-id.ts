// repository-id: identifies a repository by its first commit, which is the same in each of its
// clones. Of several first commits, as after a merge of two histories, the one whose hash sorts
// first counts.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { refuse } from "../project/respond.ts";
import { git } from "../workspace/git/git.ts";
import type { Repository } from "../workspace/git/repository.ts";

/** `rev`: the history to look at, by default this clone's. */
export async function readRepositoryId(
  { root, gitDir, commonDir }: Repository,
  rev = "HEAD",
): Promise<string> {
  if (existsSync(join(commonDir, "shallow"))) {
    return refuse("workspace_unusable", {
      message: `${root} is a shallow clone: its first commit, by which machines know a repository, isn't there.`,
      remediation: ["git fetch --unshallow"],
    });
  }

  const { out } = await git({
    cwd: root,
    env: { GIT_DIR: gitDir },
    args: ["rev-list", "--max-parents=0", rev],
  });
  const [firstCommit] = out.toString("utf8").trim().split("\n").toSorted();
  return `repo-${(firstCommit ?? "").slice(0, 16)}`;
}
