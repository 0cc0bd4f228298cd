// revert: undoes in one commit what the attempts of one cursor committed, and nothing else.
//
// Invariants:
//   U1. The reverted work is kept on its own branch, created before anything is undone; no branch is moved or overwritten for it.
//   U2. It is a commit on top: history is never rewritten.
//   U3. Either all of it is reverted or nothing: if others changed the same since, both sides are merged, and a conflict is reported.
//   U4. It is done at most once: its commit is found by its key.

import type { GitSha } from "../../contracts/ids.ts";
import type { RevertRequest, RevertResult } from "../../ports/workspace.ts";
import { refuseIfCheckedOut } from "./apply.ts";
import { buildBytePath, foldersAbove, displayPath, type BytePath } from "../git/byte-path.ts";
import { appliedBy, commitOnTip } from "./commit-on-tip.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git, gitLine } from "../git/git.ts";
import { userRepositoryCall, ownCommits, type RunCommit, shortOf, readTip, trailerValue } from "../git/history.ts";
import { identityEnv } from "../git/identity.ts";
import { writeTree } from "../git/materialize.ts";
import type { OpenRun } from "../run.ts";
import { readTree } from "../git/read-tree.ts";
import { isSame, type Tree, type TreeEntry } from "../git/tree.ts";

const namesMax = 100;

export async function takeBack(run: OpenRun, request: RevertRequest): Promise<RevertResult> {
  const tip = await readTip(run);
  const commits = await ownCommits(run, tip.commit);
  const done = commits.find(({ attempt }) => attempt === trailerValue(request.attempt)); // U4
  if (done !== undefined)
    return { applied: await appliedBy(run, done), branch: await readKeeper(run, request.branch, done.parent), conflict: [] };
  const behind = commitsBehind(run, commits, request.since);
  const { rows, shared } = await readChanges(run, request, behind, tip.commit);
  if (rows.length + shared.length === 0) return { applied: null, branch: null, conflict: [] };
  const tree = shared.length === 0 ? await treeWith(run, tip.commit, rows) : await mergedTree(run, request, behind, tip.commit); // U3
  if (tree === null) return { applied: null, branch: null, conflict: shared.map(displayPath) };
  if (tree === tip.tree) return { applied: null, branch: null, conflict: [] };
  await refuseIfCheckedOut(run);
  const branch = await readKeeper(run, request.branch, tip.commit); // U1
  run.failpoint("kept");
  return { applied: await commitOnTip(run, request, tip.commit, tree), branch, conflict: [] };
}

/** The run's commits after one of its own, or after the base. */
function commitsBehind(run: OpenRun, commits: readonly RunCommit[], since: GitSha): readonly RunCommit[] {
  if (since === run.base.commit) return commits;
  const index = commits.findIndex(({ commit }) => commit === since);
  if (index < 0)
    throw new WorkspaceFailed("workspace_changed", `The run's branch ${shortOf(run.ref)} no longer contains ${since.slice(0, 12)}.`);
  return commits.slice(index + 1);
}

type Row = readonly [BytePath, TreeEntry | null];

const isOf = ({ attempt }: RunCommit, of: string): boolean => attempt.startsWith(trailerValue(of));

/** Paths to restore, and those among them that others have changed since. */
async function readChanges(
  run: OpenRun,
  { of, since }: RevertRequest,
  commits: readonly RunCommit[],
  tip: GitSha,
): Promise<{ readonly rows: readonly Row[]; readonly shared: readonly BytePath[] }> {
  const own = new Set<BytePath>();
  const others = new Set<BytePath>();
  for (const commit of commits) {
    const touched = isOf(commit, of) ? own : others;
    for (const path of await changedIn(run, commit.parent, commit.commit)) touched.add(path);
  }
  const [was, is] = await Promise.all([readTree(run.shadow.call, since), readTree(run.shadow.call, tip)]);
  const changedBytePaths = [...own].filter((path) => !isSame(was.get(path) ?? null, is.get(path) ?? null)).sort();
  const isShared = (path: BytePath): boolean => others.has(path) || isInTheWay(path, was, is, own);
  return {
    rows: changedBytePaths.filter((path) => !isShared(path)).map((path) => [path, was.get(path) ?? null]),
    shared: changedBytePaths.filter(isShared),
  };
}

const treeWith = (run: OpenRun, onto: GitSha, rows: readonly Row[]): Promise<GitSha> =>
  writeTree(run.shadow, run.shadow.callIntoUser, onto, rows);

/** As git reverts: what others did since, without the reverted commits. Null if that conflicts, or the commits are interleaved. */
async function mergedTree(run: OpenRun, { of, since }: RevertRequest, commits: readonly RunCommit[], tip: GitSha): Promise<GitSha | null> {
  const first = commits.findIndex((commit) => !isOf(commit, of));
  const lastRunCommit = commits[first - 1];
  if (lastRunCommit === undefined || commits.slice(first).some((commit) => isOf(commit, of))) return null;
  const call = run.shadow.callIntoUser;
  // A commit on no branch that undoes it where it was done, so that what came after is the other side of a merge.
  const undone = await gitLine({
    ...call,
    env: { ...call.env, ...identityEnv(run.identity) },
    args: ["commit-tree", `${since}^{tree}`, "-p", lastRunCommit.commit, "-m", "undone"],
  });
  const { code, out } = await git({
    ...call,
    args: ["merge-tree", "--write-tree", "-z", "--no-messages", tip, undone],
    codes: [0, 1, 128, 129], // git versions without it exit with 129
  });
  return code === 0 ? (out.toString("utf8").split("\0")[0] ?? null) : null;
}

/** Whether something of others is where a file would be restored: a folder of its name, or a file in place of its parent folder. */
function isInTheWay(path: BytePath, was: Tree, is: Tree, own: ReadonlySet<BytePath>): boolean {
  if (!was.has(path)) return false;
  if (foldersAbove(path).some((folder) => is.has(folder) && !own.has(folder))) return true;
  return !is.has(path) && [...is.keys()].some((other) => other.startsWith(`${path}/`) && !own.has(other));
}

async function changedIn(run: OpenRun, from: GitSha, to: GitSha): Promise<readonly BytePath[]> {
  const { out } = await git({ ...run.shadow.call, args: ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to, "--"] });
  return out
    .toString("latin1")
    .split("\0")
    .filter((path) => path !== "")
    .map((path) => buildBytePath(Buffer.from(path, "latin1")));
}

/** The branch that keeps a commit: of this name, or with a number if that is taken by another. */
async function readKeeper(run: OpenRun, name: string, commit: GitSha): Promise<string> {
  const user = userRepositoryCall(run);
  for (let n = 1; n <= namesMax; n += 1) {
    const branch = n === 1 ? name : `${name}-${n}`;
    const ref = `refs/heads/${branch}`;
    const there = await git({ ...user, args: ["rev-parse", "--verify", "-q", `${ref}^{commit}`], codes: [0, 1, 128] });
    if (there.out.toString("utf8").trim() === commit) return branch;
    if (there.code === 0) continue;
    const made = await git({
      ...user,
      env: { ...user.env, ...identityEnv(run.identity) },
      args: ["update-ref", "-m", "autopilot: kept before it is taken back", ref, commit, "0".repeat(commit.length)],
      codes: [0, 1, 128],
    });
    if (made.code === 0) return branch;
  }
  throw new WorkspaceFailed("workspace_unusable", `No branch ${name} could be made to keep what is to be taken back.`);
}
