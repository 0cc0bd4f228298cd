// restore-files: restores files to what they are in another commit, by a commit on top of the run's
// branch.

import type { AppliedCommit, RestoreRequest } from "../../ports/workspace.ts";
import { findAttemptCommit, readTip } from "../git/run-commits.ts";
import { writeOverriddenTree } from "../layers/check-folder.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { refuseIfCheckedOut } from "./apply.ts";
import { describeApplied, commitOnTip } from "./commit-on-tip.ts";

/** Done at most once: its commit is found by its attempt. Null if nothing differs. */
export async function restoreFiles(
  run: RunWorkspace,
  { attempt, baseFiles, subject }: RestoreRequest,
): Promise<AppliedCommit | null> {
  const tip = await readTip(run);
  const existing = await findAttemptCommit(run, attempt, tip.commit);
  if (existing !== null) return describeApplied(run, existing);
  const tree = await writeOverriddenTree(run, tip.commit, baseFiles, run.shadow.callIntoUser);
  if (tree === tip.tree) return null;
  await refuseIfCheckedOut(run);

  return commitOnTip(run, { attempt, subject }, tip.commit, tree);
}
