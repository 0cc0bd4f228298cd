// merge-child: merges a child run's branch into its parent's, as one commit on top.
//
// Invariants:
//   T1. Either all of it is merged or nothing: what the parent's branch changed meanwhile is never
//       overwritten; a conflict is reported.
//   T2. It is done at most once: its commit is found by its attempt.

import type { GitSha } from "../../contracts/ids.ts";
import type { AppliedCommit, MergeChildRequest } from "../../ports/workspace.ts";
import { findConflicts, refuseIfCheckedOut } from "./apply.ts";
import { describeApplied, commitOnTip } from "./commit-on-tip.ts";
import { findAttemptCommit, readTip } from "../git/run-commits.ts";
import type { LayerChange } from "../layers/judge-layer.ts";
import { writeTree } from "../git/materialize.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { readTree } from "../git/read-tree.ts";
import { isSameEntry, type Tree, type TreeEntry } from "../git/tree.ts";

/** The commit, the paths that conflict, or null if the child has changed nothing. */
export async function mergeChild(
  run: RunWorkspace,
  { attempt, since, commit: child, subject }: MergeChildRequest,
): Promise<AppliedCommit | { readonly conflict: readonly string[] } | null> {
  const tip = await readTip(run);
  const existing = await findAttemptCommit(run, attempt, tip.commit);
  if (existing !== null) return describeApplied(run, existing); // T2

  const readTreeOf = (commit: GitSha): Promise<Tree> => readTree(run.shadow.call, commit);
  const [base, theirs, ours] = await Promise.all([
    readTreeOf(since),
    readTreeOf(child),
    readTreeOf(tip.commit),
  ]);
  const changes = computeChanges(base, theirs);
  const conflict = findConflicts({ base, changes }, ours);
  if (conflict.length > 0) return { conflict }; // T1

  const call = run.shadow.callIntoUser;
  const rows = changes.map(({ path, after }) => [path, after] as const);
  const tree = await writeTree(run.shadow, call, tip.commit, rows);
  if (tree === tip.tree) return null;
  await refuseIfCheckedOut(run);

  return commitOnTip(run, { attempt, subject }, tip.commit, tree);
}

function computeChanges(base: Tree, theirs: Tree): readonly LayerChange[] {
  return [...new Set([...base.keys(), ...theirs.keys()])]
    .map((path) => ({ path, before: base.get(path) ?? null, after: theirs.get(path) ?? null }))
    .filter(({ before, after }) => !isSameEntry(before, after))
    .map(({ path, before, after }) => ({
      path,
      before,
      after: after === null ? null : { ...after, kind: toEntryKind(after) },
    }));
}

const toEntryKind = ({ mode }: TreeEntry): "file" | "link" => (mode === "120000" ? "link" : "file");
