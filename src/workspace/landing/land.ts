// land: merges the run's branch into the user's own, by fast-forward or merge, and updates their
// checkout, the only time the runner touches it.
//
// Invariants:
//   N1. Nothing is forced: git itself moves the checkout forward, as `merge --ff-only` does
//       (`read-tree -m -u`, then the branch), and refuses if a file would be lost. It does so
//       without the repository's own configuration (see user-view).
//   N2. Only into a checkout of the branch the run began on, without uncommitted changes to tracked
//       files.
//   N3. A merge is computed without a checkout; if it conflicts, nothing was touched.
//   N4. Landing twice is landing once, even if the first was interrupted, and also with squashed
//       commits.
//   N5. A file that is missing from the checkout and that the branch has recreated since isn't a
//       change that could be lost: it comes back.
//   N6. What lands has been proved: a merge with files that the run's branch doesn't have is judged
//       as a whole before anything moves.
//   N7. A branch that a person is rebasing, or has a merge, cherry-pick or revert open on, is not
//       moved: git could not go on.

import type { GitSha } from "../../contracts/ids.ts";
import type { JudgeMerge, LandResult } from "../../ports/workspace.ts";
import { isAncestor } from "../git/commits.ts";
import { formatShortList } from "./files-in-the-way.ts";
import {
  waitForForeignLocks,
  isCheckoutLocked,
  undoInterruptedLanding,
} from "./interrupted-landing.ts";
import { git } from "../git/git.ts";
import { composeBranchCall, toShortBranchName, readTip } from "../git/run-commits.ts";
import { readHeadBranch } from "../git/refs.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readLastSquashed } from "./squash.ts";
import { readChangedFiles } from "../git/checkout-status.ts";
import { createRefusal, type LandRefusal } from "./land-refusal.ts";
import { createMergeCommit, type MergeRequest } from "./merge-commit.ts";
import { moveCheckout, requireHead } from "./move-checkout.ts";
import { findRecreated, isMissing, restoreMissing } from "./recreated-files.ts";
import { findUnfinishedOperation } from "./unfinished-operation.ts";

/** How often landing starts over because something else moved the checkout meanwhile. */
const racesMax = 5;
type Landed = Extract<LandResult, { readonly landed: true }>;

/** Lands the run's work on the branch it began on; or says why that can't be done now. */
export async function landRun(
  run: RunWorkspace,
  message: string,
  judgeMerge: JudgeMerge,
  isSquashed = false,
): Promise<LandResult> {
  const tip = (await readTip(run)).commit;
  if (tip === run.base.commit) return createRefusal("nothing_to_land", "The run made no commit.");

  const { branch } = run.base;
  if (branch === null) {
    return createRefusal(
      "checkout_moved",
      `The run began on a detached HEAD, so its work stays on ${toShortBranchName(run.ref)}.`,
    );
  }

  const elsewhere = await refuseOtherBranch(run, branch);
  if (elsewhere !== null) return elsewhere;

  const leftover = await undoInterruptedLanding(run);
  for (let race = 0; ; race += 1) {
    const inTheWay = leftover ?? (await waitForForeignLocks(run));
    const head = await requireHead(run);

    // N4
    const merged = await findMerged(run, tip, head);
    if (merged !== null) return merged;
    const lastLanded = isSquashed ? await readLastSquashed(run, head) : null;
    if (lastLanded === tip) return { landed: true, how: "squash", commit: head };

    if (inTheWay !== null) return createRefusal(inTheWay.because, inTheWay.detail);
    const unfinished = await refuseUnfinished(run, branch); // N7
    if (unfinished !== null) return unfinished;

    const landedUpTo = isSquashed ? (lastLanded ?? run.base.commit) : null;
    const result = await landOnHead(run, { head, tip, message, landedUpTo }, judgeMerge);
    if (result.landed || race >= racesMax) return result;

    // Findings about a checkout that was moved meanwhile, for example by another run's landing, are
    // outdated.
    if (!(await hasMoved(run, head))) return result;
  }
}

/** N2: the refusal if the checkout isn't on the branch that the run began on. */
async function refuseOtherBranch(run: RunWorkspace, branch: string): Promise<LandRefusal | null> {
  const current = await readHeadBranch(run.repository);
  if (current === toBranchRef(branch)) return null;

  const unfinished = await refuseUnfinished(run, branch); // a rebase detaches the HEAD
  if (unfinished !== null) return unfinished;

  const place = current === null ? "a detached HEAD" : toShortBranchName(current);
  return createRefusal(
    "checkout_moved",
    `The run began on ${branch}; the checkout is on ${place} now.`,
  );
}

async function refuseUnfinished(run: RunWorkspace, branch: string): Promise<LandRefusal | null> {
  const unfinished = await findUnfinishedOperation(run.repository, toBranchRef(branch));
  return unfinished === null ? null : createRefusal("checkout_busy", `${unfinished.detail}.`);
}

const toBranchRef = (branch: string): string => `refs/heads/${branch}`;

/** The landing of the run's tip, if the checkout's commit has it already. */
async function findMerged(run: RunWorkspace, tip: GitSha, head: GitSha): Promise<Landed | null> {
  const { call } = run.shadow;
  const isAhead = head !== tip && (await isAncestor(call, head, tip));
  if (isAhead || !(await isAncestor(call, tip, head))) return null;

  return { landed: true, how: await readLandingKind(run, tip, head), commit: head };
}

/** How work that is already on the branch came there. */
async function readLandingKind(
  run: RunWorkspace,
  tip: GitSha,
  head: GitSha,
): Promise<"fast_forward" | "merge"> {
  const { out } = await git({
    ...composeBranchCall(run),
    args: ["rev-list", "--merges", "--parents", `${run.base.commit}..${head}`, "--"],
  });

  // `<merge> <first parent> <other parents>`
  const mergesTip = (line: string): boolean => line.split(" ").slice(2).includes(tip);
  return out.toString("utf8").split("\n").some(mergesTip) ? "merge" : "fast_forward";
}

const hasMoved = async (run: RunWorkspace, head: GitSha): Promise<boolean> =>
  isCheckoutLocked(run) || (await requireHead(run)) !== head;

/**
 * Lands on the checkout as it is now: by fast-forward if possible, else by a merge or a squashed
 * commit.
 */
async function landOnHead(
  run: RunWorkspace,
  request: MergeRequest,
  judgeMerge: JudgeMerge,
): Promise<LandResult> {
  const { head, tip, landedUpTo } = request;
  const changed = await readChangedFiles(run.repository, run.isOwned);
  const recreated = await findRecreated(run, head, tip); // N5
  const missing = changed.filter((path) => recreated.has(path) && isMissing(run, path));
  const dirty = changed.filter((path) => !missing.includes(path));

  // N2
  if (dirty.length > 0) {
    return createRefusal("checkout_dirty", `Uncommitted changes: ${formatShortList(dirty)}.`);
  }

  if (landedUpTo === null && (await isAncestor(run.shadow.call, head, tip))) {
    return restoreMissing(run, await moveCheckout(run, head, tip, "fast_forward"), missing);
  }

  const merge = await createMergeCommit(run, request, recreated);
  if ("landed" in merge) return merge;
  const failure = merge.isTip ? null : await judgeMerge(merge.commit); // N6
  if (failure !== null) return createRefusal("merge_unproved", failure);

  const how = landedUpTo === null ? "merge" : "squash";
  return restoreMissing(run, await moveCheckout(run, head, merge.commit, how), missing);
}
