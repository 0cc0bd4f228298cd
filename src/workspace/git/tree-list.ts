// tree-list: every path of a tree, listed by git once and cached: a draft, its run and its checks all read the same commit. The listing is
// streamed, so that only the paths themselves are kept in memory.

import { isAscii } from "node:buffer";
import type { GitSha } from "../../contracts/ids.ts";
import { type BytePath, displayPath } from "./byte-path.ts";
import { git, type GitContext } from "./git.ts";
import { isObjectName, resolveCachedTree, type TreeEntry } from "./tree.ts";

export type TreeList = {
  readonly paths: readonly BytePath[];
  /** Whether each path is valid text, as almost always. */
  readonly isPlain: boolean;
  /** Submodules and attribute files: what a survey reports. */
  readonly notable: readonly (readonly [BytePath, TreeEntry])[];
};

let lastListed: { readonly of: GitSha; readonly list: Promise<TreeList> } | null = null;
/** Lists of small trees: a process with many runs has many of them, and together they are small. */
const smallLists = new Map<GitSha, TreeList>();
const [smallMax, smallPathsMax] = [100, 1_000];

/** A hash's content never changes, so it is listed once, from any repository. */
export function listTree(call: GitContext, treeish: GitSha): Promise<TreeList> {
  if (lastListed !== null && resolveCachedTree(lastListed.of) === resolveCachedTree(treeish)) return lastListed.list;
  const cached = smallLists.get(resolveCachedTree(treeish));
  if (cached !== undefined) return Promise.resolve(cached);
  const list = askGit(call, treeish);
  if (isObjectName(treeish)) {
    const current = (lastListed = { of: treeish, list });
    list.then(
      (treeList) => keepSmall(treeish, treeList),
      () => (lastListed = lastListed === current ? null : lastListed),
    );
  }
  return list;
}

function keepSmall(treeish: GitSha, list: TreeList): void {
  if (list.paths.length > smallPathsMax) return;
  if (smallLists.size >= smallMax) smallLists.clear();
  smallLists.set(resolveCachedTree(treeish), list);
}

/** The same as text for patterns and people; the array is the same on every call. */
export async function listDisplayPaths(call: GitContext, treeish: GitSha): Promise<readonly string[]> {
  const { paths, isPlain } = await listTree(call, treeish);
  const displayed = displayPaths.get(paths) ?? (isPlain ? paths : paths.map(displayPath));
  displayPaths.set(paths, displayed);
  return displayed;
}
const displayPaths = new WeakMap<readonly BytePath[], readonly string[]>();

async function askGit(call: GitContext, treeish: GitSha): Promise<TreeList> {
  const paths: BytePath[] = [];
  const notable: (readonly [BytePath, TreeEntry])[] = [];
  let rest: Buffer = Buffer.alloc(0);
  let isPlain = true;
  const addChunk = (chunk: Buffer): void => {
    isPlain &&= isAscii(chunk);
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let position = 0;
    for (let end = bytes.indexOf(0); end !== -1; end = bytes.indexOf(0, position)) {
      const tab = bytes.indexOf(9, position);
      const path = bytes.toString("latin1", tab + 1, end) as BytePath;
      paths.push(path);
      if (bytes[position + 1] === 0x36 || path.endsWith(".gitattributes"))
        notable.push([
          path,
          { mode: bytes.toString("latin1", position, position + 6), sha: bytes.toString("latin1", position, tab).split(" ")[2] ?? "" },
        ]);
      position = end + 1;
    }
    rest = Buffer.from(bytes.subarray(position));
  };
  await git({ ...call, args: ["ls-tree", "-r", "-z", "--full-tree", treeish], onOutput: addChunk });
  return { paths, isPlain, notable };
}
