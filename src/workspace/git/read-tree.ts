// read-tree: reads a git tree as a flat list of its files. A small tree, or one that was mostly read before, is assembled from its folders
// (object-reader.ts); a large one is listed by a git process.

import type { GitSha } from "../../contracts/ids.ts";
import { bytePathFromBytes, type BytePath } from "./byte-path.ts";
import { git } from "./git.ts";
import type { GitContext } from "./git-call.ts";
import { isObjectName, resolveCachedTree, type Tree, type TreeEntry, resolveTree } from "./tree.ts";
import { readFilesOfFewFolders } from "./tree-folders.ts";

const cachedTreesMax = 6;
const cachedEntriesMax = 500_000;
/** A full listing costs a process, about as much as this many reads. */
const folderReadsMax = 24;
const cache = new Map<string, { readonly reading: Promise<Tree>; entries: number }>();

/** Every file of a commit or tree. A hash's content never changes, so the last few are cached, from any repository. */
export function readTree(call: GitContext, treeish: GitSha): Promise<Tree> {
  if (!isObjectName(treeish)) return listTree(call, treeish);
  const key = resolveCachedTree(treeish);
  const cached = cache.get(key);
  const entry = cached ?? { reading: readByFolders(call, treeish), entries: 0 };
  cache.delete(key);
  cache.set(key, entry); // moved to the end: the most recently used tree is evicted last
  if (cached !== undefined) return cached.reading;
  entry.reading.then(
    ({ size }) => {
      entry.entries = size;
      evict();
    },
    () => cache.delete(key),
  );
  return entry.reading;
}

async function readByFolders(call: GitContext, treeish: GitSha): Promise<Tree> {
  const tree = await resolveTree(call, treeish).catch(() => null);
  return (tree === null ? null : await readFilesOfFewFolders(call, tree, folderReadsMax)) ?? listTree(call, treeish);
}

function evict(): void {
  let entries = [...cache.values()].reduce((sum, tree) => sum + tree.entries, 0);
  for (const [key, tree] of cache) {
    if (cache.size <= cachedTreesMax && entries <= cachedEntriesMax) return;
    cache.delete(key);
    entries -= tree.entries;
  }
}

async function listTree(call: GitContext, treeish: GitSha): Promise<Tree> {
  const { out } = await git({ ...call, args: ["ls-tree", "-r", "-z", "--full-tree", treeish] });
  const tree = new Map<BytePath, TreeEntry>();
  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index);
    const tab = out.indexOf(9, index);
    const [mode = "", , sha = ""] = out.toString("latin1", index, tab).split(" ");
    tree.set(bytePathFromBytes(out.subarray(tab + 1, end)), { mode, sha });
    index = end + 1;
  }
  return tree;
}
