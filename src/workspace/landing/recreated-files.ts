// recreated-files: finds the files that the run's branch deleted and created again, and restores
// those that are missing from the user's checkout.
// Invariants N1 and on: workspace/landing/land.ts.

import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import type { LandResult } from "../../ports/workspace.ts";
import { bytePathFromBytes, displayPath, type BytePath } from "../git/byte-path.ts";
import { readStraightLine } from "../git/commits.ts";
import { git } from "../git/git.ts";
import type { GitContext } from "../git/safe-git-call.ts";
import { isTree, type TreeEntry, resolveTree } from "../git/tree.ts";
import { openTreeFolders } from "../git/tree-folders.ts";
import { openUserView } from "../git/user-view.ts";
import type { RunWorkspace } from "../run-workspace.ts";

/** Files by their shown path, each with its path and its entry at the branch's tip. */
export type RecreatedFiles = ReadonlyMap<string, readonly [BytePath, TreeEntry]>;

/** What the branch has deleted and recreated since it last landed, as it is at its tip. */
export async function findRecreated(
  run: RunWorkspace,
  head: GitSha,
  tip: GitSha,
): Promise<RecreatedFiles> {
  const call = run.shadow.callIntoUser;
  const line = await readStraightLine(call, head, tip);
  if (line?.length === 1) return new Map(); // a single commit cannot recreate what it deleted

  const tree = await resolveTree(call, tip);
  const folders = openTreeFolders(call);
  const recreated = new Map<string, readonly [BytePath, TreeEntry]>();
  for (const path of await listRecreatedPaths(call, head, tip)) {
    const entry = await folders.findEntry(tree, path);
    if (entry !== undefined && !isTree(entry)) recreated.set(displayPath(path), [path, entry]);
  }

  return recreated;
}

/** The paths that some commits of the branch deleted, and others added. */
async function listRecreatedPaths(
  call: GitContext,
  head: GitSha,
  tip: GitSha,
): Promise<readonly BytePath[]> {
  const format = ["-z", "--format=", "--name-status", "--no-renames", "--diff-filter=AD"];
  const { out } = await git({ ...call, args: ["log", ...format, `${head}..${tip}`, "--"] });
  const words = out.toString("latin1").split("\0"); // status, path, status, path …
  const added = new Set<string>();
  const deleted = new Set<string>();

  for (let index = 0; index + 1 < words.length; index += 2) {
    const path = words[index + 1] ?? "";
    if (words[index] === "A") added.add(path);
    else deleted.add(path);
  }

  return [...added]
    .filter((path) => deleted.has(path))
    .map((path) => bytePathFromBytes(Buffer.from(path, "latin1")));
}

/** Whether the checkout has nothing at this path. */
export const isMissing = ({ repository }: RunWorkspace, path: string): boolean =>
  lstatSync(join(repository.root, path), { throwIfNoEntry: false }) === undefined;

/**
 * Checks out missing files again (N5): git leaves files alone that are the same in both commits,
 * even if they are missing.
 */
export async function restoreMissing(
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
    acceptedExitCodes: [0, 1],
  });

  return result;
}
