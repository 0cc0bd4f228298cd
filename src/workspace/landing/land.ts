// land: merges the run's branch into the user's own and updates their checkout, the only time the runner touches it.
//
// Invariants:
//   N1. Nothing is forced: git itself moves the checkout forward, as `merge --ff-only` does (`read-tree -m -u`, then the branch), and
//       refuses if a file would be lost. It does so without the repository's own configuration (see user-view).
//   N2. Only into a checkout of the branch the run began on, without uncommitted changes to tracked files.
//   N3. A merge is computed without a checkout; if it conflicts, nothing was touched.
//   N4. Landing twice is landing once, even if the first was interrupted, and also with squashed commits.
//   N5. A file that is missing from the checkout and that the branch has recreated since isn't a change that could be lost: it comes back.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import type { LandResult } from "../../ports/workspace.ts";
import { buildBytePath, displayPath, type BytePath } from "../git/byte-path.ts";
import { isAncestor, lineBetween } from "../git/commits.ts";
import { filesAdded, filesAt, inTheWayOf, some } from "./files-in-the-way.ts";
import { foreignLock, forgetLanding, isLocked, undoCutLanding, writeLanding } from "./interrupted-landing.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git, type GitAnswer, gitLine, isDiskFull } from "../git/git.ts";
import { userRepositoryCall, shortOf, readTip } from "../git/history.ts";
import { headBranch, headCommit } from "../git/refs.ts";
import { identityEnv } from "../git/identity.ts";
import { writeTree } from "../git/materialize.ts";
import type { OpenRun } from "../run.ts";
import { lastSquashed, sidesSince, squashTrailer } from "./squash.ts";
import { changedIn } from "../git/status.ts";
import { type TreeEntry, treeIdOf } from "../git/tree.ts";
import { isTree, treeFolders } from "../git/tree-folders.ts";
import { userViewCall } from "../git/user-view.ts";

const racesMax = 5;
type Landed = Extract<LandResult, { readonly landed: true }>;
type Refusal = Extract<LandResult, { readonly landed: false }>;

export async function landRun(run: OpenRun, message: string, isSquashed = false): Promise<LandResult> {
  const tip = (await readTip(run)).commit;
  if (tip === run.base.commit) return refusal("nothing_to_land", "The run made no commit.");
  const { branch } = run.base;
  const current = await headBranch(run.repository);
  if (branch === null) return refusal("checkout_moved", `The run began on a detached HEAD, so its work stays on ${shortOf(run.ref)}.`);
  if (current !== `refs/heads/${branch}`)
    return refusal(
      "checkout_moved",
      `The run began on ${branch}; the checkout is on ${current === null ? "a detached HEAD" : shortOf(current)} now.`,
    ); // N2

  const cutShort = await undoCutLanding(run);
  for (let race = 0; ; race += 1) {
    const inTheWay = cutShort ?? (await foreignLock(run));
    const head = await headOf(run);
    const isAhead = head !== tip && (await isAncestor(run.shadow.call, head, tip));
    if (!isAhead && (await isAncestor(run.shadow.call, tip, head)))
      return { landed: true, how: await howItLanded(run, tip, head), commit: head }; // N4
    const before = isSquashed ? await lastSquashed(run, head) : null;
    if (before === tip) return { landed: true, how: "squash", commit: head }; // N4
    if (inTheWay !== null) return refusal(inTheWay.because, inTheWay.detail);
    const result = await landOn(run, head, tip, message, isSquashed ? (before ?? run.base.commit) : null);
    // Findings about a checkout that was moved meanwhile, for example by another run's landing, are outdated.
    if (result.landed || race >= racesMax || !(await isMoving(run, head))) return result;
  }
}

async function headOf({ repository }: OpenRun): Promise<GitSha> {
  const head = await headCommit(repository);
  if (head === null) throw new WorkspaceFailed("workspace_changed", `HEAD of ${repository.root} leads to no commit any more.`);
  return head;
}
const isMoving = async (run: OpenRun, head: GitSha): Promise<boolean> => isLocked(run) || (await headOf(run)) !== head;

/** `since`: what of the branch has landed already, if the rest is to be one commit. */
async function landOn(run: OpenRun, head: GitSha, tip: GitSha, message: string, since: GitSha | null): Promise<LandResult> {
  const changed = await changedIn(run.repository, run.isOwned);
  const remade = await remadeOn(run, head, tip); // N5
  const missing = changed.filter((path) => remade.has(path) && isMissing(run, path));
  const dirty = changed.filter((path) => !missing.includes(path));
  if (dirty.length > 0) return refusal("checkout_dirty", `Uncommitted changes: ${some(dirty)}.`); // N2
  if (since === null && (await isAncestor(run.shadow.call, head, tip)))
    return restored(run, await moveCheckout(run, head, tip, "fast_forward"), missing);

  const merged = await mergeCommit(run, head, tip, message, remade, since);
  const how = since === null ? "merge" : "squash";
  return "landed" in merged ? merged : restored(run, await moveCheckout(run, head, merged.commit, how), missing);
}

const isMissing = ({ repository }: OpenRun, path: string): boolean =>
  lstatSync(join(repository.root, path), { throwIfNoEntry: false }) === undefined;

/** What the branch has deleted and recreated since it last landed, as it is at its tip. */
async function remadeOn(run: OpenRun, head: GitSha, tip: GitSha): Promise<ReadonlyMap<string, readonly [BytePath, TreeEntry]>> {
  const call = run.shadow.callIntoUser;
  if ((await lineBetween(call, head, tip))?.length === 1) return new Map(); // a single commit cannot recreate what it deleted
  const args = ["log", "-z", "--format=", "--name-status", "--no-renames", "--diff-filter=AD", `${head}..${tip}`, "--"];
  const words = (await git({ ...call, args })).out.toString("latin1").split("\0");
  const [added, deleted] = [new Set<string>(), new Set<string>()];
  for (let index = 0; index + 1 < words.length; index += 2) (words[index] === "A" ? added : deleted).add(words[index + 1] ?? "");
  const both = [...added].filter((path) => deleted.has(path)).map((path) => buildBytePath(Buffer.from(path, "latin1")));
  const [tree, folders] = [await treeIdOf(call, tip), treeFolders(call)];
  const remade = new Map<string, readonly [BytePath, TreeEntry]>();
  for (const path of both) {
    const entry = await folders.at(tree, path);
    if (entry !== undefined && !isTree(entry)) remade.set(displayPath(path), [path, entry]);
  }
  return remade;
}

/** Git leaves alone what is the same in both commits, even if it is missing. */
async function restored(run: OpenRun, result: LandResult, missing: readonly string[]): Promise<LandResult> {
  if (!result.landed || missing.length === 0) return result;
  const input = missing.map((path) => Buffer.from(`${path}\0`));
  await git({ ...userViewCall(run.repository), args: ["checkout-index", "-q", "-u", "-z", "--stdin"], input, codes: [0, 1] });
  return result;
}

const refusal = (because: Refusal["because"], detail: string): Refusal => ({ landed: false, because, detail });

async function howItLanded(run: OpenRun, tip: GitSha, head: GitSha): Promise<"fast_forward" | "merge"> {
  const { out } = await git({
    ...userRepositoryCall(run),
    args: ["rev-list", "--merges", "--parents", `${run.base.commit}..${head}`, "--"],
  });
  return out
    .toString("utf8")
    .split("\n")
    .some((line) => line.split(" ").slice(2).includes(tip))
    ? "merge"
    : "fast_forward";
}

/** The merge of both sides as a commit on no branch yet (N3). A file that the user deleted and the branch recreated is in it (N5). */
async function mergeCommit(
  run: OpenRun,
  head: GitSha,
  tip: GitSha,
  message: string,
  remade: Awaited<ReturnType<typeof remadeOn>>,
  since: GitSha | null,
): Promise<{ readonly commit: GitSha } | Refusal> {
  const call = run.shadow.callIntoUser;
  const sides = since === null ? [head, tip] : await sidesSince(run, since, head, tip);
  const merge = await git({
    ...call,
    args: ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ...sides],
    codes: [0, 1, 128, 129],
  });
  const [tree = "", ...names] = merge.out.toString("utf8").split("\0");
  const deleted = new Map([...remade].filter(([path]) => isMissing(run, path)));
  const conflicts = [...new Set(names.filter((name) => name !== "" && !deleted.has(name)))];
  if (merge.code === 1 && conflicts.length > 0) return refusal("merge_conflict", `Both sides changed ${some(conflicts)}.`);
  if (merge.code === 129) return refusal("merge_conflict", "This git is too old to merge without a checkout (2.38 or newer is needed).");
  if (merge.code !== 0 && merge.code !== 1) return refusal("merge_conflict", merge.err.trim().slice(0, 500));
  const text = message.trim() === "" ? `Merge ${shortOf(run.ref)}` : message.trim();
  const input = [Buffer.from(`${text}\n\nAutopilot-Run: ${run.runId}\n${since === null ? "" : squashTrailer(tip)}`)];
  const whole = deleted.size === 0 ? tree : await writeTree(run.shadow, call, tree, deleted.values());
  const commit = await gitLine({
    ...call,
    env: { ...call.env, ...identityEnv(run.identity) },
    args: ["commit-tree", whole, "-p", head, ...(since === null ? ["-p", tip] : []), "-F", "-"],
    input,
  });
  return { commit };
}

/** Git moves branch, index and files together, with the user's own filters, and refuses if a file is in the way (N1). */
async function moveCheckout(run: OpenRun, from: GitSha, to: GitSha, how: Landed["how"]): Promise<LandResult> {
  // Git would refuse most of them as well; checking first leaves even its index untouched.
  const inTheWay = filesAt(run.repository, await filesAdded(run.shadow.callIntoUser, from, to));
  if (inTheWay.length > 0) return refusal("checkout_dirty", `${inTheWayOf(inTheWay)}.`);
  await writeLanding(run, from, to);
  const answer = await moveForward(run, from, to);
  const head = await headOf(run);
  if (answer.code === 0 && head === to) {
    await forgetLanding(run);
    return { landed: true, how, commit: to };
  }
  // Without the index git has not begun; if it fails later it leaves a checkout half moved.
  await (/index\.lock': File exists/.test(answer.err) ? forgetLanding(run) : undoCutLanding(run));
  if (await isDiskFull(answer, run.repository.root))
    throw new WorkspaceFailed("disk_full", "The disk is full, so the work could not be landed.");
  return refusal("checkout_dirty", `Git would not update the checkout: ${answer.err.trim().replace(/\s+/g, " ").slice(0, 500)}`);
}

/** Files and index first, then the branch: an interruption in between is undone by interrupted-landing.ts. */
async function moveForward(run: OpenRun, from: GitSha, to: GitSha): Promise<GitAnswer> {
  const view = userViewCall(run.repository);
  const move = (): Promise<GitAnswer> => git({ ...view, args: ["read-tree", "-m", "-u", from, to], codes: [0, 1, 128] });
  const first = await move();
  // A touched file isn't a change, but git takes it for one until its index is refreshed. It writes no file before it has checked all of
  // them.
  const refreshed = /not uptodate/.test(first.err)
    ? await git({ ...view, args: ["update-index", "-q", "--refresh"], codes: [0, 1, 128] })
    : null;
  if (refreshed?.code === 128) return refreshed;
  const moved = refreshed === null ? first : await move();
  if (moved.code !== 0) return moved;
  const user = userRepositoryCall(run);
  return git({
    ...user,
    env: { ...user.env, ...identityEnv(run.identity) },
    args: ["update-ref", "-m", "autopilot land: Fast-forward", "HEAD", to, from],
    codes: [0, 1, 128],
  });
}
