// tree-list: lists every path of a tree by one git process, and caches the last list and small
// ones: a draft, its run and its checks all read the same commit. Git's output is parsed as it
// comes, so that only the paths themselves are kept in memory.

import { isAscii as hasOnlyAscii } from "node:buffer";
import type { GitSha } from "../../contracts/ids.ts";
import { isAttributesFile } from "./attributes.ts";
import { type BytePath, displayPath } from "./byte-path.ts";
import { git } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import { isObjectName, resolveCachedTree, type TreeEntry } from "./tree.ts";

export type TreeList = {
  readonly paths: readonly BytePath[];
  /** Whether all paths are ASCII, as almost always: then they are the same as text. */
  readonly isAscii: boolean;
  /** Submodules and attribute files: those that a survey of the repository reports. */
  readonly notable: readonly (readonly [BytePath, TreeEntry])[];
};

let lastListed: { readonly treeish: GitSha; readonly list: Promise<TreeList> } | null = null;
/** Lists of small trees: a process with many runs has many of them, and together they are small. */
const smallLists = new Map<GitSha, TreeList>();
const smallListsMax = 100;
const smallPathsMax = 1_000;
/** In a mode (`160000`) the second digit tells a submodule. */
const digitSix = 0x36;
const tabByte = 9;

/**
 * Every path of a commit or tree. A hash's content never changes, so a cached list counts for every
 * repository.
 */
export function listTree(call: GitContext, treeish: GitSha): Promise<TreeList> {
  if (lastListed !== null && resolveCachedTree(lastListed.treeish) === resolveCachedTree(treeish)) {
    return lastListed.list;
  }

  const cached = smallLists.get(resolveCachedTree(treeish));
  if (cached !== undefined) return Promise.resolve(cached);
  const list = listByGit(call, treeish);

  if (isObjectName(treeish)) {
    const current = (lastListed = { treeish, list });
    list.then(
      (treeList) => cacheIfSmall(treeish, treeList),
      () => (lastListed = lastListed === current ? null : lastListed),
    );
  }

  return list;
}

function cacheIfSmall(treeish: GitSha, list: TreeList): void {
  if (list.paths.length > smallPathsMax) return;
  if (smallLists.size >= smallListsMax) smallLists.clear();
  smallLists.set(resolveCachedTree(treeish), list);
}

/**
 * The same list as text, for globs and for people; for a cached list the array is the same on every
 * call.
 */
export async function listDisplayPaths(
  call: GitContext,
  treeish: GitSha,
): Promise<readonly string[]> {
  const { paths, isAscii } = await listTree(call, treeish);
  const texts = textsByList.get(paths) ?? (isAscii ? paths : paths.map(displayPath));
  textsByList.set(paths, texts);

  return texts;
}
const textsByList = new WeakMap<readonly BytePath[], readonly string[]>();

async function listByGit(call: GitContext, treeish: GitSha): Promise<TreeList> {
  const paths: BytePath[] = [];
  const notable: (readonly [BytePath, TreeEntry])[] = [];
  let unfinishedRow: Buffer = Buffer.alloc(0);
  let isAscii = true;

  const addChunk = (chunk: Buffer): void => {
    isAscii &&= hasOnlyAscii(chunk);
    const bytes = unfinishedRow.length === 0 ? chunk : Buffer.concat([unfinishedRow, chunk]);
    let position = 0; // each row: `100644 blob <sha><tab><path><NUL>`
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, position)) {
      const tab = bytes.indexOf(tabByte, position);
      const path = bytes.toString("latin1", tab + 1, end) as BytePath;
      paths.push(path);

      if (bytes[position + 1] === digitSix || isAttributesFile(path)) {
        const [mode = "", , sha = ""] = bytes.toString("latin1", position, tab).split(" ");
        notable.push([path, { mode, sha }]);
      }

      position = end + 1;
    }

    unfinishedRow = Buffer.from(bytes.subarray(position));
  };

  await git({ ...call, args: ["ls-tree", "-r", "-z", "--full-tree", treeish], onOutput: addChunk });
  return { paths, isAscii, notable };
}
