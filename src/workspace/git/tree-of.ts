// tree-of: the tree of a commit in the user's repository, if the repository has it.

import { git } from "./git.ts";
import type { Repository } from "./repository.ts";

/** The tree of a commit; null if the repository does not have it. */
export async function readTreeId({ root, gitDir }: Repository, commit: string): Promise<string | null> {
  const args = ["rev-parse", "-q", "--verify", "--end-of-options", `${commit}^{tree}`];
  const { code, out } = await git({ cwd: root, env: { GIT_DIR: gitDir }, args, codes: [0, 1, 128] });
  return code === 0 ? out.toString("utf8").trim() : null;
}
