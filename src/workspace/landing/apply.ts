// apply: turns what an attempt changed into one commit on the run's branch, without a working tree.
//
// Invariants:
//   A1. Either every change of the attempt is applied or none is.
//   A2. An attempt has at most one commit: it is searched before one is made, and the branch moves
//       only from the tip that was inspected.
//   A3. Exactly what was judged is committed: blobs are verified by the hash that was judged.
//   A4. A crash anywhere leaves the branch as it was, or with the whole commit on it; git gc
//       collects stray objects.

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import type { AppliedCommit } from "../../ports/workspace.ts";
import { listParentFolders, displayPath, type BytePath } from "../git/byte-path.ts";
import { examineLayer, type Examined } from "../layers/examine.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git, toGitFailure } from "../git/git.ts";
import {
  findAttemptCommit,
  composeBranchCall,
  composeRunMessage,
  readChangedDisplayPaths,
  toShortBranchName,
  readTip,
} from "../git/run-commits.ts";
import { toIdentityVariables } from "../git/identity.ts";
import type { LayerChange } from "../layers/judge-layer.ts";
import { writeTree } from "../git/materialize.ts";
import { findCollisions } from "../git/confusable-names.ts";
import { createCommit } from "../git/new-commit.ts";
import { storeBlobs } from "../git/store-blobs.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readTree } from "../git/read-tree.ts";
import { readBranchOfHead } from "../git/refs.ts";
import { isSameEntry, type Tree } from "../git/tree.ts";

/** How often applying starts over because another process moved the branch meanwhile. */
const racesMax = 5;
const errorCharsMax = 500;

/**
 * Commits an attempt's changes; returns the paths in conflict if the branch changed the same, and
 * null if there is nothing to apply.
 */
export async function applyAttempt(
  run: RunWorkspace,
  attempt: AttemptId,
  subject: string,
): Promise<AppliedCommit | { readonly conflict: readonly string[] } | null> {
  for (let race = 0; race < racesMax; race += 1) {
    const tip = await readTip(run);
    const existing = await findAttemptCommit(run, attempt, tip.commit);
    if (existing !== null) {
      return {
        commit: existing.commit,
        parent: existing.parent,
        tree: existing.tree,
        paths: await readChangedDisplayPaths(run, existing.parent, existing.commit),
        notApplied: await countIgnored(run, attempt),
      };
    } // A2

    const examined = await examineLayer(run, attempt);
    refuseViolations(examined); // A1
    if (examined.changes.length === 0) return null;
    const tipTree =
      tip.commit === examined.record.base
        ? examined.base
        : await readTree(run.shadow.call, tip.commit);
    const conflict = findConflicts(examined, tipTree);
    if (conflict.length > 0) return { conflict };
    const applied = await commitAttempt(run, { attempt, subject, tip, examined });
    if (applied === "moved") continue;
    if (applied === null) return null;
    await run.layers.write({
      ...examined.record,
      applied: applied.commit,
      dependencies: [...examined.dependencies],
    });

    return applied;
  }

  throw new WorkspaceFailed(
    "workspace_changed",
    `The run's branch ${toShortBranchName(run.ref)} kept moving while a commit was being added.`,
  );
}

/**
 * The commit that applying would make, on no branch; null if nothing can be applied. A crash leaves
 * only stray objects.
 */
export async function previewAttempt(
  run: RunWorkspace,
  attempt: AttemptId,
): Promise<GitSha | null> {
  const tip = await readTip(run);
  const examined = await examineLayer(run, attempt);
  const tipTree =
    tip.commit === examined.record.base
      ? examined.base
      : await readTree(run.shadow.call, tip.commit);
  if (
    examined.violations.length > 0 ||
    examined.changes.length === 0 ||
    findConflicts(examined, tipTree).length > 0
  ) {
    return null;
  }

  return (
    (await createAttemptCommit(run, { attempt, subject: "preview", tip, examined }))?.commit ?? null
  );
}

/** Throws if there is a violation: then nothing may be applied. */
export function refuseViolations({ violations }: Pick<Examined, "violations">): void {
  const [first] = violations;
  if (first === undefined) return;
  throw new WorkspaceFailed(
    violations.every(({ kind }) => kind === "secret")
      ? "secret_in_changes"
      : "scope_violation_blocked",
    `${violations.length} violation(s), the first: ${first.path} (${first.kind}: ${first.detail}). Nothing was applied.`,
  );
}

/** The paths that both the branch and the layer changed since the layer was made. */
export function findConflicts(
  { base, changes }: Pick<Examined, "base" | "changes">,
  tip: Tree,
): readonly string[] {
  if (tip === base) return [];
  const changesByPath = new Map(changes.map((change) => [change.path, change]));
  const tipFolders = new Set([...tip.keys()].flatMap(listParentFolders));

  const conflicts = changes.filter(({ path, before, after }) => {
    const tipEntry = tip.get(path) ?? null;
    if (!isSameEntry(tipEntry, before) && !isSameEntry(tipEntry, after)) return true;
    if (after === null) return false;
    // The branch now has a folder where we have a file, or a file where we have a folder.
    const isRemaining = (tipPath: BytePath): boolean => !isDeleted(changesByPath, tipPath);

    if (
      tipFolders.has(path) &&
      [...tip.keys()].some((tipPath) => tipPath.startsWith(`${path}/`) && isRemaining(tipPath))
    ) {
      return true;
    }

    return listParentFolders(path).some((folder) => tip.has(folder) && isRemaining(folder));
  });

  const created = changes
    .filter(({ path, after }) => after !== null && !tip.has(path))
    .map(({ path }) => displayPath(path));

  const remaining = [...tip.keys()]
    .filter((path) => !isDeleted(changesByPath, path))
    .map(displayPath);
  const collisions = findCollisions(created, remaining).map(({ path }) => path);
  return [...new Set([...conflicts.map(({ path }) => displayPath(path)), ...collisions])].sort();
}

const isDeleted = (changesByPath: ReadonlyMap<BytePath, LayerChange>, path: BytePath): boolean =>
  changesByPath.get(path)?.after === null;

type AttemptCommitInput = {
  readonly attempt: AttemptId;
  readonly subject: string;
  readonly tip: { readonly commit: GitSha; readonly tree: GitSha };
  readonly examined: Examined;
};

async function commitAttempt(
  run: RunWorkspace,
  input: AttemptCommitInput,
): Promise<AppliedCommit | "moved" | null> {
  const { tip, examined } = input;
  await refuseIfCheckedOut(run);
  const commit = await createAttemptCommit(run, input);
  if (commit === null) return null;
  run.failpoint("commit_written");
  if (!(await moveBranch(run, commit.commit, tip.commit))) return "moved"; // A2, A4
  run.failpoint("branch_moved");

  return {
    ...commit,
    parent: tip.commit,
    paths: await readChangedDisplayPaths(run, tip.commit, commit.commit),
    notApplied: examined.ignored,
  };
}

/** Creates the commit, on no branch yet; null if its tree would be the tip's. */
async function createAttemptCommit(
  run: RunWorkspace,
  { attempt, subject, tip, examined }: AttemptCommitInput,
): Promise<{ readonly commit: GitSha; readonly tree: GitSha } | null> {
  const call = run.shadow.callIntoUser;
  const { folder, changes } = examined;
  await storeBlobs(call, {
    folder,
    format: run.shadow.format,
    changes,
    bytesMax: run.fileBytesMax,
  }); // A3

  run.failpoint("blobs_stored");
  const tree = await writeTree(
    run.shadow,
    call,
    tip.commit,
    examined.changes.map(({ path, after }) => [path, after]),
  );
  if (tree === tip.tree) return null;
  run.failpoint("tree_written");
  const message = composeRunMessage(run, attempt, subject);

  const commit = await createCommit(call, run.shadow.format, {
    tree,
    parents: [tip.commit],
    identity: run.identity,
    message,
  });

  return { commit, tree };
}

/**
 * Moves the branch from one commit to the next; false if it is no longer at the expected commit.
 */
export async function moveBranch(run: RunWorkspace, to: GitSha, from: GitSha): Promise<boolean> {
  const user = composeBranchCall(run);
  const answer = await git({
    ...user,
    env: { ...user.env, ...toIdentityVariables(run.identity) },
    args: ["update-ref", "-m", "autopilot: attempt applied", run.ref, to, from],
    acceptedExitCodes: [0, 1, 128],
  });
  if (answer.code === 0) return true;
  if ((await readTip(run)).commit !== from) return false;
  throw toGitFailure(
    user,
    answer,
    `The run's branch could not be moved: ${answer.err.trim().slice(0, errorCharsMax)}`,
  );
}

/**
 * Throws if the run's branch is checked out somewhere: moving it would make the user's files look
 * changed.
 */
export async function refuseIfCheckedOut(run: RunWorkspace): Promise<void> {
  if (run.isApart) return;
  const { gitDir, commonDir } = run.repository;
  if (existsSync(join(commonDir, "reftable"))) return refuseIfInWorktreeList(run);
  const linked = await readdir(join(commonDir, "worktrees")).catch(() => []);
  const gitDirs = [commonDir, gitDir, ...linked.map((name) => join(commonDir, "worktrees", name))];
  if (gitDirs.some((folder) => readBranchOfHead(folder) === run.ref)) {
    throw createCheckedOutError(run);
  }
}

/** Only git can read branches that are in a reftable. */
async function refuseIfInWorktreeList(run: RunWorkspace): Promise<void> {
  const { out } = await git({
    ...composeBranchCall(run),
    args: ["worktree", "list", "--porcelain"],
  });
  if (out.toString("utf8").split("\n").includes(`branch ${run.ref}`)) {
    throw createCheckedOutError(run);
  }
}

const createCheckedOutError = ({ ref }: RunWorkspace): WorkspaceFailed =>
  new WorkspaceFailed(
    "workspace_changed",
    `The run's branch ${toShortBranchName(ref)} is checked out; switch to another branch, then resume.`,
  );

async function countIgnored(run: RunWorkspace, attempt: AttemptId): Promise<number> {
  return (await run.layers.read(attempt)) === null ? 0 : (await examineLayer(run, attempt)).ignored;
}
