// revert: undoes in one commit what a group of attempts (all those of a step or a phase) committed,
// and nothing else.
//
// Invariants:
//   U1. The reverted work is kept on its own branch, created before anything is undone; no branch
//       is moved or overwritten for it.
//   U2. It is a commit on top: history is never rewritten.
//   U3. Either all of it is reverted or nothing: if others changed the same since, both sides are
//       merged, and a conflict is reported.
//   U4. It is done at most once: its commit is found by its attempt.

import type { GitSha } from "../../contracts/ids.ts";
import type { RevertRequest, RevertResult } from "../../ports/workspace.ts";
import { refuseIfCheckedOut } from "./apply.ts";
import { listParentFolders, displayPath, type BytePath } from "../git/byte-path.ts";
import { describeApplied, commitOnTip } from "./commit-on-tip.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git, readGitLine } from "../git/git.ts";
import {
  composeBranchCall,
  readRunCommits,
  type RunCommit,
  toShortBranchName,
  readTip,
  encodeTrailerValue,
} from "../git/run-commits.ts";
import { toIdentityVariables } from "../git/identity.ts";
import { writeTree } from "../git/materialize.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readTree } from "../git/read-tree.ts";
import { isSameEntry, type Tree } from "../git/tree.ts";
import { readFileDifferences, type TreeChange } from "../git/tree-folders.ts";

const branchNamesMax = 100;

/** Reverts the attempts, or says what is in conflict. */
export async function revertAttempts(
  run: RunWorkspace,
  request: RevertRequest,
): Promise<RevertResult> {
  const tip = await readTip(run);
  const commits = await readRunCommits(run, tip.commit);
  const existing = commits.find(({ attempt }) => attempt === encodeTrailerValue(request.attempt)); // U4
  if (existing !== undefined) {
    return {
      applied: await describeApplied(run, existing),
      branch: await keepOnBranch(run, request.branch, existing.parent),
      conflict: [],
    };
  }

  const laterCommits = listCommitsAfter(run, commits, request.since);
  const { rows, shared } = await readChanges(run, request, laterCommits, tip.commit);
  if (rows.length + shared.length === 0) return { applied: null, branch: null, conflict: [] };
  const tree =
    shared.length === 0
      ? await writeTreeChanges(run, tip.commit, rows)
      : await mergeWithoutReverted(run, request, laterCommits, tip.commit); // U3
  if (tree === null) return { applied: null, branch: null, conflict: shared.map(displayPath) };
  if (tree === tip.tree) return { applied: null, branch: null, conflict: [] };
  await refuseIfCheckedOut(run);
  const branch = await keepOnBranch(run, request.branch, tip.commit); // U1
  run.failpoint("kept");

  return { applied: await commitOnTip(run, request, tip.commit, tree), branch, conflict: [] }; // U2
}

/** The run's commits after one of its own, or after the base. */
function listCommitsAfter(
  run: RunWorkspace,
  commits: readonly RunCommit[],
  since: GitSha,
): readonly RunCommit[] {
  if (since === run.base.commit) return commits;
  const index = commits.findIndex(({ commit }) => commit === since);
  if (index < 0) {
    throw new WorkspaceFailed(
      "workspace_changed",
      `The run's branch ${toShortBranchName(run.ref)} no longer contains ${since.slice(0, 12)}.`,
    );
  }

  return commits.slice(index + 1);
}

/** Whether a commit is of one of the attempts to revert, whose ids have a common prefix. */
const belongsTo = ({ attempt }: RunCommit, prefix: string): boolean =>
  attempt.startsWith(encodeTrailerValue(prefix));

/** Paths to restore, and those among them that others have changed since. */
async function readChanges(
  run: RunWorkspace,
  { of: prefix, since }: RevertRequest,
  commits: readonly RunCommit[],
  tip: GitSha,
): Promise<{ readonly rows: readonly TreeChange[]; readonly shared: readonly BytePath[] }> {
  const revertedPaths = new Set<BytePath>();
  const otherPaths = new Set<BytePath>();

  for (const commit of commits) {
    const touched = belongsTo(commit, prefix) ? revertedPaths : otherPaths;
    for (const { path } of await readFileDifferences(
      run.shadow.call,
      commit.parent,
      commit.commit,
    )) {
      touched.add(path);
    }
  }

  const [treeBefore, treeNow] = await Promise.all([
    readTree(run.shadow.call, since),
    readTree(run.shadow.call, tip),
  ]);
  const isChanged = (path: BytePath): boolean =>
    !isSameEntry(treeBefore.get(path) ?? null, treeNow.get(path) ?? null);
  const changedPaths = [...revertedPaths].filter(isChanged).sort();
  const isShared = (path: BytePath): boolean =>
    otherPaths.has(path) || isBlocked(path, treeBefore, treeNow, revertedPaths);

  return {
    rows: changedPaths
      .filter((path) => !isShared(path))
      .map((path) => [path, treeBefore.get(path) ?? null]),
    shared: changedPaths.filter(isShared),
  };
}

const writeTreeChanges = (
  run: RunWorkspace,
  onto: GitSha,
  rows: readonly TreeChange[],
): Promise<GitSha> => writeTree(run.shadow, run.shadow.callIntoUser, onto, rows);

/**
 * As `git revert` does: the tree of what others did since, without the reverted commits. Null if
 * that conflicts, or they are interleaved.
 */
async function mergeWithoutReverted(
  run: RunWorkspace,
  { of: prefix, since }: RevertRequest,
  commits: readonly RunCommit[],
  tip: GitSha,
): Promise<GitSha | null> {
  const firstOther = commits.findIndex((commit) => !belongsTo(commit, prefix));
  const lastReverted = commits[firstOther - 1];
  if (
    lastReverted === undefined ||
    commits.slice(firstOther).some((commit) => belongsTo(commit, prefix))
  ) {
    return null;
  }

  const call = run.shadow.callIntoUser;
  // A commit on no branch that undoes the work right after its last commit, so that what came after
  // is the other side of a merge.
  const revertingCommit = await readGitLine({
    ...call,
    env: { ...call.env, ...toIdentityVariables(run.identity) },
    args: ["commit-tree", `${since}^{tree}`, "-p", lastReverted.commit, "-m", "undone"],
  });

  const { code, out } = await git({
    ...call,
    args: ["merge-tree", "--write-tree", "-z", "--no-messages", tip, revertingCommit],
    acceptedExitCodes: [0, 1, 128, 129], // git versions without it exit with 129
  });
  return code === 0 ? (out.toString("utf8").split("\0")[0] ?? null) : null;
}

/**
 * Whether others put something where a file would be restored: a folder of its name, or a file in
 * place of its parent folder.
 */
function isBlocked(
  path: BytePath,
  treeBefore: Tree,
  treeNow: Tree,
  revertedPaths: ReadonlySet<BytePath>,
): boolean {
  if (!treeBefore.has(path)) return false;
  if (listParentFolders(path).some((folder) => treeNow.has(folder) && !revertedPaths.has(folder))) {
    return true;
  }

  return (
    !treeNow.has(path) &&
    [...treeNow.keys()].some((file) => file.startsWith(`${path}/`) && !revertedPaths.has(file))
  );
}

/** The branch that keeps a commit: of this name, or with a number if that is taken by another. */
async function keepOnBranch(run: RunWorkspace, name: string, commit: GitSha): Promise<string> {
  const user = composeBranchCall(run);
  for (let ordinal = 1; ordinal <= branchNamesMax; ordinal += 1) {
    const branch = ordinal === 1 ? name : `${name}-${ordinal}`;
    const ref = `refs/heads/${branch}`;

    const existing = await git({
      ...user,
      args: ["rev-parse", "--verify", "-q", `${ref}^{commit}`],
      acceptedExitCodes: [0, 1, 128],
    });
    if (existing.out.toString("utf8").trim() === commit) return branch;
    if (existing.code === 0) continue;

    const created = await git({
      ...user,
      env: { ...user.env, ...toIdentityVariables(run.identity) },
      args: [
        "update-ref",
        "-m",
        "autopilot: kept before it is taken back",
        ref,
        commit,
        "0".repeat(commit.length),
      ],
      acceptedExitCodes: [0, 1, 128],
    });
    if (created.code === 0) return branch;
  }

  throw new WorkspaceFailed(
    "workspace_unusable",
    `No branch ${name} could be made to keep what is to be taken back.`,
  );
}
