// tree: the types of git trees and their entries, the tree of a commit, and the bytes and the hash
// that git would give a tree, computed without writing an object.

import { createHash } from "node:crypto";
import { compareText } from "../../kit/compare-text.ts";
import type { GitSha } from "../../contracts/ids.ts";
import { bytePathToBytes, splitBytePath, type BytePath } from "./byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import type { GitPlaces } from "./git-places.ts";
import { readObject } from "./object-reader.ts";

export type ObjectFormat = "sha1" | "sha256";
/**
 * By its mode a file (`100644`, `100755`), a link (`120000`), a submodule, or in a `TreeFolder` a
 * folder; old trees have a few more modes.
 */
export type TreeEntry = { readonly mode: string; readonly sha: GitSha };
/** The files of a whole tree, by path. */
export type Tree = ReadonlyMap<BytePath, TreeEntry>;
/** One folder of a tree: its entries by name, subfolders among them. */
export type TreeFolder = ReadonlyMap<BytePath, TreeEntry>;

const folderMode = "40000";
export const isTree = (entry: TreeEntry | undefined): boolean => entry?.mode === folderMode;

/** The mode of a submodule. */
export const gitlinkMode = "160000";
export const isGitlink = (entry: TreeEntry): boolean => entry.mode === gitlinkMode;
export const isSameEntry = (a: TreeEntry | null, b: TreeEntry | null): boolean =>
  a?.mode === b?.mode && a?.sha === b?.sha;

const treesByCommit = new Map<GitSha, GitSha>();
const treesByCommitMax = 1_000;

/** The tree of a commit, or the tree itself. Throws if it isn't in the repository. */
export async function resolveTree(call: GitContext, treeish: GitSha): Promise<GitSha> {
  const cached = treesByCommit.get(treeish);
  if (cached !== undefined) return cached;
  const tree = (await readObject(call, `${treeish}^{tree}`))?.sha;
  if (tree === undefined) {
    throw new WorkspaceFailed(
      "workspace_unusable",
      `The commit ${treeish.slice(0, 12)} is not in this repository.`,
    );
  }

  cacheTree(treeish, tree);
  return tree;
}

/**
 * The tree of a commit in the user's repository; null if the repository does not have the commit.
 */
export async function readTreeId(
  { root, gitDir }: Pick<GitPlaces, "root" | "gitDir">,
  commit: string,
): Promise<string | null> {
  const args = ["rev-parse", "-q", "--verify", "--end-of-options", `${commit}^{tree}`];
  const { code, out } = await git({
    cwd: root,
    env: { GIT_DIR: gitDir },
    args,
    acceptedExitCodes: [0, 1, 128],
  });
  return code === 0 ? out.toString("utf8").trim() : null;
}

/** The tree of a commit if it is cached; otherwise the hash itself. */
export const resolveCachedTree = (treeish: GitSha): GitSha => treesByCommit.get(treeish) ?? treeish;

/** Records the tree of a commit, for callers that got it as a by-product. */
export function cacheTree(commit: GitSha, tree: GitSha): void {
  if (treesByCommit.size >= treesByCommitMax) treesByCommit.clear();
  if (objectNamePattern.test(commit) && objectNamePattern.test(tree)) {
    treesByCommit.set(commit, tree);
  }
}

const objectNamePattern = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
/** Whether this is an object's hash, and not a branch or tag. */
export const isObjectName = (name: string): boolean => objectNamePattern.test(name);

/** The name git gives an object of this type and content. */
export function computeObjectHash(
  format: ObjectFormat,
  type: "blob" | "tree",
  content: Buffer,
): GitSha {
  return createHash(format).update(`${type} ${content.length}\0`).update(content).digest("hex");
}

type NestedFolder = Map<BytePath, TreeEntry | NestedFolder>;

/**
 * The hash git would give the tree with exactly these files. If a path is both a file and a folder
 * of others, the folder counts.
 */
export function computeTreeHash(
  format: ObjectFormat,
  tree: Iterable<readonly [BytePath, TreeEntry]>,
): GitSha {
  const top: NestedFolder = new Map();
  for (const [path, entry] of tree) {
    const parts = splitBytePath(path);
    const name = parts.pop() ?? path;
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

function computeFolderHash(format: ObjectFormat, folder: NestedFolder): GitSha {
  const entries = new Map<BytePath, TreeEntry>();
  for (const [name, entry] of folder) {
    entries.set(
      name,
      entry instanceof Map ? { mode: folderMode, sha: computeFolderHash(format, entry) } : entry,
    );
  }

  return computeObjectHash(format, "tree", formatFolder(entries));
}

/**
 * The content of a tree object. Git sorts a folder as if its name ended in a slash; names are
 * bytes, one character each, so plain comparison is byte order.
 */
export function formatFolder(entries: TreeFolder): Buffer {
  const rows = [...entries].map(([name, entry]) => ({
    name,
    entry,
    key: isTree(entry) ? `${name}/` : name,
  }));
  rows.sort((a, b) => compareText(a.key, b.key));
  return Buffer.concat(
    rows.flatMap(({ name, entry }) => [
      Buffer.from(`${entry.mode} `, "latin1"),
      bytePathToBytes(name),
      Buffer.from([0]),
      Buffer.from(entry.sha, "hex"),
    ]),
  );
}
