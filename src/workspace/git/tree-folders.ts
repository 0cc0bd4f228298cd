// tree-folders: reads and edits a tree folder by folder, reading only the parent folders of the
// requested paths. A tree of a hundred thousand files costs what its changed folders cost.
//
// Invariants:
//   T1. Only the folders above requested paths are read, and folders that differ; a whole tree is
//       read only if its folders are few.
//   T2. An edited tree has the hash git would give it, whether it is written or only computed.

import { compareText } from "../../kit/compare-text.ts";
import type { GitSha } from "../../contracts/ids.ts";
import {
  bytePathFromBytes,
  bytePathToBytes,
  joinBytePath,
  splitBytePath,
  type BytePath,
} from "./byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { git } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import { areFewObjects, writeObject } from "./loose-objects.ts";
import { readObject } from "./object-reader.ts";
import {
  computeObjectHash,
  formatFolder,
  isTree,
  type ObjectFormat,
  resolveTree,
  type Tree,
  type TreeEntry,
  type TreeFolder,
} from "./tree.ts";

/**
 * Reads folders by their hash. A hash's content never changes, so the last few thousand are cached.
 */
export type TreeFolders = {
  read(tree: GitSha): Promise<TreeFolder>;
  /**
   * The entry at a path below a tree; undefined if there is none. The empty path is the tree
   * itself.
   */
  findEntry(tree: GitSha, path: BytePath): Promise<TreeEntry | undefined>;
  /** Every file below a folder of the tree. */
  listFilesBelow(tree: GitSha, folder: BytePath): AsyncGenerator<readonly [BytePath, TreeEntry]>;
};

const cachedFoldersMax = 4_000;
const cache = new Map<GitSha, TreeFolder>();

/** A reader over the objects of a repository. */
export function openTreeFolders(call: GitContext): TreeFolders {
  const read = async (tree: GitSha): Promise<TreeFolder> => {
    const cached = cache.get(tree);
    if (cached !== undefined) return cached;
    const object = await readObject(call, tree);
    if (object?.type !== "tree" || object.content === null) {
      throw new WorkspaceFailed(
        "workspace_unusable",
        `The folder ${tree.slice(0, 12)} of the tree is missing here.`,
      );
    }

    const folder = parseFolder(object.content, tree.length / 2);
    if (cache.size >= cachedFoldersMax) cache.delete(cache.keys().next().value ?? "");
    cache.set(tree, folder);

    return folder;
  };

  const findEntry = async (tree: GitSha, path: BytePath): Promise<TreeEntry | undefined> => {
    let entry: TreeEntry | undefined = { mode: "40000", sha: tree };
    for (const part of splitBytePath(path)) {
      if (entry === undefined || !isTree(entry)) return undefined;
      entry = (await read(entry.sha)).get(part); // T1
    }

    return entry;
  };

  async function* listFilesBelow(
    tree: GitSha,
    folder: BytePath,
  ): AsyncGenerator<readonly [BytePath, TreeEntry]> {
    const top = await findEntry(tree, folder);
    if (top === undefined || !isTree(top)) return;
    for (const [name, entry] of await read(top.sha)) {
      const path = joinBytePath(folder, name);
      if (isTree(entry)) yield* listFilesBelow(tree, path);
      else yield [path, entry];
    }
  }

  return { read, findEntry, listFilesBelow };
}

/**
 * Every file of a tree whose folders are few or mostly cached; null if more would have to be read,
 * or one is missing.
 */
export async function readFilesOfFewFolders(
  call: GitContext,
  tree: GitSha,
  readsMax: number,
): Promise<Tree | null> {
  const folders = openTreeFolders(call);
  const files = new Map<BytePath, TreeEntry>();
  let reads = 0;

  const addFolder = async (sha: GitSha, folderPath: BytePath): Promise<boolean> => {
    reads += cache.has(sha) ? 0 : 1;
    // T1
    const folder = reads > readsMax ? null : await folders.read(sha).catch(() => null);
    if (folder === null) return false;
    for (const [name, entry] of folder) {
      const path = joinBytePath(folderPath, name);
      if (!isTree(entry)) files.set(path, entry);
      else if (!(await addFolder(entry.sha, path))) return false;
    }

    return true;
  };
  return (await addFolder(tree, "" as BytePath)) ? files : null;
}

/** What differs at a path: a file, or a folder that is only in one of the two trees. */
export type TreeDifference = {
  readonly path: BytePath;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
};

/**
 * Where two trees differ. Equal folders are not read; a folder that is only in one of the trees is
 * one difference.
 */
export async function* iterateTreeDifferences(
  folders: TreeFolders,
  from: GitSha,
  to: GitSha,
  folderPath = "" as BytePath,
): AsyncGenerator<TreeDifference> {
  const [entriesFrom, entriesTo] = [await folders.read(from), await folders.read(to)];
  for (const [name, before] of entriesFrom) {
    if (!entriesTo.has(name))
      yield { path: joinBytePath(folderPath, name), before, after: undefined };
  }

  for (const [name, after] of entriesTo) {
    const before = entriesFrom.get(name);
    const path = joinBytePath(folderPath, name);
    if (before?.sha === after.sha && before.mode === after.mode) continue; // T1
    if (before !== undefined && isTree(before) && isTree(after)) {
      yield* iterateTreeDifferences(folders, before.sha, after.sha, path);
    } else {
      yield { path, before, after };
    }
  }
}

/** The same, file by file: for a folder that is only in one tree, every file below it. */
async function* iterateFileDifferences(
  folders: TreeFolders,
  from: GitSha,
  to: GitSha,
): AsyncGenerator<TreeDifference> {
  for await (const { path, before, after } of iterateTreeDifferences(folders, from, to)) {
    if (before !== undefined && isTree(before)) {
      for await (const [below, entry] of folders.listFilesBelow(from, path)) {
        yield { path: below, before: entry, after: undefined };
      }
    }

    if (after !== undefined && isTree(after)) {
      for await (const [below, entry] of folders.listFilesBelow(to, path)) {
        yield { path: below, before: undefined, after: entry };
      }
    }

    const [fileBefore, fileAfter] = [before, after].map((entry) =>
      isTree(entry) ? undefined : entry,
    );
    if (fileBefore !== undefined || fileAfter !== undefined)
      yield { path, before: fileBefore, after: fileAfter };
  }
}

/** The files that differ between two commits or trees, in git's order. */
export async function readFileDifferences(
  call: GitContext,
  from: GitSha,
  to: GitSha,
): Promise<readonly TreeDifference[]> {
  const differences: TreeDifference[] = [];
  for await (const difference of iterateFileDifferences(
    openTreeFolders(call),
    await resolveTree(call, from),
    await resolveTree(call, to),
  )) {
    differences.push(difference);
  }

  return differences.toSorted((a, b) => compareText(a.path, b.path));
}

/**
 * Parses the content of a tree object: for each entry its mode, a blank, its name, a NUL and the
 * bytes of its hash.
 */
function parseFolder(content: Buffer, hashBytes: number): TreeFolder {
  const folder = new Map<BytePath, TreeEntry>();
  for (let index = 0; index < content.length;) {
    const space = content.indexOf(32, index);
    const end = content.indexOf(0, space);
    const sha = content.toString("hex", end + 1, end + 1 + hashBytes);
    folder.set(bytePathFromBytes(content.subarray(space + 1, end)), {
      mode: content.toString("latin1", index, space),
      sha,
    });

    index = end + 1 + hashBytes;
  }

  return folder;
}

/** A path and its new entry; null deletes it. */
export type TreeChange = readonly [BytePath, TreeEntry | null];
/** Changes of a folder's own entries, and of what is below each of its subfolders. */
type GroupedChanges = {
  readonly direct: Map<BytePath, TreeEntry | null>;
  readonly bySubfolder: Map<BytePath, TreeChange[]>;
};

type TreeEditor = {
  readonly folders: TreeFolders;
  readonly format: ObjectFormat;
  /** Called with every new folder's content, deepest first. */
  readonly write?: (content: Buffer) => void;
};

/** The hash of the tree with these changes. */
export async function editTree(
  { folders, format, write = () => undefined }: TreeEditor,
  tree: GitSha,
  changes: Iterable<TreeChange>,
): Promise<GitSha> {
  // Deletions come first, so that a file may become a folder and a folder a file.
  const rows = [...changes];
  const edited = await editFolder(tree, [
    ...rows.filter(([, entry]) => entry === null),
    ...rows.filter(([, entry]) => entry !== null),
  ]);
  return edited ?? hashFolder(Buffer.alloc(0));

  /** The hash of the edited folder; null if nothing is left in it. */
  async function editFolder(
    sha: GitSha | null,
    treeChanges: readonly TreeChange[],
  ): Promise<GitSha | null> {
    const entries = new Map(sha === null ? [] : await folders.read(sha));
    const { direct, bySubfolder } = groupByFolder(treeChanges);
    // Only files are deleted by their own path; a folder goes when its last file does.
    for (const [name, entry] of direct) {
      if (entry === null && !isTree(entries.get(name))) entries.delete(name);
    }

    for (const [name, subfolderChanges] of bySubfolder) {
      const existing = entries.get(name);
      const isFolder = existing !== undefined && isTree(existing);
      if (!isFolder && subfolderChanges.every(([, entry]) => entry === null)) continue;
      const editedSubfolder = await editFolder(isFolder ? existing.sha : null, subfolderChanges);
      if (editedSubfolder === null) entries.delete(name);
      else entries.set(name, { mode: "40000", sha: editedSubfolder });
    }

    // A new file takes the place of a folder only if the changes left nothing in that folder.
    for (const [name, entry] of direct) {
      if (entry !== null && (!bySubfolder.has(name) || !isTree(entries.get(name)))) {
        entries.set(name, entry);
      }
    }

    return entries.size === 0 ? null : hashFolder(formatFolder(entries));
  }

  function hashFolder(content: Buffer): GitSha {
    write(content);
    return computeObjectHash(format, "tree", content); // T2
  }
}

function groupByFolder(folderChanges: readonly TreeChange[]): GroupedChanges {
  const direct = new Map<BytePath, TreeEntry | null>();
  const bySubfolder = new Map<BytePath, TreeChange[]>();

  for (const [path, entry] of folderChanges) {
    const slash = path.indexOf("/");
    if (slash === -1) {
      direct.set(path, entry);
      continue;
    }

    const name = path.slice(0, slash) as BytePath;
    const changes = bySubfolder.get(name) ?? [];
    bySubfolder.set(name, changes);
    changes.push([path.slice(slash + 1) as BytePath, entry]);
  }

  return { direct, bySubfolder };
}

/** The same as `editTree`, with the new folders written into the call's repository. */
export async function writeEditedTree(
  call: GitContext,
  format: ObjectFormat,
  tree: GitSha,
  changes: Iterable<TreeChange>,
): Promise<GitSha> {
  const contents: Buffer[] = [];
  const edited = await editTree(
    { folders: openTreeFolders(call), format, write: (content) => contents.push(content) },
    tree,
    changes,
  );
  if (edited === tree || contents.length === 0) return edited;
  if (areFewObjects(contents.length)) {
    for (const content of contents) await writeObject(call, format, { type: "tree", content });
  } else {
    await storeTrees(call, contents, edited.length / 2);
  }

  return edited;
}

/** By mode: a folder and a submodule; everything else is a blob. */
const objectTypes: Readonly<Record<string, string>> = { "40000": "tree", "160000": "commit" };

async function storeTrees(
  call: GitContext,
  contents: readonly Buffer[],
  hashBytes: number,
): Promise<void> {
  await git({
    ...call,
    args: ["mktree", "-z", "--batch", "--missing"],
    input: formatMktreeRows(contents, hashBytes),
  });
}

/**
 * The input of `git mktree -z --batch`: rows like those of `ls-tree`, with an empty row after each
 * tree.
 */
function* formatMktreeRows(contents: readonly Buffer[], hashBytes: number): Generator<Buffer> {
  for (const content of contents) {
    for (const [name, { mode, sha }] of parseFolder(content, hashBytes)) {
      const type = objectTypes[mode] ?? "blob";
      yield Buffer.concat([
        Buffer.from(`${mode.padStart(6, "0")} ${type} ${sha}\t`, "latin1"),
        bytePathToBytes(name),
        Buffer.from([0]),
      ]);
    }

    yield Buffer.from([0]);
  }
}
