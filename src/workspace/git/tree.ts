// tree: types and hashes of git trees. Hashing here computes a folder's hash without writing an object.

import { createHash } from "node:crypto";
import { compareText } from "../../kit/compare-text.ts";
import type { GitSha } from "../../contracts/ids.ts";
import { bytePathBytes, type BytePath } from "./byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import type { GitContext } from "./git.ts";
import { readObject } from "./object-reader.ts";

export type ObjectFormat = "sha1" | "sha256";
/** `100644`, `100755`, `120000` (link), `160000` (another repository's commit); old trees hold a few more. */
export type TreeEntry = { readonly mode: string; readonly sha: GitSha };
export type Tree = ReadonlyMap<BytePath, TreeEntry>;

export const isGitlink = (entry: TreeEntry): boolean => entry.mode === "160000";
export const isSameEntry = (a: TreeEntry | null, b: TreeEntry | null): boolean => a?.mode === b?.mode && a?.sha === b?.sha;

const treeIds = new Map<GitSha, GitSha>();
const treeIdsMax = 1_000;

/** The tree of a commit, or the tree itself. */
export async function resolveTree(call: GitContext, treeish: GitSha): Promise<GitSha> {
  const cached = treeIds.get(treeish);
  if (cached !== undefined) return cached;
  const tree = (await readObject(call, `${treeish}^{tree}`))?.sha;
  if (tree === undefined) throw new WorkspaceFailed("workspace_unusable", `The commit ${treeish.slice(0, 12)} is not in this repository.`);
  cacheTree(treeish, tree);
  return tree;
}

/** The tree of a commit that was read before; otherwise the given hash. */
export const resolveCachedTree = (treeish: GitSha): GitSha => treeIds.get(treeish) ?? treeish;

/** Records the tree of a commit, for callers that got it as a by-product. */
export function cacheTree(commit: GitSha, tree: GitSha): void {
  if (treeIds.size >= treeIdsMax) treeIds.clear();
  if (objectName.test(commit) && objectName.test(tree)) treeIds.set(commit, tree);
}

const objectName = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** Whether this is an object's hash, and not a branch or tag. */
export const isObjectName = (name: string): boolean => objectName.test(name);

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
  return folderHash(format, top);
}

function folderHash(format: ObjectFormat, folder: Folder): GitSha {
  // Git sorts a folder as if its name ended in a slash; names are bytes, one character each, so plain comparison is byte order.
  const rows = [...folder].map(([name, entry]) => ({ name, entry, key: entry instanceof Map ? `${name}/` : name }));
  rows.sort((a, b) => compareText(a.key, b.key));
  const content = rows.flatMap(({ name, entry }) => {
    const [mode, sha] = entry instanceof Map ? ["40000", folderHash(format, entry)] : [entry.mode, entry.sha];
    return [Buffer.from(`${mode} `, "latin1"), bytePathBytes(name as BytePath), Buffer.from([0]), Buffer.from(sha, "hex")];
  });
  return computeObjectHash(format, "tree", Buffer.concat(content));
}
