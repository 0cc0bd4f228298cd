// tree: the types of git trees and their entries, the tree of a commit, and the hash that git would give a tree, computed without writing
// an object.

import { createHash } from "node:crypto";
import { compareText } from "../../kit/compare-text.ts";
import type { GitSha } from "../../contracts/ids.ts";
import { bytePathBytes, type BytePath } from "./byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git } from "./git.ts";
import type { GitContext } from "./git-call.ts";
import type { GitPlaces } from "./git-places.ts";
import { readObject } from "./object-reader.ts";

export type ObjectFormat = "sha1" | "sha256";
/** `100644`, `100755`, `120000` (link), `160000` (another repository's commit); old trees hold a few more. */
export type TreeEntry = { readonly mode: string; readonly sha: GitSha };
export type Tree = ReadonlyMap<BytePath, TreeEntry>;

export const isGitlink = (entry: TreeEntry): boolean => entry.mode === "160000";
export const isSameEntry = (a: TreeEntry | null, b: TreeEntry | null): boolean => a?.mode === b?.mode && a?.sha === b?.sha;

const treesByCommit = new Map<GitSha, GitSha>();
const treesByCommitMax = 1_000;

/** The tree of a commit, or the tree itself. */
export async function resolveTree(call: GitContext, treeish: GitSha): Promise<GitSha> {
  const cached = treesByCommit.get(treeish);
  if (cached !== undefined) return cached;
  const tree = (await readObject(call, `${treeish}^{tree}`))?.sha;
  if (tree === undefined) throw new WorkspaceFailed("workspace_unusable", `The commit ${treeish.slice(0, 12)} is not in this repository.`);
  cacheTree(treeish, tree);
  return tree;
}

/** The tree of a commit in the user's repository; null if the repository does not have the commit. */
export async function readTreeId({ root, gitDir }: Pick<GitPlaces, "root" | "gitDir">, commit: string): Promise<string | null> {
  const args = ["rev-parse", "-q", "--verify", "--end-of-options", `${commit}^{tree}`];
  const { code, out } = await git({ cwd: root, env: { GIT_DIR: gitDir }, args, codes: [0, 1, 128] });
  return code === 0 ? out.toString("utf8").trim() : null;
}

/** The tree of a commit if it is cached; otherwise the hash itself. */
export const resolveCachedTree = (treeish: GitSha): GitSha => treesByCommit.get(treeish) ?? treeish;

/** Records the tree of a commit, for callers that got it as a by-product. */
export function cacheTree(commit: GitSha, tree: GitSha): void {
  if (treesByCommit.size >= treesByCommitMax) treesByCommit.clear();
  if (objectNamePattern.test(commit) && objectNamePattern.test(tree)) treesByCommit.set(commit, tree);
}

const objectNamePattern = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** Whether this is an object's hash, and not a branch or tag. */
export const isObjectName = (name: string): boolean => objectNamePattern.test(name);

/** The name git gives an object of this type and content. */
export function computeObjectHash(format: ObjectFormat, type: "blob" | "tree", content: Buffer): GitSha {
  return createHash(format).update(`${type} ${content.length}\0`).update(content).digest("hex");
}

type Folder = Map<string, TreeEntry | Folder>;

/** The hash git would give the tree with exactly these files. */
export function computeTreeHash(format: ObjectFormat, tree: Iterable<readonly [BytePath, TreeEntry]>): GitSha {
  const top: Folder = new Map();
  for (const [path, entry] of tree) {
    const parts = path.split("/");
    const name = parts.pop() ?? "";
    let folder = top;
    for (const part of parts) {
      let below = folder.get(part);
      if (!(below instanceof Map)) {
        below = new Map();
        folder.set(part, below);
      }
      folder = below;
    }
    if (!(folder.get(name) instanceof Map)) folder.set(name, entry);
  }
  return computeFolderHash(format, top);
}

function computeFolderHash(format: ObjectFormat, folder: Folder): GitSha {
  // Git sorts a folder as if its name ended in a slash; names are bytes, one character each, so plain comparison is byte order.
  const rows = [...folder].map(([name, entry]) => ({ name, entry, key: entry instanceof Map ? `${name}/` : name }));
  rows.sort((a, b) => compareText(a.key, b.key));
  const content = rows.flatMap(({ name, entry }) => {
    const [mode, sha] = entry instanceof Map ? ["40000", computeFolderHash(format, entry)] : [entry.mode, entry.sha];
    return [Buffer.from(`${mode} `, "latin1"), bytePathBytes(name as BytePath), Buffer.from([0]), Buffer.from(sha, "hex")];
  });
  return computeObjectHash(format, "tree", Buffer.concat(content));
}
