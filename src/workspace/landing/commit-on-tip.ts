// commit-on-tip: commits a tree on top of the run's branch, in the name of an attempt, for changes
// that did not come from an agent's layer.

import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import type { AppliedCommit } from "../../ports/workspace.ts";
import { moveBranch } from "./apply.ts";
import { WorkspaceFailed } from "../failure.ts";
import {
  composeRunMessage,
  readChangedDisplayPaths,
  type RunCommit,
  toShortBranchName,
} from "../git/run-commits.ts";
import { createCommit } from "../git/new-commit.ts";
import type { RunWorkspace } from "../run-workspace.ts";

/** Commits the tree and moves the branch; throws if the branch is no longer at `tip`. */
export async function commitOnTip(
  run: RunWorkspace,
  { attempt, subject }: { readonly attempt: AttemptId; readonly subject: string },
  tip: GitSha,
  tree: GitSha,
): Promise<AppliedCommit> {
  const call = run.shadow.callIntoUser;
  const message = composeRunMessage(run, attempt, subject);

  const commit = await createCommit(call, run.shadow.format, {
    tree,
    parents: [tip],
    identity: run.identity,
    message,
  });

  run.failpoint("made_on_tip");
  if (!(await moveBranch(run, commit, tip))) {
    throw new WorkspaceFailed(
      "workspace_changed",
      `The run's branch ${toShortBranchName(run.ref)} moved while ${attempt} was committed on it.`,
    );
  }

  run.failpoint("moved_to_it");
  return describeApplied(run, { commit, parent: tip, tree });
}

/** What an existing commit of an attempt applied. */
export async function describeApplied(
  run: RunWorkspace,
  { commit, parent, tree }: Pick<RunCommit, "commit" | "parent" | "tree">,
): Promise<AppliedCommit> {
  return {
    commit,
    parent,
    tree,
    paths: await readChangedDisplayPaths(run, parent, commit),
    notApplied: 0,
  };
}
