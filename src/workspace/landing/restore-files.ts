// restore-files: commits files as they are in another commit, on top of the run's branch.

import type { AppliedCommit, RestoreRequest } from "../../ports/workspace.ts";
import { findAttemptCommit, readTip } from "../git/run-commits.ts";
import { writeOverriddenTree } from "../layers/checkout.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { refuseIfCheckedOut } from "./apply.ts";
import { describeApplied, commitOnTip } from "./commit-on-tip.ts";

/** Done at most once: its commit is found by its key. */
export async function restore(run: RunWorkspace, { attempt, originals, subject }: RestoreRequest): Promise<AppliedCommit | null> {
  const tip = await readTip(run);
  const done = await findAttemptCommit(run, attempt, tip.commit);
  if (done !== null) return describeApplied(run, done);
  const tree = await writeOverriddenTree(run, tip.commit, originals, run.shadow.callIntoUser);
  if (tree === tip.tree) return null;
  await refuseIfCheckedOut(run);
  return commitOnTip(run, { attempt, subject }, tip.commit, tree);
}
