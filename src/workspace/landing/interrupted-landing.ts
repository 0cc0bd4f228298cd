// interrupted-landing: undoes an interrupted landing, which leaves the user's checkout between two
// commits: restores the first, so that landing can start over.
//
// Invariants:
//   C1. A landing is recorded before the checkout is touched, and the record is removed when it is
//       done or undone.
//   C2. Only the landing's own changes are undone: a file that has the new content or its
//       beginning, or is gone. If any file is neither, nothing is touched: it is the user's.

import { existsSync, lstatSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { GitSha } from "../../contracts/ids.ts";
import {
  bytePathToBytes,
  bytePathToText,
  displayPath,
  type BytePath,
  toDiskPath,
} from "../git/byte-path.ts";
import { readJson, writeFileAtomically } from "../folder.ts";
import { isAncestor } from "../git/commits.ts";
import { git, readGitLine } from "../git/git.ts";
import { composeBranchCall } from "../git/run-commits.ts";
import { clearLock, waitUntilGone } from "../git/killed-git.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readCheckoutStatus } from "../git/checkout-status.ts";
import { readTree } from "../git/read-tree.ts";
import { openUserView } from "../git/user-view.ts";

const LandingRecord = v.strictObject({ version: v.literal(1), from: GitSha, to: GitSha });
type LandingRecord = v.InferOutput<typeof LandingRecord>;

const recordPath = (run: RunWorkspace): string => join(run.folders.layers, "..", "landing.json");

export const writeLandingRecord = (run: RunWorkspace, from: GitSha, to: GitSha): Promise<void> =>
  writeFileAtomically(
    recordPath(run),
    `${JSON.stringify({ version: 1, from, to } satisfies LandingRecord)}\n`,
  ); // C1

export const removeLandingRecord = (run: RunWorkspace): Promise<void> =>
  rm(recordPath(run), { force: true });

/** Why the checkout can't be moved, or an interrupted landing can't be undone. */
export type LandingObstacle = {
  readonly because: "checkout_busy" | "checkout_dirty";
  readonly detail: string;
};

/** Undoes an interrupted landing; returns why it cannot be, null if nothing is left of it. */
export async function undoInterruptedLanding(run: RunWorkspace): Promise<LandingObstacle | null> {
  const record = v.safeParse(LandingRecord, await readJson(recordPath(run)));
  if (!record.success) return null;
  const { from, to } = record.output;

  for (const lock of listLockPaths(run)) {
    if (!(await clearLock(lock, run.repository.root, "theirs"))) return createLockObstacle(lock);
  }

  const head = await readGitLine({
    ...composeBranchCall(run),
    args: ["rev-parse", "--verify", "HEAD^{commit}"],
  });
  if (!(await isAncestor(composeBranchCall(run), to, head))) {
    const foreignChange = await restoreCheckout(run, head, from, to);
    if (foreignChange !== null) {
      return {
        because: "checkout_dirty",
        detail: `Uncommitted changes: ${displayPath(foreignChange)}.`,
      };
    }
  }

  await removeLandingRecord(run);
  return null;
}

/**
 * A lock from before the landing is another process's: it is waited for, and never deleted. Null
 * once all are gone.
 */
export async function waitForForeignLocks(run: RunWorkspace): Promise<LandingObstacle | null> {
  for (const lock of listLockPaths(run)) {
    if (!(await waitUntilGone(lock))) return createLockObstacle(lock);
  }

  return null;
}

export const isCheckoutLocked = (run: RunWorkspace): boolean =>
  listLockPaths(run).some((lock) => existsSync(lock));

const createLockObstacle = (lock: string): LandingObstacle => ({
  because: "checkout_busy",
  detail: `Another git is at work here, or was killed and left its lock: ${lock}.`,
});

/** What `git merge` locks when it moves a checkout forward. */
function listLockPaths({ repository, base }: RunWorkspace): readonly string[] {
  const branch =
    base.branch === null
      ? []
      : [join(repository.commonDir, "refs", "heads", `${base.branch}.lock`)];
  return [
    join(repository.gitDir, "index.lock"),
    join(repository.gitDir, "HEAD.lock"),
    join(repository.gitDir, "ORIG_HEAD.lock"),
    ...branch,
  ];
}

/**
 * Restores index and files to the branch's content (the branch may have moved meanwhile). If a file
 * isn't as the landing leaves it, nothing is touched, and that file is returned.
 */
async function restoreCheckout(
  run: RunWorkspace,
  head: GitSha,
  from: GitSha,
  to: GitSha,
): Promise<BytePath | null> {
  const touched = await listTouched(run, from, to);
  for (const path of touched) {
    if (!(await isFromLanding(run, path, from, to))) return path; // C2
  }

  if (touched.length === 0) return null;
  const headTree = await readTree(run.shadow.callIntoUser, head);
  const view = await openUserView(run.repository);
  const call = { ...view, env: { ...view.env, GIT_LITERAL_PATHSPECS: "1" } };
  await git({
    ...call,
    args: ["reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul", head],
    input: touched.map(toNulTerminated),
  });

  for (const path of touched) {
    if (!headTree.has(path)) rmSync(toDiskPath(run.repository.root, path), { force: true });
  }

  await git({
    ...call,
    args: ["checkout-index", "-q", "-f", "-u", "-z", "--stdin"],
    input: touched.filter((path) => headTree.has(path)).map(toNulTerminated),
  });

  return null;
}

/** The landing's files that have uncommitted changes now. */
async function listTouched(run: RunWorkspace, from: GitSha, to: GitSha): Promise<BytePath[]> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"];
  const { out } = await git({ ...composeBranchCall(run), args });
  const landed = out
    .toString("latin1")
    .split("\0")
    .filter((path) => path !== "") as BytePath[];

  const { changed, untracked } = await readCheckoutStatus(run.repository, run.isOwned);
  const differing = new Set([...changed, ...untracked]);
  return landed.filter((path) => differing.has(displayPath(path)));
}

const toNulTerminated = (path: BytePath): Buffer =>
  Buffer.concat([bytePathToBytes(path), Buffer.from([0])]);

/**
 * Whether a file is as the landing leaves it: gone, as before, or with the new content or its
 * beginning (C2).
 */
async function isFromLanding(
  run: RunWorkspace,
  path: BytePath,
  from: GitSha,
  to: GitSha,
): Promise<boolean> {
  const content = readCheckedOut(run, path);
  if (content === null) return true;
  if (content === "other") return false;
  const [oldContent, newContent] = [
    await readCommitted(run, from, path),
    await readCommitted(run, to, path),
  ];
  if (oldContent?.equals(content) === true) return true; // only the index had been updated

  return newContent !== null && newContent.subarray(0, content.length).equals(content);
}

/**
 * A file's content as a checkout would write it, with the user's own filters; null if the commit
 * has no such file.
 */
async function readCommitted(
  run: RunWorkspace,
  commit: GitSha,
  path: BytePath,
): Promise<Buffer | null> {
  const name = bytePathToText(path);
  // No run changes a file whose name isn't UTF-8 (judge-layer.ts), so what differs there is the
  // user's: the landing is not undone (C2). Git's argument could not name it either.
  if (name === null) return null;
  const { code, out } = await git({
    ...(await openUserView(run.repository)),
    args: ["cat-file", "--filters", `${commit}:${name}`],
    acceptedExitCodes: [0, 128],
  });
  return code === 0 ? out : null;
}

/**
 * What the checkout has at a path: a file's bytes, a link's target, something else; null if
 * nothing.
 */
function readCheckedOut(run: RunWorkspace, path: BytePath): Buffer | "other" | null {
  const file = toDiskPath(run.repository.root, path);
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (stat.isSymbolicLink()) return readlinkSync(file, { encoding: "buffer" });

  return stat.isFile() ? readFileSync(file) : "other";
}
