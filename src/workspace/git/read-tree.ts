// read-tree: reads a git tree as a flat list of its files. A small tree, or one that was mostly
// read before, is assembled from its folders (object-reader.ts); a large one is listed by a git
// process.

import type { GitSha } from "../../contracts/ids.ts";
import { bytePathFromBytes, type BytePath } from "./byte-path.ts";
import { git } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import { isObjectName, resolveCachedTree, type Tree, type TreeEntry, resolveTree } from "./tree.ts";
import { readFilesOfFewFolders } from "./tree-folders.ts";

const cachedTreesMax = 6;
const cachedEntriesMax = 500_000;
/** A full listing costs a process, about as much as this many reads. */
const folderReadsMax = 24;
/** `entryCount` is 0 until the tree is read. */
const cache = new Map<string, { readonly tree: Promise<Tree>; entryCount: number }>();
const tabByte = 9;

/**
 * Every file of a commit or tree. A hash's content never changes, so the last few are cached, from
 * any repository.
 */
export function readTree(call: GitContext, treeish: GitSha): Promise<Tree> {
  if (!isObjectName(treeish)) return listByGit(call, treeish); // a branch moves, so nothing is cached under its name
  const key = resolveCachedTree(treeish);
  const cached = cache.get(key);
  const entry = cached ?? { tree: readByFolders(call, treeish), entryCount: 0 };
  cache.delete(key);
  cache.set(key, entry); // moved to the end: the most recently used tree is evicted last
  if (cached !== undefined) return cached.tree;
  entry.tree.then(
    ({ size }) => {
      entry.entryCount = size;
      evict();
    },
    () => cache.delete(key),
  );

  return entry.tree;
}

async function readByFolders(call: GitContext, treeish: GitSha): Promise<Tree> {
  const tree = await resolveTree(call, treeish).catch(() => null);
  return (
    (tree === null ? null : await readFilesOfFewFolders(call, tree, folderReadsMax)) ??
    listByGit(call, treeish)
  );
}

function evict(): void {
  let entryCount = [...cache.values()].reduce((sum, cached) => sum + cached.entryCount, 0);
  for (const [key, cached] of cache) {
    if (cache.size <= cachedTreesMax && entryCount <= cachedEntriesMax) return;
    cache.delete(key);
    entryCount -= cached.entryCount;
  }
}

async function listByGit(call: GitContext, treeish: GitSha): Promise<Tree> {
  const { out } = await git({ ...call, args: ["ls-tree", "-r", "-z", "--full-tree", treeish] });
  const tree = new Map<BytePath, TreeEntry>();

  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index); // each row: `100644 blob <sha><tab><path><NUL>`
    const tab = out.indexOf(tabByte, index);
    const [mode = "", , sha = ""] = out.toString("latin1", index, tab).split(" ");
    tree.set(bytePathFromBytes(out.subarray(tab + 1, end)), { mode, sha });
    index = end + 1;
  }

  return tree;
}
