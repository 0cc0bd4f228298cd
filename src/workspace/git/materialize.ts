// materialize: writes entries of a tree as files into a folder, converted as git's attributes say;
// and the reverse, a tree with changed entries.

import { randomUUID } from "node:crypto";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import {
  bytePathToBytes,
  displayPath,
  listParentFolders,
  splitBytePath,
  type BytePath,
  toDiskPath,
} from "./byte-path.ts";
import { isAttributesFile } from "./attributes.ts";
import { isGitName } from "./confusable-names.ts";
import { composeIndex } from "./edit-index.ts";
import { git } from "./git.ts";
import type { GitContext } from "./safe-git-call.ts";
import { readObject } from "./object-reader.ts";
import type { Shadow } from "./shadow.ts";
import { resolveTree, type TreeEntry } from "./tree.ts";
import { type TreeChange, writeEditedTree } from "./tree-folders.ts";

/** So few and small files are written here, without git. */
const directFilesMax = 40;
const directFileBytesMax = 1 << 20;
/** A name that git would not check out, besides those that mean `.git` somewhere. */
const unsafeNamePattern = /^\.{0,2}$/;

type FileRow = readonly [BytePath, TreeEntry];

type MaterializeOptions = {
  /** Where to keep the index with the files' stat data. */
  readonly index?: string;
  /** Attribute files that apply to the entries and are not written. */
  readonly attributes?: readonly FileRow[];
};

/**
 * Checks the entries out into `folder`, a private one; files that are there already are
 * overwritten.
 */
export async function materialize(
  shadow: Shadow,
  entries: Iterable<FileRow>,
  folder: string,
  { index: keptIndex, attributes = [] }: MaterializeOptions = {},
): Promise<void> {
  const rows = [...entries];
  if (attributes.length === 0 && (await writeFewFiles(shadow, rows, folder))) {
    if (keptIndex !== undefined) {
      await writeFile(keptIndex, composeIndex(shadow.format, rows, folder));
    }

    return;
  }

  await withIndex(shadow, async (index) => {
    const call = { ...shadow.call, env: { ...shadow.call.env, GIT_INDEX_FILE: index } };
    await git({
      ...call,
      args: ["update-index", "-z", "--index-info"],
      input: formatIndexRows([...attributes, ...rows]),
    });

    const refreshFlag = keptIndex !== undefined ? ["-u"] : [];
    await git({
      ...call,
      cwd: folder,
      env: { ...call.env, GIT_WORK_TREE: folder },
      ...(attributes.length === 0
        ? { args: ["checkout-index", "-q", "-f", ...refreshFlag, "-a"] }
        : {
            args: ["checkout-index", "-q", "-f", ...refreshFlag, "-z", "--stdin"],
            input: formatPathRows(rows),
          }),
    });

    if (keptIndex !== undefined) await cp(index, keptIndex);
  });
}

/**
 * Writes a few plain files itself, which is faster than two processes; false, with nothing written,
 * if git must do it.
 */
async function writeFewFiles(
  shadow: Shadow,
  rows: readonly FileRow[],
  folder: string,
): Promise<boolean> {
  if (rows.length > directFilesMax || !rows.every(isPlainFile)) return false;
  const contents: (readonly [BytePath, number, Buffer])[] = [];

  for (const [path, entry] of rows) {
    const content = (await readObject(shadow.call, entry.sha, directFileBytesMax))?.content ?? null;
    if (content === null) return false;
    contents.push([path, entry.mode === "100755" ? 0o777 : 0o666, content]);
  }

  for (const [path, mode, content] of contents) {
    const parent = listParentFolders(path).at(-1);
    if (parent !== undefined) await mkdir(toDiskPath(folder, parent), { recursive: true });
    await writeFile(toDiskPath(folder, path), content, { mode });
  }

  return true;
}

/** Whether git would write a file byte for byte, since no attributes are written beside it. */
const isPlainFile = ([path, entry]: FileRow): boolean =>
  entry.mode.startsWith("100") &&
  !isAttributesFile(path) &&
  splitBytePath(path).every((part) => !unsafeNamePattern.test(part)) &&
  !displayPath(path).split("/").some(isGitName);

/** Writes the tree that results from `changes` on top of `onto`; a null entry deletes a path. */
export async function writeTree(
  shadow: Shadow,
  call: GitContext,
  onto: GitSha,
  changes: Iterable<TreeChange>,
): Promise<GitSha> {
  return writeEditedTree(call, shadow.format, await resolveTree(call, onto), changes);
}

/** Passes the path of a private index to `use`, and deletes the index afterwards. */
async function withIndex<T>(shadow: Shadow, use: (index: string) => Promise<T>): Promise<T> {
  const index = join(shadow.scratch, `index-${randomUUID()}`);
  try {
    return await use(index);
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

/** Paths, each ended by a NUL: what `checkout-index --stdin -z` reads. */
function* formatPathRows(entries: Iterable<FileRow>): Generator<Buffer> {
  for (const [path] of entries) yield Buffer.concat([bytePathToBytes(path), Buffer.from([0])]);
}

/** Rows for `update-index --index-info`: `100644 <sha><tab><path><NUL>`. */
function* formatIndexRows(entries: Iterable<FileRow>): Generator<Buffer> {
  for (const [path, { mode, sha }] of entries) {
    yield Buffer.from(`${mode} ${sha}\t`, "latin1");
    yield bytePathToBytes(path);
    yield Buffer.from([0]);
  }
}
