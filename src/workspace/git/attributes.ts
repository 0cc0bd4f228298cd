// attributes: which .gitattributes files of a tree apply to some paths, so that git converts line
// endings and encodings as in any checkout.

import { type BytePath, joinBytePath, listParentFolders } from "./byte-path.ts";
import type { GitSha } from "../../contracts/ids.ts";
import type { TreeEntry } from "./tree.ts";
import type { TreeFolders } from "./tree-folders.ts";

const attributesName = ".gitattributes" as BytePath;
const top = "" as BytePath;

export const isAttributesFile = (path: BytePath): boolean =>
  path === attributesName || path.endsWith(`/${attributesName}`);

/**
 * Where git looks for attributes of these paths: the top first, each folder after those above it.
 */
export const listAttributePaths = (paths: Iterable<BytePath>): readonly BytePath[] => {
  const folders = new Set<BytePath>([top]);
  for (const path of paths) for (const folder of listParentFolders(path)) folders.add(folder);
  return [...folders].map((folder) => joinBytePath(folder, attributesName));
};

/** The attribute files of a tree that apply to these paths. */
export async function readAttributeFiles(
  folders: TreeFolders,
  tree: GitSha,
  paths: Iterable<BytePath>,
): Promise<readonly (readonly [BytePath, TreeEntry])[]> {
  const files: (readonly [BytePath, TreeEntry])[] = [];
  for (const path of listAttributePaths(paths)) {
    const entry = await folders.findEntry(tree, path);
    if (entry?.mode.startsWith("100") === true) files.push([path, entry]); // regular files only: git follows no link here
  }

  return files;
}
