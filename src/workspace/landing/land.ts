// land: merges the run's branch into the user's own and updates their checkout, the only time the
// runner touches it.
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

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import type { JudgeMerge, LandResult } from "../../ports/workspace.ts";
import { bytePathFromBytes, displayPath, type BytePath } from "../git/byte-path.ts";
import { isAncestor, readStraightLine } from "../git/commits.ts";
import { describeFilesInTheWay, findFilesInTheWay, formatShortList } from "./files-in-the-way.ts";
import {
  waitForForeignLocks,
  removeLandingRecord,
  isCheckoutLocked,
  undoInterruptedLanding,
  writeLandingRecord,
} from "./interrupted-landing.ts";
import { WorkspaceFailed } from "../failure.ts";
import { explainDiskFull } from "../disk-room.ts";
import { git, readGitLine } from "../git/git.ts";
import type { GitAnswer } from "../git/git-call.ts";
import { composeBranchCall, toShortBranchName, readTip } from "../git/run-commits.ts";
import { readHeadBranch, readHeadCommit } from "../git/refs.ts";
import { toIdentityVariables } from "../git/identity.ts";
import { writeTree } from "../git/materialize.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readLastSquashed, createMergeSides, composeSquashTrailer } from "./squash.ts";
import { readChangedFiles } from "../git/checkout-status.ts";
import { isTree, type TreeEntry, resolveTree } from "../git/tree.ts";
import { readFileDifferences, openTreeFolders } from "../git/tree-folders.ts";
import { findUnfinishedOperation } from "./unfinished-operation.ts";
import { openUserView } from "../git/user-view.ts";

/** How often landing starts over because something else moved the checkout meanwhile. */
const racesMax = 5;
const errorCharsMax = 500;
type Landed = Extract<LandResult, { readonly landed: true }>;
type Refusal = Extract<LandResult, { readonly landed: false }>;

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
  const current = await readHeadBranch(run.repository);

  if (branch === null) {
    return createRefusal(
      "checkout_moved",
      `The run began on a detached HEAD, so its work stays on ${toShortBranchName(run.ref)}.`,
    );
  }

  const ref = `refs/heads/${branch}`;
  if (current !== ref) {
    const unfinished = await findUnfinishedOperation(run.repository, ref); // a rebase detaches the HEAD
    if (unfinished !== null) return createRefusal("checkout_busy", `${unfinished.detail}.`);
    const place = current === null ? "a detached HEAD" : toShortBranchName(current);

    return createRefusal(
      "checkout_moved",
      `The run began on ${branch}; the checkout is on ${place} now.`,
    ); // N2
  }

  const leftover = await undoInterruptedLanding(run);
  for (let race = 0; ; race += 1) {
    const inTheWay = leftover ?? (await waitForForeignLocks(run));
    const head = await requireHead(run);
    const isAhead = head !== tip && (await isAncestor(run.shadow.call, head, tip));
    if (!isAhead && (await isAncestor(run.shadow.call, tip, head))) {
      return { landed: true, how: await readLandingKind(run, tip, head), commit: head };
    } // N4

    const lastLanded = isSquashed ? await readLastSquashed(run, head) : null;
    if (lastLanded === tip) return { landed: true, how: "squash", commit: head }; // N4
    if (inTheWay !== null) return createRefusal(inTheWay.because, inTheWay.detail);
    const unfinished = await findUnfinishedOperation(run.repository, ref);
    if (unfinished !== null) return createRefusal("checkout_busy", `${unfinished.detail}.`); // N7

    const result = await landOnHead(run, {
      head,
      tip,
      message,
      judgeMerge,
      since: isSquashed ? (lastLanded ?? run.base.commit) : null,
    });
    // Findings about a checkout that was moved meanwhile, for example by another run's landing, are
    // outdated.
    if (result.landed || race >= racesMax || !(await hasMoved(run, head))) return result;
  }
}

async function requireHead({ repository }: RunWorkspace): Promise<GitSha> {
  const head = await readHeadCommit(repository);
  if (head === null) {
    throw new WorkspaceFailed(
      "workspace_changed",
      `HEAD of ${repository.root} leads to no commit any more.`,
    );
  }

  return head;
}
const hasMoved = async (run: RunWorkspace, head: GitSha): Promise<boolean> =>
  isCheckoutLocked(run) || (await requireHead(run)) !== head;

type LandRequest = {
  readonly head: GitSha;
  readonly tip: GitSha;
  readonly message: string;
  readonly judgeMerge: JudgeMerge;
  /** When squashing: the branch's commit up to which everything has landed already. */
  readonly since: GitSha | null;
};

/**
 * Lands on the checkout as it is now: by fast-forward if possible, else by a merge or a squashed
 * commit.
 */
async function landOnHead(run: RunWorkspace, request: LandRequest): Promise<LandResult> {
  const { head, tip, since } = request;
  const changed = await readChangedFiles(run.repository, run.isOwned);
  const recreated = await findRecreated(run, head, tip); // N5
  const missing = changed.filter((path) => recreated.has(path) && isMissing(run, path));
  const dirty = changed.filter((path) => !missing.includes(path));
  if (dirty.length > 0) {
    return createRefusal("checkout_dirty", `Uncommitted changes: ${formatShortList(dirty)}.`);
  } // N2

  if (since === null && (await isAncestor(run.shadow.call, head, tip))) {
    return restoreMissing(run, await moveCheckout(run, head, tip, "fast_forward"), missing);
  }

  const mergeResult = await createMergeCommit(run, request, recreated);
  const how = since === null ? "merge" : "squash";
  if ("landed" in mergeResult) return mergeResult;
  const failure = mergeResult.isTip ? null : await request.judgeMerge(mergeResult.commit); // N6
  if (failure !== null) return createRefusal("merge_unproved", failure);

  return restoreMissing(run, await moveCheckout(run, head, mergeResult.commit, how), missing);
}

const isMissing = ({ repository }: RunWorkspace, path: string): boolean =>
  lstatSync(join(repository.root, path), { throwIfNoEntry: false }) === undefined;

/** What the branch has deleted and recreated since it last landed, as it is at its tip. */
async function findRecreated(
  run: RunWorkspace,
  head: GitSha,
  tip: GitSha,
): Promise<ReadonlyMap<string, readonly [BytePath, TreeEntry]>> {
  const call = run.shadow.callIntoUser;
  if ((await readStraightLine(call, head, tip))?.length === 1) return new Map(); // a single commit cannot recreate what it deleted

  const args = [
    "log",
    "-z",
    "--format=",
    "--name-status",
    "--no-renames",
    "--diff-filter=AD",
    `${head}..${tip}`,
    "--",
  ];

  const words = (await git({ ...call, args })).out.toString("latin1").split("\0");
  const [added, deleted] = [new Set<string>(), new Set<string>()];

  for (let index = 0; index + 1 < words.length; index += 2) {
    const [status, path = ""] = [words[index], words[index + 1]];
    (status === "A" ? added : deleted).add(path);
  }

  const recreatedPaths = [...added]
    .filter((path) => deleted.has(path))
    .map((path) => bytePathFromBytes(Buffer.from(path, "latin1")));

  const [tree, folders] = [await resolveTree(call, tip), openTreeFolders(call)];
  const recreated = new Map<string, readonly [BytePath, TreeEntry]>();

  for (const path of recreatedPaths) {
    const entry = await folders.findEntry(tree, path);
    if (entry !== undefined && !isTree(entry)) recreated.set(displayPath(path), [path, entry]);
  }

  return recreated;
}

/**
 * Checks out missing files again (N5): git leaves files alone that are the same in both commits,
 * even if they are missing.
 */
async function restoreMissing(
  run: RunWorkspace,
  result: LandResult,
  missing: readonly string[],
): Promise<LandResult> {
  if (!result.landed || missing.length === 0) return result;
  const input = missing.map((path) => Buffer.from(`${path}\0`));
  await git({
    ...(await openUserView(run.repository)),
    args: ["checkout-index", "-q", "-u", "-z", "--stdin"],
    input,
    codes: [0, 1],
  });

  return result;
}

const createRefusal = (because: Refusal["because"], detail: string): Refusal => ({
  landed: false,
  because,
  detail,
});

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

  const mergesTip = (line: string): boolean => line.split(" ").slice(2).includes(tip); // `<merge> <first parent> <other parents>`
  return out.toString("utf8").split("\n").some(mergesTip) ? "merge" : "fast_forward";
}

/**
 * The merge of both sides as a commit on no branch yet (N3). A file that the user deleted and the
 * branch recreated is in it (N5).
 */
async function createMergeCommit(
  run: RunWorkspace,
  { head, tip, message, since }: LandRequest,
  recreated: Awaited<ReturnType<typeof findRecreated>>,
): Promise<{ readonly commit: GitSha; readonly isTip: boolean } | Refusal> {
  const call = run.shadow.callIntoUser;
  const sides = since === null ? [head, tip] : await createMergeSides(run, since, head, tip);

  const merge = await git({
    ...call,
    args: ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides],
    codes: [0, 1, 128, 129],
  });
  const [tree = "", ...names] = merge.out.toString("utf8").split("\0");
  const missing = new Map([...recreated].filter(([path]) => isMissing(run, path)));
  const conflicts = [...new Set(names.filter((name) => name !== "" && !missing.has(name)))];
  if (merge.code === 1 && conflicts.length > 0) {
    return createRefusal("merge_conflict", `Both sides changed ${formatShortList(conflicts)}.`);
  }

  if (merge.code === 129) {
    return createRefusal(
      "merge_conflict",
      "This git is too old to merge without a checkout (2.38 or newer is needed).",
    );
  }

  if (/unrelated histories/.test(merge.err)) {
    return createRefusal(
      "branch_rewritten",
      `The branch no longer has ${run.base.commit.slice(0, 12)}, on which the run began.`,
    );
  }

  if (merge.code !== 0 && merge.code !== 1) {
    return createRefusal("merge_conflict", merge.err.trim().slice(0, errorCharsMax));
  }

  const text = message.trim() === "" ? `Merge ${toShortBranchName(run.ref)}` : message.trim();
  const input = [
    Buffer.from(
      `${text}\n\nAutopilot-Run: ${run.runId}\n${since === null ? "" : composeSquashTrailer(tip)}`,
    ),
  ];

  const mergedTree =
    missing.size === 0 ? tree : await writeTree(run.shadow, call, tree, missing.values());
  const commit = await readGitLine({
    ...call,
    env: { ...call.env, ...toIdentityVariables(run.identity) },
    args: [
      "commit-tree",
      mergedTree,
      "-p",
      head,
      ...(since === null ? ["-p", tip] : []),
      "-F",
      "-",
    ],
    input,
  });

  return { commit, isTip: mergedTree === (await resolveTree(call, tip)) };
}

/**
 * Git moves branch, index and files together, with the user's own filters, and refuses if a file is
 * in the way (N1).
 */
async function moveCheckout(
  run: RunWorkspace,
  from: GitSha,
  to: GitSha,
  how: Landed["how"],
): Promise<LandResult> {
  // Git would refuse most of these too, but checking first leaves its index untouched.
  const inTheWay = findFilesInTheWay(
    run.repository,
    await readFileDifferences(run.shadow.callIntoUser, from, to),
  );
  if (inTheWay.length > 0) {
    return {
      ...createRefusal("checkout_dirty", `${describeFilesInTheWay(inTheWay)}.`),
      isUntracked: true,
    };
  }

  await writeLandingRecord(run, from, to);
  const answer = await moveForward(run, from, to);
  const head = await requireHead(run);
  if (answer.code === 0 && head === to) {
    await removeLandingRecord(run);
    return { landed: true, how, commit: to };
  }

  const fullDisk = explainDiskFull(answer.err, [run.repository.root, run.repository.commonDir]); // asked first: undoing makes room again
  // If the index was locked, git has changed nothing; a later failure leaves the checkout half
  // moved.
  await (/index\.lock': File exists/.test(answer.err)
    ? removeLandingRecord(run)
    : undoInterruptedLanding(run));

  if (fullDisk !== null) {
    throw new WorkspaceFailed(
      "disk_full",
      `${fullDisk} The work could not be merged; it is on its branch.`,
    );
  }

  const because = /not uptodate|overwritten|untracked|local changes/i.test(answer.err)
    ? "checkout_dirty"
    : "checkout_unwritable";
  return createRefusal(
    because,
    `Git would not update the checkout: ${answer.err.trim().replace(/\s+/g, " ").slice(0, errorCharsMax)}`,
  );
}

/**
 * Files and index first, then the branch: an interruption in between is undone by
 * interrupted-landing.ts.
 */
async function moveForward(run: RunWorkspace, from: GitSha, to: GitSha): Promise<GitAnswer> {
  const view = await openUserView(run.repository);
  const move = (): Promise<GitAnswer> =>
    git({ ...view, args: ["read-tree", "-m", "-u", from, to], codes: [0, 1, 128] });
  const first = await move();
  // A touched file isn't a change, but git takes it for one until its index is refreshed. It writes
  // no file before it has checked all of them.
  const refreshed = /not uptodate/.test(first.err)
    ? await git({ ...view, args: ["update-index", "-q", "--refresh"], codes: [0, 1, 128] })
    : null;
  if (refreshed?.code === 128) return refreshed;
  const update = refreshed === null ? first : await move();
  if (update.code !== 0) return update;
  const user = composeBranchCall(run);

  return git({
    ...user,
    env: { ...user.env, ...toIdentityVariables(run.identity) },
    args: ["update-ref", "-m", "autopilot land: Fast-forward", "HEAD", to, from],
    codes: [0, 1, 128],
  });
}
