// commit-files: commits files that the runner itself writes, on top of its branch. It writes git
// objects and needs no folder: a layer may be a view of a base, in which the parent folder of a
// file may be missing and deleting a file deletes nothing.
//
// Invariants:
//   C1. Either all of the files are committed or none; what the branch changed since they were read
//       is a conflict, never overwritten.
//   C2. It is done at most once: its commit is found by its attempt.
//   C3. Nothing is written through a link: whatever is at a file's path, or at that of a parent
//       folder, is replaced.
//   C4. The runner's own files are judged like an agent's: inside the scope, within the size,
//       without a secret.

import type { GitSha } from "../../contracts/ids.ts";
import type { AppliedCommit, CommitFilesRequest, Violation } from "../../ports/workspace.ts";
import { bytePathFromText, listParentFolders, type BytePath } from "../git/byte-path.ts";
import { findAttemptCommit, readTip } from "../git/run-commits.ts";
import { writeObject } from "../git/loose-objects.ts";
import { writeTree } from "../git/materialize.ts";
import { isTree, isSameEntry, resolveTree, type TreeEntry } from "../git/tree.ts";
import { openTreeFolders } from "../git/tree-folders.ts";
import { findSecretsInText } from "../layers/secrets-in-changes.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { refuseIfCheckedOut, refuseViolations } from "./apply.ts";
import { describeApplied, commitOnTip } from "./commit-on-tip.ts";

/** Commits the files; null if nothing differs, or the paths in conflict. */
export async function commitFiles(
  run: RunWorkspace,
  { attempt, since, files, subject }: CommitFilesRequest,
): Promise<AppliedCommit | { readonly conflict: readonly string[] } | null> {
  const tip = await readTip(run);
  const existing = await findAttemptCommit(run, attempt, tip.commit);
  if (existing !== null) return describeApplied(run, existing); // C2
  const violations = (
    await Promise.all(files.map((file) => findViolations(run, since, file)))
  ).flat();

  refuseViolations({ violations }); // C4
  const conflict = await findConflicts(run, since, tip.tree, files);
  if (conflict.length > 0) return { conflict }; // C1
  const rows = new Map<BytePath, TreeEntry | null>();

  for (const file of files) {
    for (const [path, entry] of await createTreeChanges(run, tip.tree, file)) rows.set(path, entry);
  }

  const tree = await writeTree(run.shadow, run.shadow.callIntoUser, tip.commit, rows);
  if (tree === tip.tree) return null;
  await refuseIfCheckedOut(run);

  return commitOnTip(run, { attempt, subject }, tip.commit, tree);
}

type RunnerFile = CommitFilesRequest["files"][number];

async function findViolations(
  run: RunWorkspace,
  since: GitSha,
  { path, text }: RunnerFile,
): Promise<readonly Violation[]> {
  if (!run.inScope(path)) {
    return [
      { path, kind: "outside_scope", detail: "the runner's own file is outside the run's scope" },
    ];
  }

  if (text === null) return [];
  const bytes = Buffer.byteLength(text);
  if (bytes > run.fileBytesMax) {
    return [{ path, kind: "too_large", detail: `${bytes} bytes, at most ${run.fileBytesMax}` }];
  }

  return findSecretsInText(run, since, path, text);
}

/** The files that the branch changed since they were read (C1). */
async function findConflicts(
  run: RunWorkspace,
  since: GitSha,
  tip: GitSha,
  files: readonly RunnerFile[],
): Promise<readonly string[]> {
  const folders = openTreeFolders(run.shadow.call);
  const sinceTree = await resolveTree(run.shadow.call, since);
  const changed: string[] = [];

  for (const { path } of sinceTree === tip ? [] : files) {
    const [readEntry, tipEntry] = await Promise.all(
      [sinceTree, tip].map((tree) => folders.findEntry(tree, bytePathFromText(path))),
    );
    if (!isSameEntry(readEntry ?? null, tipEntry ?? null)) changed.push(path);
  }

  return changed;
}

/**
 * The tree changes for one file: its own, and the deletion of whatever is in its way: a file above
 * it, or a folder at its path. C3
 */
async function createTreeChanges(
  run: RunWorkspace,
  tree: GitSha,
  { path: pathText, text }: RunnerFile,
): Promise<readonly (readonly [BytePath, TreeEntry | null])[]> {
  const path = bytePathFromText(pathText);
  if (text === null) return [[path, null]];
  const folders = openTreeFolders(run.shadow.call);
  const rows: (readonly [BytePath, TreeEntry | null])[] = [];

  for (const parent of listParentFolders(path)) {
    const entry = await folders.findEntry(tree, parent);
    if (entry !== undefined && !isTree(entry)) rows.push([parent, null]);
  }

  for await (const [below] of folders.listFilesBelow(tree, path)) rows.push([below, null]);
  const content = Buffer.from(text, "utf8");
  const sha = await writeObject(run.shadow.callIntoUser, run.shadow.format, {
    type: "blob",
    content,
  });

  return [...rows, [path, { mode: "100644", sha }]];
}
