// materialize: writes a list of tree entries into an empty folder, through a private index, converted as the attributes among them say.

import { randomUUID } from "node:crypto";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { bytePathBytes, listParentFolders, bytePathParts, type BytePath } from "./byte-path.ts";
import { isAttributesFile } from "./attributes.ts";
import { git, type GitContext } from "./git.ts";
import { readObject } from "./object-reader.ts";
import type { Shadow } from "./shadow.ts";
import { resolveTree, type TreeEntry } from "./tree.ts";
import { writeEditedTree } from "./tree-folders.ts";

const directFilesMax = 40;
const directFileBytesMax = 1 << 20;

type Rows = Iterable<readonly [BytePath, TreeEntry | null]>;

type MaterializeOptions = {
  /** Where the index with the files' stat data is kept. */
  readonly index?: string;
  /** Attribute files that apply to the entries and are not written. */
  readonly attributes?: readonly (readonly [BytePath, TreeEntry])[];
};

/** Checks the entries out into `folder`, which is still empty and private. */
export async function materialize(
  shadow: Shadow,
  entries: Rows,
  folder: string,
  { index: keptIndex, attributes = [] }: MaterializeOptions = {},
): Promise<void> {
  if (keptIndex === undefined && attributes.length === 0 && (await writeFew(shadow, [...entries], folder))) return;
  await withIndex(shadow, async (index) => {
    const call = { ...shadow.call, env: { ...shadow.call.env, GIT_INDEX_FILE: index } };
    await git({ ...call, args: ["update-index", "-z", "--index-info"], input: indexRows([...attributes, ...entries], shadow) });
    const refreshFlag = keptIndex !== undefined ? ["-u"] : [];
    await git({
      ...call,
      cwd: folder,
      env: { ...call.env, GIT_WORK_TREE: folder },
      ...(attributes.length === 0
        ? { args: ["checkout-index", "-q", "-f", ...refreshFlag, "-a"] }
        : { args: ["checkout-index", "-q", "-f", ...refreshFlag, "-z", "--stdin"], input: pathRows(entries) }),
    });
    if (keptIndex !== undefined) await cp(index, keptIndex);
  });
}

/** Writes a few plain files itself, which is faster than two processes; false, with nothing written, if git must do it. */
async function writeFew(shadow: Shadow, rows: readonly (readonly [BytePath, TreeEntry | null])[], folder: string): Promise<boolean> {
  const isPlain = rows.every(
    ([path, entry]) =>
      entry?.mode.startsWith("100") === true &&
      !isAttributesFile(path) &&
      bytePathParts(path).every((part) => !/^(?:|\.|\.\.|\.git)$/i.test(part)),
  );
  if (rows.length > directFilesMax || !isPlain) return false;
  const contents: (readonly [BytePath, number, Buffer])[] = [];
  for (const [path, entry] of rows) {
    const content = (await readObject(shadow.call, entry?.sha ?? "", directFileBytesMax))?.content ?? null;
    if (content === null) return false;
    contents.push([path, entry?.mode === "100755" ? 0o777 : 0o666, content]);
  }
  for (const [path, mode, content] of contents) {
    const above = listParentFolders(path).at(-1);
    if (above !== undefined) await mkdir(pathInFolder(folder, above), { recursive: true });
    await writeFile(pathInFolder(folder, path), content, { mode });
  }
  return true;
}

const pathInFolder = (folder: string, path: BytePath): Buffer => Buffer.concat([Buffer.from(`${folder}/`), bytePathBytes(path)]);

/** Writes the tree that results from `changes` on top of `onto`; a null entry deletes a path. */
export async function writeTree(shadow: Shadow, call: GitContext, onto: GitSha, changes: Rows): Promise<GitSha> {
  return writeEditedTree(call, shadow.format, await resolveTree(call, onto), changes);
}

async function withIndex<T>(shadow: Shadow, use: (index: string) => Promise<T>): Promise<T> {
  const index = join(shadow.scratch, `index-${randomUUID()}`);
  try {
    return await use(index);
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

function* pathRows(entries: Rows): Generator<Buffer> {
  for (const [path] of entries) yield Buffer.concat([bytePathBytes(path), Buffer.from([0])]);
}

function* indexRows(entries: Rows, shadow: Shadow): Generator<Buffer> {
  const zeroSha = "0".repeat(shadow.format === "sha1" ? 40 : 64);
  const rows = [...entries];
  // Deletions come first, so that a file may become a folder and a folder a file.
  for (const [path, entry] of [...rows.filter(([, entry]) => entry === null), ...rows.filter(([, entry]) => entry !== null)]) {
    yield Buffer.from(`${entry?.mode ?? "0"} ${entry?.sha ?? zeroSha}\t`, "latin1");
    yield bytePathBytes(path);
    yield Buffer.from([0]);
  }
}
