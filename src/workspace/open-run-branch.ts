// open-run-branch: creates the branch of a new run, and checks that of an old one: it must have the
// run's commits and nothing else.

import type { GitSha } from "../contracts/ids.ts";
import { WorkspaceFailed } from "./failure.ts";
import { git, toGitFailure } from "./git/git.ts";
import type { GitAnswer } from "./git/safe-git-call.ts";
import { toIdentityVariables } from "./git/identity.ts";
import { composeBranchCall, readRunCommits, toShortBranchName } from "./git/run-commits.ts";
import type { RunWorkspace } from "./run-workspace.ts";

const errorCharsMax = 2_000;
/** Git ends with 1 or 128 if the branch is there already, or there is none. */
const branchExitCodes = [0, 1, 128];

/** `expectedTip`: the branch's tip according to the journal; null on the first opening. */
export async function openRunBranch(run: RunWorkspace, expectedTip: GitSha | null): Promise<void> {
  const isNew = expectedTip === null || expectedTip === run.startCommit;
  const creation = isNew ? await createBranch(run) : null;
  if (creation?.code === 0) return;

  const tip = await findBranchTip(run);
  if (tip === null) {
    throw creation === null
      ? createBranchGone(run, expectedTip ?? "")
      : createCreationFailure(run, creation);
  }

  const commits = await readRunCommits(run, tip);
  if (expectedTip === null || expectedTip === run.base.commit) return;

  // A crash may have come between moving the branch and recording it, so the tip may be ahead of
  // the journal, never behind.
  if (commits.some(({ commit }) => commit === expectedTip)) return;

  throw new WorkspaceFailed(
    "workspace_changed",
    `The run's branch ${toShortBranchName(run.ref)} no longer contains ${expectedTip.slice(0, 12)}.`,
  );
}

/** Creates the branch where the run starts, unless there is one of this name. */
function createBranch(run: RunWorkspace): Promise<GitAnswer> {
  const branchCall = composeBranchCall(run);
  const absentCommit = "0".repeat(run.base.commit.length);

  return git({
    ...branchCall,
    env: { ...branchCall.env, ...toIdentityVariables(run.identity) },
    args: ["update-ref", "-m", "autopilot: run begins", run.ref, run.startCommit, absentCommit],
    acceptedExitCodes: branchExitCodes,
  });
}

async function findBranchTip(run: RunWorkspace): Promise<GitSha | null> {
  const { code, out } = await git({
    ...composeBranchCall(run),
    args: ["rev-parse", "--verify", "-q", `${run.ref}^{commit}`],
    acceptedExitCodes: branchExitCodes,
  });

  return code === 0 ? out.toString("utf8").trim() : null;
}

function createBranchGone(run: RunWorkspace, expectedTip: string): WorkspaceFailed {
  const branchName = toShortBranchName(run.ref);
  const shortTip = expectedTip.slice(0, 12);

  return new WorkspaceFailed(
    "workspace_changed",
    `The run's branch ${branchName} is gone; it stood at ${shortTip}.`,
    `git branch ${branchName} ${shortTip} brings it back, then autopilot resume`,
  );
}

function createCreationFailure(run: RunWorkspace, { code, err }: GitAnswer): WorkspaceFailed {
  const shownError = err.trim().slice(0, errorCharsMax);
  return toGitFailure(
    composeBranchCall(run),
    { err },
    `git update-ref failed (${code}): ${shownError}`,
  );
}
