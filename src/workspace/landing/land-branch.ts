// land-branch: moves a branch of the user's to a new commit, if the branch is still at the commit
// that the new one was made for.
//
// Invariants:
//   L1. A compare-and-set: a branch that was moved meanwhile is not touched.
//   L2. A checkout that has the branch moves with it, and only if it is clean; a branch is never
//       moved under uncommitted work.
//   L3. Called again with the same request after a crash at any point, it has the same result, and
//       leaves no temporary branch behind.
//   L4. A branch that a person is rebasing, or has a merge, cherry-pick or revert open on, is not
//       moved: git could not go on.

import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { git } from "../git/git.ts";
import { readBranch, readHeadBranch } from "../git/refs.ts";
import type { Repository } from "../git/repository.ts";
import type { JudgeMerge, LandResult } from "../../ports/workspace.ts";
import { readChangedFiles } from "../git/checkout-status.ts";
import { compileOwnedPaths } from "../layers/scope-globs.ts";
import { alwaysOwnedPaths } from "../owned-paths.ts";
import { runBranchName } from "../../contracts/run-branch.ts";
import { openWorkspace } from "../workspace.ts";
import { describeFilesInTheWay, findFilesInTheWay, formatShortList } from "./files-in-the-way.ts";
import { findUnfinishedOperation, type UnfinishedOperation } from "./unfinished-operation.ts";
import { readFileDifferences } from "../git/tree-folders.ts";

const errorCharsMax = 300;

export type BranchLanding =
  | { readonly landed: true }
  | { readonly landed: false; readonly because: "moved"; readonly detail: string }
  | ({ readonly landed: false; readonly because: "held" } & BranchObstacle);

/**
 * What is in the way of moving a branch, and the git command that shows it or helps: `git -C FOLDER
 * WORDS`.
 */
export type BranchObstacle = {
  readonly detail: string;
  readonly git: { readonly folder: string; readonly words: string };
};

export type BranchRequest = {
  readonly branch: string;
  /** The commit that the branch must still be at. */
  readonly from: string;
  /** The commit that it moves to. */
  readonly to: string;
  /** A disposable folder for this landing. */
  readonly folder: string;
  /**
   * The message of the merge that is tried if the branch moves meanwhile; that merge never lands
   * (L1).
   */
  readonly message: string;
  /** Names the temporary branch; the same again after a crash (L3). */
  readonly name: string;
  /** The runner's own files, which landing ignores. */
  readonly ownedPaths: readonly string[];
};

/**
 * Moves the branch; `moved`: somebody else moved it, `held`: something that a person can remove is
 * in the way.
 */
export async function landBranch(
  repository: Repository,
  request: BranchRequest,
): Promise<BranchLanding> {
  const { branch, from, to } = request;
  const ref = `refs/heads/${branch}`;
  await dropLandingBranch(repository, request.name); // L3
  const current = await readBranch(repository, ref);
  if (current === to) return { landed: true };
  if (current !== from) return toMoved(branch, current); // L1

  const unfinished = await findUnfinishedOperation(repository, ref);
  if (unfinished !== null) return toHeld(toUnfinishedObstacle(unfinished)); // L4

  const checkouts = await readCheckouts(repository, ref);
  if (checkouts.length === 0) return moveRef(repository, ref, request);

  const otherCheckout = await findOtherCheckout(repository, checkouts);
  if (otherCheckout !== null) return toHeld(toCheckedOutObstacle(branch, otherCheckout)); // L2
  return moveWithCheckout(repository, request); // L2
}

const toMoved = (branch: string, current: string | null): BranchLanding => ({
  landed: false,
  because: "moved",
  detail:
    current === null
      ? `the branch ${branch} is gone`
      : `${branch} was moved to ${current.slice(0, 12)}`,
});
const toHeld = (obstacle: BranchObstacle): BranchLanding => ({
  landed: false,
  because: "held",
  ...obstacle,
});

const toGitCall = ({ root, gitDir }: Repository) => ({ cwd: root, env: { GIT_DIR: gitDir } });

/** Moves a branch that no checkout has, if it is still where it was (L1). */
async function moveRef(
  repository: Repository,
  ref: string,
  { from, to }: BranchRequest,
): Promise<BranchLanding> {
  const { code, err } = await git({
    ...toGitCall(repository),
    args: ["update-ref", "-m", "autopilot: landed", ref, to, from],
    acceptedExitCodes: [0, 1, 128],
  });
  if (code === 0) return { landed: true };
  return { landed: false, because: "moved", detail: err.trim().slice(0, errorCharsMax) };
}

/**
 * Moves the branch and its checkout as a run's landing does, which undoes itself when interrupted
 * (L2, L3): the commit is put on a temporary branch, and that branch lands.
 */
async function moveWithCheckout(
  repository: Repository,
  { branch, from, to, folder, message, name, ownedPaths }: BranchRequest,
): Promise<BranchLanding> {
  const workspace = await openWorkspace({
    repository,
    runDir: join(folder, "land"),
    runId: name,
    base: { branch, commit: from },
    scope: ["**"],
    ownedPaths,
  });

  await git({ ...toGitCall(repository), args: ["update-ref", landingRef(name), to] });
  try {
    return toLanding(await workspace.land(message, refuseEveryMerge(branch)), repository);
  } finally {
    await dropLandingBranch(repository, name); // L3
  }
}

/** A merge is needed only if the branch was moved meanwhile (L1). */
const refuseEveryMerge =
  (branch: string): JudgeMerge =>
  () =>
    Promise.resolve(`${branch} was moved`);

function toLanding(result: LandResult, { root }: Repository): BranchLanding {
  if (result.landed) return { landed: true };
  const { because, detail, hasUntrackedInTheWay } = result;
  if (because === "checkout_moved" || because === "merge_unproved") {
    return { landed: false, because: "moved", detail };
  }

  const words = hasUntrackedInTheWay === true ? "status --ignored" : "status";
  return toHeld({ detail, git: { folder: root, words } });
}

const toUnfinishedObstacle = ({ detail, checkout }: UnfinishedOperation): BranchObstacle => ({
  detail,
  git: { folder: checkout, words: "status" },
});
const toCheckedOutObstacle = (branch: string, folder: string): BranchObstacle => ({
  detail: `${branch} is checked out in ${folder}`,
  git: { folder, words: "switch --detach" },
});

async function findOtherCheckout(
  repository: Repository,
  checkouts: readonly string[],
): Promise<string | null> {
  const ownPath = await realpath(repository.root);
  return checkouts.find((path) => path !== ownPath) ?? null;
}

/**
 * What is in the way of moving a branch now, as far as that shows before there is a commit to move
 * it to; null if nothing is. `commits`: the work that is to be merged.
 */
export async function findBranchObstacle(
  repository: Repository,
  branch: string,
  ownedPaths: readonly string[],
  commits: readonly string[],
): Promise<BranchObstacle | null> {
  const ref = `refs/heads/${branch}`;
  const tip = await readBranch(repository, ref);
  const createObstacle = (words: string, detail: string): BranchObstacle => ({
    detail,
    git: { folder: repository.root, words },
  });

  if (tip === null) {
    return createObstacle("branch", `${repository.root} has no branch ${branch} any more`);
  }

  const unfinished = await findUnfinishedOperation(repository, ref);
  if (unfinished !== null) return toUnfinishedObstacle(unfinished);
  const checkouts = await readCheckouts(repository, ref);
  const otherCheckout = await findOtherCheckout(repository, checkouts);
  if (otherCheckout !== null) return toCheckedOutObstacle(branch, otherCheckout);
  if (checkouts.length === 0) return null;
  const changed = await readChangedFiles(
    repository,
    compileOwnedPaths([...alwaysOwnedPaths, ...ownedPaths]),
  );
  if (changed.length > 0) {
    return createObstacle(
      "status",
      `${repository.root}: Uncommitted changes: ${formatShortList(changed)}`,
    );
  }

  const inTheWay = new Set<string>();
  for (const commit of commits) {
    for (const path of await findUntrackedInTheWay(repository, tip, commit)) inTheWay.add(path);
  }

  if (inTheWay.size === 0) return null;
  return createObstacle(
    "status --ignored",
    `${repository.root}: ${describeFilesInTheWay([...inTheWay])}`,
  );
}

/** Files that a commit adds to a branch, and that are in its checkout without being tracked. */
async function findUntrackedInTheWay(
  repository: Repository,
  tip: string,
  commit: string,
): Promise<readonly string[]> {
  const call = toGitCall(repository);
  const { out } = await git({
    ...call,
    args: ["merge-base", tip, commit],
    acceptedExitCodes: [0, 1, 128],
  });
  const base = out.toString("utf8").trim();
  if (base === "") return [];
  const [changesSinceBase, changesFromTip] = await Promise.all([
    readFileDifferences(call, base, commit),
    readFileDifferences(call, tip, commit),
  ]);
  const absentAtTip = new Set(
    changesFromTip.filter(({ before }) => before === undefined).map(({ path }) => path),
  );

  return findFilesInTheWay(
    repository,
    changesSinceBase.filter(({ path, before }) => before !== undefined || absentAtTip.has(path)),
  );
}

const landingRef = (name: string): string => `refs/heads/${runBranchName(name)}`;

/** Deletes the temporary branch, also one that a killed landing left. */
export async function dropLandingBranch(repository: Repository, name: string): Promise<void> {
  if ((await readBranch(repository, landingRef(name))) === null) return;
  await git({
    ...toGitCall(repository),
    args: ["update-ref", "-d", landingRef(name)],
    acceptedExitCodes: [0, 1, 128],
  });
}

/** The checkouts that are on a branch. */
async function readCheckouts(repository: Repository, ref: string): Promise<readonly string[]> {
  // Without linked worktrees there is one checkout.
  if (!existsSync(join(repository.commonDir, "worktrees"))) {
    return (await readHeadBranch(repository)) === ref ? [await realpath(repository.root)] : [];
  }

  const { out } = await git({ cwd: repository.root, args: ["worktree", "list", "--porcelain"] });
  const records = out.toString("utf8").split("\n\n");
  const paths = records.flatMap((record) => {
    const path = /^worktree (.+)$/m.exec(record)?.[1];
    return path !== undefined && record.split("\n").includes(`branch ${ref}`) ? [path] : [];
  });

  return Promise.all(paths.map((path) => realpath(path).catch(() => path)));
}
