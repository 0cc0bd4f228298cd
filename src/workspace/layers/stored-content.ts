// stored-content: finds out what git would store for files that attributes convert (line endings,
// encodings, $Id$). Git itself converts them, in a folder of the runner's own with copies of just
// these files and of the attributes around them.
//
// Invariants:
//   C1. No filter and no configuration applies (git/shadow.ts): conversions run no program.
//   C2. Git reads copies only. They were read safely (fd-walk.ts), and are the bytes that were
//       scanned.

import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../../contracts/ids.ts";
import { type BytePath, bytePathToBytes, listParentFolders, toDiskPath } from "../git/byte-path.ts";
import { listAttributePaths } from "../git/attributes.ts";
import { git } from "../git/git.ts";
import type { GitContext } from "../git/safe-git-call.ts";
import { erase } from "../folder.ts";
import { NotRead } from "./fd-walk.ts";
import { readObject } from "../git/object-reader.ts";
import type { Shadow } from "../git/shadow.ts";
import type { Tree } from "../git/tree.ts";
import type { TreeFolders } from "../git/tree-folders.ts";
import { readScannedContent, type ScannedEntry } from "./scan-layer.ts";

type FileEntry = Extract<ScannedEntry, { readonly kind: "file" }>;
type Scanned = ReadonlyMap<BytePath, ScannedEntry>;

export type StoredContentInput = {
  readonly shadow: Shadow;
  readonly folder: string;
  /** The tree that the files are compared with. */
  readonly tree: GitSha;
  /** Its files, at least at the scanned and deleted paths. */
  readonly base: Tree;
  readonly folders: TreeFolders;
  readonly scanned: Scanned;
  readonly fileBytesMax: number;
};

/** Git itself ignores larger ones. */
const attributesBytesMax = 100 << 20;
const refusalCharsMax = 300;

/** The scanned entries, with the hashes under which git stores those that attributes convert. */
export async function withStoredContent(input: StoredContentInput): Promise<Scanned> {
  const { scanned, base, fileBytesMax } = input;
  const candidates = [...scanned].filter(
    (row): row is [BytePath, FileEntry] =>
      row[1].kind === "file" &&
      row[1].bytes <= fileBytesMax &&
      row[1].sha !== base.get(row[0])?.sha,
  );
  if (candidates.length === 0) return scanned;
  const attributes = await readAttributes(
    input,
    candidates.map(([path]) => path),
  );
  if (attributes.length === 0) return scanned;
  const work = join(input.shadow.scratch, `stored-${randomUUID()}`);

  try {
    const files = join(work, "files");
    await mkdir(files, { recursive: true, mode: 0o700 });
    for (const [path, content] of attributes) await writeCopy(files, path, content);
    const result = new Map(scanned);
    const copied: (readonly [BytePath, FileEntry])[] = [];

    for (const [path, entry] of candidates) {
      const content = readOrNull(input, path, entry);
      if (content === null) continue; // it changed since; whoever reads it next finds that out
      await writeCopy(files, path, content);
      copied.push([path, entry]);
    }

    for (const [path, stored] of await hashAsGit(input, { work, files, copied })) {
      result.set(path, stored);
    }

    return result;
  } finally {
    await erase(work);
  }
}

/**
 * The attribute files as they are in the folder: written there, else the tree's unless they were
 * deleted.
 */
async function readAttributes(
  input: StoredContentInput,
  paths: readonly BytePath[],
): Promise<readonly (readonly [BytePath, Buffer])[]> {
  const files: (readonly [BytePath, Buffer])[] = [];
  for (const path of listAttributePaths(paths)) {
    const content = await readAttributeFile(input, path);
    if (content !== null) files.push([path, content]);
  }

  return files;
}

async function readAttributeFile(
  input: StoredContentInput,
  path: BytePath,
): Promise<Buffer | null> {
  const entry = input.scanned.get(path);
  if (entry?.kind === "file") return readOrNull(input, path, entry);
  const inTree =
    entry === undefined && !input.base.has(path)
      ? await input.folders.findEntry(input.tree, path)
      : undefined;
  if (inTree?.mode.startsWith("100") !== true) return null;

  return (await readObject(input.shadow.call, inTree.sha, attributesBytesMax))?.content ?? null;
}

function readOrNull(
  { folder, shadow, fileBytesMax }: StoredContentInput,
  path: BytePath,
  entry: FileEntry,
): Buffer | null {
  try {
    return readScannedContent(
      { root: folder, format: shadow.format, bytesMax: fileBytesMax },
      path,
      entry,
    ); // C2
  } catch (error) {
    if (error instanceof NotRead) return null;
    throw error;
  }
}

async function writeCopy(files: string, path: BytePath, content: Buffer): Promise<void> {
  const parent = listParentFolders(path).at(-1);
  if (parent !== undefined) await mkdir(toDiskPath(files, parent), { recursive: true });
  await writeFile(toDiskPath(files, path), content);
}

type Copies = {
  readonly work: string;
  readonly files: string;
  readonly copied: readonly (readonly [BytePath, FileEntry])[];
};

/** The entries that git stores with other content than the folder has, and those it refuses. */
async function hashAsGit(
  input: StoredContentInput,
  { work, files, copied }: Copies,
): Promise<ReadonlyMap<BytePath, ScannedEntry>> {
  const { shadow, base } = input;
  // C1
  const call = {
    ...shadow.call,
    cwd: files,
    env: { ...shadow.call.env, GIT_WORK_TREE: files, GIT_INDEX_FILE: join(work, "index") },
  };

  // Git looks at what it stored before: a text file that has CRLF there keeps it.
  const storedRows = copied.flatMap(([path]) => {
    const entry = base.get(path);
    return entry?.mode.startsWith("100") === true
      ? [Buffer.from(`${entry.mode} ${entry.sha}\t`), bytePathToBytes(path), Buffer.from([0])]
      : [];
  });
  if (storedRows.length > 0) {
    await git({ ...call, args: ["update-index", "-z", "--index-info"], input: storedRows });
  }

  const refused = await addToIndex(
    call,
    copied.map(([path]) => path),
  );

  const { out } = await git({ ...call, args: ["ls-files", "-s", "-z"] });
  const shas = parseStagedFiles(out);
  const stored = new Map<BytePath, ScannedEntry>();

  for (const [path, entry] of copied) {
    const sha = shas.get(path);
    const refusal = refused.get(path);
    if (refusal !== undefined) {
      stored.set(path, {
        kind: "unstorable",
        violation: "special_file",
        detail: `git can't store it: ${refusal}`,
      });
    } else if (sha !== undefined && sha !== entry.sha) {
      stored.set(path, { ...entry, sha, bytesSha: entry.sha });
    }
  }

  return stored;
}

/** The hashes by path in the output of `ls-files -s -z`: rows like `100644 <sha> 0<tab><path>`. */
function parseStagedFiles(output: Buffer): ReadonlyMap<BytePath, GitSha> {
  const shas = new Map<BytePath, GitSha>();
  for (const row of output.toString("latin1").split("\0")) {
    if (row === "") continue;
    const tab = row.indexOf("\t");
    shas.set(row.slice(tab + 1) as BytePath, row.slice(0, tab).split(" ")[1] ?? "");
  }

  return shas;
}

/**
 * Adds files to the index: all at once, or one by one if git refuses some, for example for a wrong
 * encoding. Returns the refused ones, with git's reasons.
 */
async function addToIndex(
  call: GitContext,
  paths: readonly BytePath[],
): Promise<ReadonlyMap<BytePath, string>> {
  const add = (
    added: readonly BytePath[],
  ): Promise<{ readonly code: number; readonly err: string }> =>
    git({
      ...call,
      args: ["update-index", "--add", "-z", "--stdin"],
      input: added.flatMap((path) => [bytePathToBytes(path), Buffer.from([0])]),
      acceptedExitCodes: [0, 1, 128],
    });

  const refused = new Map<BytePath, string>();
  if ((await add(paths)).code === 0) return refused;
  for (const path of paths) {
    const { code, err } = await add([path]);
    if (code !== 0) refused.set(path, err.trim().replaceAll(/\s+/g, " ").slice(-refusalCharsMax));
  }

  return refused;
}
