// tree-delta: computes the difference between two trees, and writes it as an overlay folder that
// turns the first into the second: changed files, and whiteouts (the kernel's marks for "deleted").

import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { promisify } from "node:util";
import type { GitSha } from "../../contracts/ids.ts";
import type { BytePath } from "../git/byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import type { GitContext } from "../git/safe-git-call.ts";
import { readAttributeFiles, isAttributesFile } from "../git/attributes.ts";
import { materialize } from "../git/materialize.ts";
import type { Shadow } from "../git/shadow.ts";
import { isTree, type TreeEntry } from "../git/tree.ts";
import { iterateTreeDifferences, openTreeFolders } from "../git/tree-folders.ts";

const execFileAsync = promisify(execFile);
const whiteoutTimeoutMs = 60_000;
/** A command line may have at least 128 KiB. */
const argumentBytesMax = 100_000;
const reasonCharsMax = 300;

export type TreeDelta = {
  /** New or changed files, as in the second tree. */
  readonly changed: readonly (readonly [BytePath, TreeEntry])[];
  /** The topmost paths, files and folders, that are not in the second tree. */
  readonly deleted: readonly BytePath[];
};

/**
 * The difference between two trees; null if that is more than `pathsMax` paths, or if attributes
 * differ.
 */
export async function computeDelta(
  call: GitContext,
  from: GitSha,
  to: GitSha,
  pathsMax: number,
): Promise<TreeDelta | null> {
  if (from === to) return { changed: [], deleted: [] };
  const folders = openTreeFolders(call);
  const changed: [BytePath, TreeEntry][] = [];
  const deleted: BytePath[] = [];

  // A new file or folder needs no whiteout: it hides the old one of the same path.
  for await (const { path, after } of iterateTreeDifferences(folders, from, to)) {
    if (isAttributesFile(path)) return null; // it may change how unchanged files are checked out
    if (after === undefined) {
      deleted.push(path);
    } else if (!isTree(after)) {
      changed.push([path, after]);
    } else {
      for await (const below of folders.listFilesBelow(to, path)) {
        if (isAttributesFile(below[0])) return null;
        changed.push([...below]);
        if (changed.length > pathsMax) return null;
      }
    }

    if (changed.length + deleted.length > pathsMax) return null;
  }

  return { changed, deleted };
}

/** Writes the difference into an empty folder, to be a lower folder of a checkout. */
export async function writeDelta(
  shadow: Shadow,
  { changed, deleted }: TreeDelta,
  tree: GitSha,
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o755 });
  await writeChanged(shadow, changed, tree, folder);

  for (const names of splitIntoBatches(deleted.map((path) => `./${escapeForPrintf(path)}`))) {
    await writeWhiteouts(folder, names);
  }
}

/** Files as a checkout of the whole tree would have them. */
export async function writeChanged(
  shadow: Shadow,
  changed: TreeDelta["changed"],
  tree: GitSha,
  folder: string,
): Promise<void> {
  if (changed.length === 0) return;
  const paths = changed.map(([path]) => path);
  await materialize(shadow, changed, folder, {
    attributes: await readAttributeFiles(openTreeFolders(shadow.call), tree, paths),
  });
}

// Creates a whiteout, a device of number 0, which any user may create, at each path, and the
// folders above it. `printf %b` undoes the escapes; the dot keeps a line feed at the end of a name,
// which `$( )` would drop.
const whiteoutScript = `cd "$1" && shift && for path; do path=$(printf "%b." "$path") && path=\${path%.} && case $path in */*) mkdir -p -- "\${path%/*}";; esac && mknod -- "$path" c 0 0 || exit 1; done`;
/**
 * A name need not be text, but an argument must be: other bytes are written as `\0` and three octal
 * digits.
 */
const escapeForPrintf = (path: BytePath): string =>
  path.replaceAll(
    /[^A-Za-z0-9_./-]/g,
    (char) => `\\0${char.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );

/** Batches that each fit into one command line. */
function splitIntoBatches(names: readonly string[]): readonly (readonly string[])[] {
  const batches: string[][] = [];
  let bytes = argumentBytesMax;

  for (const name of names) {
    bytes += name.length + 1;
    if (bytes > argumentBytesMax) {
      batches.push([]);
      bytes = name.length + 1;
    }

    batches.at(-1)?.push(name);
  }

  return batches;
}

async function writeWhiteouts(folder: string, names: readonly string[]): Promise<void> {
  try {
    await execFileAsync("/bin/sh", ["-c", whiteoutScript, "autopilot-delta", folder, ...names], {
      timeout: whiteoutTimeoutMs,
    });
  } catch (error) {
    // The message of the error begins with the script; what the shell said is the reason.
    const reason = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw new WorkspaceFailed(
      "workspace_unusable",
      `Files could not be marked as gone: ${reason.slice(0, reasonCharsMax)}`,
    );
  }
}
