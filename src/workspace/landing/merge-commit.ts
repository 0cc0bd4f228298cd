// merge-commit: merges the run's branch and the user's as a commit on no branch yet, without a
// checkout.
// Invariants N1 and on: workspace/landing/land.ts.

import type { GitSha } from "../../contracts/ids.ts";
import { git, readGitLine } from "../git/git.ts";
import { toIdentityVariables } from "../git/identity.ts";
import { writeTree } from "../git/materialize.ts";
import { toShortBranchName } from "../git/run-commits.ts";
import { resolveTree } from "../git/tree.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { formatShortList } from "./files-in-the-way.ts";
import { createRefusal, type LandRefusal } from "./land-refusal.ts";
import { isMissing, type RecreatedFiles } from "./recreated-files.ts";
import { composeSquashTrailer, createMergeSides } from "./squash.ts";

const errorCharsMax = 500;

export type MergeRequest = {
  readonly head: GitSha;
  readonly tip: GitSha;
  readonly message: string;
  /** When squashing: the branch's commit up to which everything has landed already. */
  readonly landedUpTo: GitSha | null;
};

/**
 * The merge of both sides as a commit (N3). A file that the user deleted and the branch recreated
 * is in it (N5). `isTip`: whether it has the very files of the run's branch.
 */
export async function createMergeCommit(
  run: RunWorkspace,
  request: MergeRequest,
  recreated: RecreatedFiles,
): Promise<{ readonly commit: GitSha; readonly isTip: boolean } | LandRefusal> {
  const call = run.shadow.callIntoUser;
  const { head, tip, landedUpTo } = request;
  const missing = new Map([...recreated].filter(([path]) => isMissing(run, path)));

  const merge = await mergeTrees(run, request, missing);
  if ("landed" in merge) return merge;
  const tree =
    missing.size === 0
      ? merge.tree
      : await writeTree(run.shadow, call, merge.tree, missing.values());

  const parents = landedUpTo === null ? [head, tip] : [head];
  const commit = await readGitLine({
    ...call,
    env: { ...call.env, ...toIdentityVariables(run.identity) },
    args: ["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"],
    input: [Buffer.from(composeMessage(run, request))],
  });

  return { commit, isTip: tree === (await resolveTree(call, tip)) };
}

/** The tree of the merge; conflicts about files that are only missing don't count. */
async function mergeTrees(
  run: RunWorkspace,
  { head, tip, landedUpTo }: MergeRequest,
  missing: RecreatedFiles,
): Promise<{ readonly tree: string } | LandRefusal> {
  const sides =
    landedUpTo === null ? [head, tip] : await createMergeSides(run, landedUpTo, head, tip);
  const { code, out, err } = await git({
    ...run.shadow.callIntoUser,
    args: ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides],
    acceptedExitCodes: [0, 1, 128, 129],
  });

  const [tree = "", ...names] = out.toString("utf8").split("\0");
  const conflicts = [...new Set(names.filter((name) => name !== "" && !missing.has(name)))];
  if (code === 1 && conflicts.length > 0) {
    return createRefusal("merge_conflict", `Both sides changed ${formatShortList(conflicts)}.`);
  }

  if (code === 129) {
    return createRefusal(
      "merge_conflict",
      "This git is too old to merge without a checkout (2.38 or newer is needed).",
    );
  }

  if (/unrelated histories/.test(err)) {
    return createRefusal(
      "branch_rewritten",
      `The branch no longer has ${run.base.commit.slice(0, 12)}, on which the run began.`,
    );
  }

  if (code !== 0 && code !== 1) {
    return createRefusal("merge_conflict", err.trim().slice(0, errorCharsMax));
  }

  return { tree };
}

function composeMessage(run: RunWorkspace, { message, tip, landedUpTo }: MergeRequest): string {
  const text = message.trim() === "" ? `Merge ${toShortBranchName(run.ref)}` : message.trim();
  const squashTrailer = landedUpTo === null ? "" : composeSquashTrailer(tip);
  return `${text}\n\nAutopilot-Run: ${run.runId}\n${squashTrailer}`;
}
