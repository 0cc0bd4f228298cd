// read-tree: a git tree as a flat list of its files. A small tree, or one that was mostly read before, is assembled from its folders, by
// the open object reader; a large one is listed by a git process.

import type { GitSha } from "../../contracts/ids.ts";
import { buildBytePath, type BytePath } from "./byte-path.ts";
import { git, type GitCall } from "./git.ts";
import { isObjectName, knownTree, type Tree, type TreeEntry, treeIdOf } from "./tree.ts";
import { filesOfFew } from "./tree-folders.ts";

const keptTreesMax = 6;
const keptEntriesMax = 500_000;
/** A full listing costs a process, about as much as this many reads. */
const questionsMax = 24;
const kept = new Map<string, { readonly reading: Promise<Tree>; entries: number }>();

/** Every file of a commit or tree. A hash's content never changes, so the last few are cached, from any repository. */
export function readTree(call: Omit<GitCall, "args">, treeish: GitSha): Promise<Tree> {
  if (!isObjectName(treeish)) return listTree(call, treeish);
  const key = knownTree(treeish);
  const before = kept.get(key);
  const found = before ?? { reading: readFew(call, treeish), entries: 0 };
  kept.delete(key);
  kept.set(key, found); // the most recently used is evicted last
  if (before !== undefined) return before.reading;
  found.reading.then(
    ({ size }) => {
      found.entries = size;
      letGo();
    },
    () => kept.delete(key),
  );
  return found.reading;
}

async function readFew(call: Omit<GitCall, "args">, treeish: GitSha): Promise<Tree> {
  const tree = await treeIdOf(call, treeish).catch(() => null);
  return (tree === null ? null : await filesOfFew(call, tree, questionsMax)) ?? listTree(call, treeish);
}

function letGo(): void {
  let entries = [...kept.values()].reduce((sum, tree) => sum + tree.entries, 0);
  for (const [key, tree] of kept) {
    if (kept.size <= keptTreesMax && entries <= keptEntriesMax) return;
    kept.delete(key);
    entries -= tree.entries;
  }
}

async function listTree(call: Omit<GitCall, "args">, treeish: GitSha): Promise<Tree> {
  const { out } = await git({ ...call, args: ["ls-tree", "-r", "-z", "--full-tree", treeish] });
  const tree = new Map<BytePath, TreeEntry>();
  for (let index = 0; index < out.length;) {
    const end = out.indexOf(0, index);
    const tab = out.indexOf(9, index);
    const [mode = "", , sha = ""] = out.toString("latin1", index, tab).split(" ");
    tree.set(buildBytePath(out.subarray(tab + 1, end)), { mode, sha });
    index = end + 1;
  }
  return tree;
}
