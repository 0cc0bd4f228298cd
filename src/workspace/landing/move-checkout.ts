// move-checkout: moves the user's branch and checkout forward to a commit, or leaves both as they
// were.
// Invariants N1 and on: workspace/landing/land.ts.

import type { GitSha } from "../../contracts/ids.ts";
import type { LandResult } from "../../ports/workspace.ts";
import { explainDiskFull } from "../explain-disk-full.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git } from "../git/git.ts";
import type { GitAnswer } from "../git/safe-git-call.ts";
import { toIdentityVariables } from "../git/identity.ts";
import { readHeadCommit } from "../git/refs.ts";
import { composeBranchCall } from "../git/run-commits.ts";
import { readFileDifferences } from "../git/tree-folders.ts";
import { openUserView } from "../git/user-view.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { describeFilesInTheWay, findFilesInTheWay } from "./files-in-the-way.ts";
import {
  removeLandingRecord,
  undoInterruptedLanding,
  writeLandingRecord,
} from "./interrupted-landing.ts";
import { createRefusal } from "./land-refusal.ts";

const errorCharsMax = 500;

/**
 * Git moves branch, index and files together, with the user's own filters, and refuses if a file is
 * in the way (N1).
 */
export async function moveCheckout(
  run: RunWorkspace,
  from: GitSha,
  to: GitSha,
  how: Extract<LandResult, { readonly landed: true }>["how"],
): Promise<LandResult> {
  // Git would refuse most of these too, but checking first leaves its index untouched.
  const inTheWay = findFilesInTheWay(
    run.repository,
    await readFileDifferences(run.shadow.callIntoUser, from, to),
  );
  if (inTheWay.length > 0) {
    return {
      ...createRefusal("checkout_dirty", `${describeFilesInTheWay(inTheWay)}.`),
      hasUntrackedInTheWay: true,
    };
  }

  await writeLandingRecord(run, from, to);
  const answer = await moveForward(run, from, to);
  const head = await requireHead(run);
  if (answer.code === 0 && head === to) {
    await removeLandingRecord(run);
    return { landed: true, how, commit: to };
  }

  // Asked first: undoing makes room again.
  const fullDisk = explainDiskFull(answer.err, [run.repository.root, run.repository.commonDir]);

  // If the index was locked, git has changed nothing; a later failure leaves the checkout half
  // moved.
  const wasLocked = /index\.lock': File exists/.test(answer.err);
  if (wasLocked) await removeLandingRecord(run);
  else await undoInterruptedLanding(run);

  if (fullDisk !== null) {
    throw new WorkspaceFailed(
      "disk_full",
      `${fullDisk} The work could not be merged; it is on its branch.`,
    );
  }

  const isDirty = /not uptodate|overwritten|untracked|local changes/i.test(answer.err);
  const shownError = answer.err.trim().replace(/\s+/g, " ").slice(0, errorCharsMax);
  return createRefusal(
    isDirty ? "checkout_dirty" : "checkout_unwritable",
    `Git would not update the checkout: ${shownError}`,
  );
}

/**
 * Files and index first, then the branch: an interruption in between is undone by
 * interrupted-landing.ts.
 */
async function moveForward(run: RunWorkspace, from: GitSha, to: GitSha): Promise<GitAnswer> {
  const update = await updateFiles(run, from, to);
  if (update.code !== 0) return update;

  const branchCall = composeBranchCall(run);
  return git({
    ...branchCall,
    env: { ...branchCall.env, ...toIdentityVariables(run.identity) },
    args: ["update-ref", "-m", "autopilot land: Fast-forward", "HEAD", to, from],
    acceptedExitCodes: [0, 1, 128],
  });
}

async function updateFiles(run: RunWorkspace, from: GitSha, to: GitSha): Promise<GitAnswer> {
  const view = await openUserView(run.repository);
  const update = (): Promise<GitAnswer> =>
    git({ ...view, args: ["read-tree", "-m", "-u", from, to], acceptedExitCodes: [0, 1, 128] });

  const first = await update();
  if (!/not uptodate/.test(first.err)) return first;

  // A touched file isn't a change, but git takes it for one until its index is refreshed. It has
  // written no file: it checks all of them first.
  const refresh = await git({
    ...view,
    args: ["update-index", "-q", "--refresh"],
    acceptedExitCodes: [0, 1, 128],
  });
  return refresh.code === 128 ? refresh : update();
}

/** The commit of the checkout. */
export async function requireHead({ repository }: RunWorkspace): Promise<GitSha> {
  const head = await readHeadCommit(repository);
  if (head === null) {
    throw new WorkspaceFailed(
      "workspace_changed",
      `HEAD of ${repository.root} leads to no commit any more.`,
    );
  }

  return head;
}
