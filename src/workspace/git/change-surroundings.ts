// change-surroundings: reads the part of a changed tree that decides whether git would take a
// folder for a repository (layers/embedded-repository.ts): the parent folders of the changes, and
// the folders with a `commondir` (a file by which a repository says where its objects and refs
// are). Of the rest, only paths are listed.

import type { GitSha } from "../../contracts/ids.ts";
import { listParentFolders, joinBytePath, splitLastPart, type BytePath } from "./byte-path.ts";
import { toComparableName } from "../layers/embedded-repository.ts";
import type { GitContext } from "./safe-git-call.ts";
import type { LayerChange } from "../layers/judge-layer.ts";
import { readObject } from "./object-reader.ts";
import { isTree, type TreeEntry } from "./tree.ts";
import { listTree } from "./tree-list.ts";
import { readFileDifferences, type TreeFolders } from "./tree-folders.ts";

/**
 * The files around these changes, and folders called `objects` or `refs`, as they are with the
 * changes.
 */
export async function readChangeSurroundings(
  call: GitContext,
  folders: TreeFolders,
  tree: GitSha,
  changes: readonly LayerChange[],
): Promise<ReadonlyMap<BytePath, TreeEntry>> {
  const result = new Map<BytePath, TreeEntry>();
  if (changes.length === 0) return result;
  const folderPaths = new Set<BytePath>([
    "" as BytePath,
    ...changes.flatMap(({ path }) => listParentFolders(path)),
  ]);
  for (const path of await findCommonDirs(call, tree)) folderPaths.add(splitLastPart(path)[0]);
  for (const folder of folderPaths) {
    const treeEntry = await folders.findEntry(tree, folder);
    if (treeEntry === undefined || !isTree(treeEntry)) continue;
    for (const [name, entry] of await folders.read(treeEntry.sha)) {
      const path = joinBytePath(folder, name);
      if (!isTree(entry) || ["objects", "refs"].includes(toComparableName(path))) {
        result.set(path, entry);
      }
    }
  }

  for (const { path, after } of changes) {
    if (after === null) result.delete(path);
    else result.set(path, { mode: after.mode, sha: after.sha });
  }

  return result;
}

/** The last searched tree and its `commondir` files: the next tree differs little from it. */
let lastSearch: { readonly tree: GitSha; readonly paths: ReadonlySet<BytePath> } | null = null;

async function findCommonDirs(call: GitContext, tree: GitSha): Promise<ReadonlySet<BytePath>> {
  if (lastSearch?.tree === tree) return lastSearch.paths;
  const paths =
    (lastSearch === null ? null : await updateSearch(call, lastSearch, tree)) ??
    (await searchTree(call, tree));

  lastSearch = { tree, paths };
  return paths;
}

/**
 * A cheap first test of a long list: `a/CommonDir`. A character that some file systems ignore
 * begins with a byte above 0x7f.
 */
const maybeCommonDir = /(?:^|\/)[c\x80-\xff][^/]*$/i;
export const isCommonDir = (path: BytePath): boolean =>
  maybeCommonDir.test(path) && toComparableName(path) === "commondir";

const searchTree = async (call: GitContext, tree: GitSha): Promise<ReadonlySet<BytePath>> =>
  new Set((await listTree(call, tree)).paths.filter(isCommonDir));

/**
 * The `commondir` files of a tree, from those of an earlier one and the difference; null if this
 * repository lacks the earlier tree.
 */
async function updateSearch(
  call: GitContext,
  earlier: NonNullable<typeof lastSearch>,
  tree: GitSha,
): Promise<ReadonlySet<BytePath> | null> {
  if ((await readObject(call, earlier.tree)) === null) return null;
  const paths = new Set(earlier.paths);

  for (const { path, after } of await readFileDifferences(call, earlier.tree, tree)) {
    if (!isCommonDir(path)) continue;
    if (after === undefined) paths.delete(path);
    else paths.add(path);
  }

  return paths;
}
