// scan-layer: lists a layer file by file, without trusting anything in it. Folders that the base's ignore rules ignore are counted, not
// entered.

import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { GitSha } from "../../contracts/ids.ts";
import { bytePathBytes, listParentFolders, joinBytePath, displayPath, bytePathText, type BytePath } from "../git/byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { NotRead, withFolder, type OpenFolder } from "./fd-walk.ts";
import type { FindIgnored } from "../git/ignore-rules.ts";
import { isGitName } from "../git/confusable-names.ts";
import type { PathTest } from "./scope-globs.ts";
import { isGitlink, computeObjectHash, type ObjectFormat, type Tree } from "../git/tree.ts";

export type ScannedEntry =
  | {
      readonly kind: "file";
      readonly mode: "100644" | "100755";
      readonly sha: GitSha;
      /** The hash of the bytes in the folder, if git stores others for them (stored-content.ts). */
      readonly bytesSha?: GitSha;
      readonly bytes: number;
      readonly links: number;
    }
  | { readonly kind: "link"; readonly sha: GitSha }
  | {
      readonly kind: "odd";
      readonly violation: "special_file" | "unreadable" | "nested_repository" | "git_metadata" | "damaged_base";
      readonly detail: string;
    };

export type ScanResult = {
  readonly scanned: ReadonlyMap<BytePath, ScannedEntry>;
  /** The topmost ignored paths; folders end in a slash. */
  readonly ignored: readonly BytePath[];
};

export type ScanInput = {
  readonly root: string;
  readonly format: ObjectFormat;
  readonly base: Tree;
  /** Runner-owned paths are never skipped as ignored. */
  readonly isOwned: PathTest;
  readonly ignoredOf: FindIgnored;
  /** New files above it are not hashed: they will be refused anyway. */
  readonly fileBytesMax: number;
  /** Which of the base's files are unchanged, so that they need not be read. */
  readonly isUnchanged?: (path: BytePath, stat: Stats) => boolean;
  /** Where to start, instead of at the root: paths that the base does not have, folders with a trailing slash. */
  readonly from?: readonly BytePath[];
};

const entriesMax = 2_000_000;
const hashedBytesMax = 4 * 1024 ** 3;
const sliceMs = 25;

export async function scanLayer(input: ScanInput): Promise<ScanResult> {
  const scanned = new Map<BytePath, ScannedEntry>();
  const ignored: BytePath[] = [];
  const trackedFolders = new Set([...input.base.keys()].flatMap(listParentFolders));
  const gitlinks = new Set([...input.base].filter(([, entry]) => isGitlink(entry)).map(([path]) => path));
  let entryCount = 0;
  let sliceBeganMs = performance.now();

  let startPaths: readonly BytePath[] = input.from ?? [];
  let folders: readonly BytePath[] = input.from === undefined ? ["" as BytePath] : [];
  // Each round lists some folders and asks once which of the untracked paths in them are ignored; the next round enters the others.
  while (folders.length > 0 || startPaths.length > 0) {
    const untracked: BytePath[] = [...startPaths];
    startPaths = [];
    const stack = [...folders];
    for (let folder = stack.pop(); folder !== undefined; folder = stack.pop()) {
      const listing = listFolder(input, folder, { trackedFolders, gitlinks });
      for (const [path, entry] of listing.scanned) scanned.set(path, entry);
      stack.push(...listing.tracked);
      untracked.push(...listing.untracked);
      entryCount += listing.entries;
      if (entryCount > entriesMax)
        throw new WorkspaceFailed("workspace_unusable", `The layer holds more than ${entriesMax} files that are not ignored.`);
      if (performance.now() - sliceBeganMs < sliceMs) continue;
      await setImmediate(); // a long scan must not keep a stop request waiting
      sliceBeganMs = performance.now();
    }
    const isOurs = (path: BytePath): boolean => input.isOwned(displayPath(path).replace(/\/$/, ""));
    const ignoredPaths = await input.ignoredOf(untracked.filter((path) => !isOurs(path)));
    const nextFolders: BytePath[] = [];
    for (const path of untracked) {
      if (ignoredPaths.has(path)) ignored.push(path);
      else if (path.endsWith("/")) nextFolders.push(path.slice(0, -1) as BytePath);
      else scanned.set(path, identify(input, path));
    }
    folders = nextFolders;
  }
  return { scanned, ignored };
}

type FolderListing = {
  readonly scanned: (readonly [BytePath, ScannedEntry])[];
  readonly tracked: BytePath[];
  readonly untracked: BytePath[];
  readonly entries: number;
};
type TrackedPaths = { readonly trackedFolders: ReadonlySet<BytePath>; readonly gitlinks: ReadonlySet<BytePath> };

/** One folder's entries: tracked files are identified at once, untracked ones wait for the ignore rules. */
function listFolder(input: ScanInput, folder: BytePath, trackedPaths: TrackedPaths): FolderListing {
  const listing: FolderListing & { entries: number } = { scanned: [], tracked: [], untracked: [], entries: 0 };
  const visit = (openFolder: OpenFolder): void => {
    for (const name of openFolder.list()) {
      listing.entries += 1;
      const path = joinBytePath(folder, name);
      const stat = openFolder.stat(name);
      const metadata = classifyGitName(folder, name, stat);
      if (metadata === "own") continue;
      if (metadata !== null) listing.scanned.push([path, metadata]);
      else if (trackedPaths.gitlinks.has(path)) listing.scanned.push(...scanSubmodule(input, path, stat));
      else if (stat.isDirectory() && trackedPaths.trackedFolders.has(path)) listing.tracked.push(path);
      else if (stat.isDirectory()) listing.untracked.push(`${path}/` as BytePath);
      else if (input.base.has(path)) listing.scanned.push([path, identifyEntry(input, openFolder, { path, name, stat })]);
      else listing.untracked.push(path);
    }
  };
  try {
    withFolder(input.root, folder, visit);
  } catch (error) {
    if (!(error instanceof NotRead)) throw error;
    listing.scanned.push([folder, { kind: "odd", violation: "unreadable", detail: `the folder could not be read (${error.message})` }]);
  }
  return listing;
}

/**
 * Classifies names that mean `.git`: `own` for the layer's own folder, which is not judged; all others are refused. Null for other names.
 */
export function classifyGitName(folder: BytePath, name: BytePath, stat: Stats): ScannedEntry | "own" | null {
  if (!isGitName(bytePathText(name) ?? name)) return null;
  if (name !== ".git") return { kind: "odd", violation: "git_metadata", detail: "some file systems take this name for .git" };
  if (folder !== "") return { kind: "odd", violation: "nested_repository", detail: "a repository inside the tree" };
  return stat.isDirectory() ? "own" : { kind: "odd", violation: "git_metadata", detail: "the layer's .git isn't a folder any more" };
}

/** A submodule's path is an empty folder, or absent; anything else would be a change inside another repository. */
export function scanSubmodule(input: ScanInput, path: BytePath, stat: Stats): (readonly [BytePath, ScannedEntry])[] {
  const refuse = (detail: string): (readonly [BytePath, ScannedEntry])[] => [
    [path, { kind: "odd", violation: "nested_repository", detail }],
  ];
  if (!stat.isDirectory()) return refuse("a submodule's place was taken by something else");
  try {
    return withFolder(input.root, path, (folder) => folder.list()).length === 0 ? [] : refuse("files inside a submodule's place");
  } catch (error) {
    if (error instanceof NotRead) return refuse("a submodule's place could not be read");
    throw error;
  }
}

function identify(input: ScanInput, path: BytePath): ScannedEntry {
  const index = path.lastIndexOf("/");
  const name = path.slice(index + 1) as BytePath;
  try {
    return withFolder(input.root, path.slice(0, Math.max(index, 0)) as BytePath, (folder) =>
      identifyEntry(input, folder, { path, name, stat: folder.stat(name) }),
    );
  } catch (error) {
    if (!(error instanceof NotRead)) throw error;
    return { kind: "odd", violation: "unreadable", detail: `could not be read (${error.message})` };
  }
}

type FileInFolder = { readonly path: BytePath; readonly name: BytePath; readonly stat: Stats };

/** Reads what one path of an open folder holds; `odd` if git could not store it. */
export function identifyEntry(input: ScanInput, folder: OpenFolder, { path, name, stat }: FileInFolder): ScannedEntry {
  const unchangedEntry = input.isUnchanged?.(path, stat) === true ? input.base.get(path) : undefined;
  try {
    if (unchangedEntry?.mode === "120000" && stat.isSymbolicLink()) return { kind: "link", sha: unchangedEntry.sha };
    if (stat.isSymbolicLink()) return { kind: "link", sha: computeObjectHash(input.format, "blob", folder.linkTarget(name)) };
    if (!stat.isFile()) return { kind: "odd", violation: "special_file", detail: "neither a file nor a folder" };
    const mode = (stat.mode & 0o100) === 0 ? "100644" : "100755";
    if (unchangedEntry?.mode === mode) return { kind: "file", mode, sha: unchangedEntry.sha, bytes: stat.size, links: stat.nlink };
    if (stat.size > (input.base.has(path) ? hashedBytesMax : input.fileBytesMax)) {
      return {
        kind: "file",
        mode,
        sha: computeObjectHash(input.format, "blob", Buffer.from(`unread ${stat.size}`)),
        bytes: stat.size,
        links: stat.nlink,
      };
    }
    const hash = createHash(input.format).update(`blob ${stat.size}\0`);
    const opened = folder.read(name, (piece) => hash.update(piece), hashedBytesMax);
    if (opened.size !== stat.size) throw new NotRead("changed while it was read");
    return {
      kind: "file",
      mode: (opened.mode & 0o100) === 0 ? "100644" : "100755",
      sha: hash.digest("hex"),
      bytes: opened.size,
      links: opened.nlink,
    };
  } catch (error) {
    if (!(error instanceof NotRead)) throw error;
    return { kind: "odd", violation: "unreadable", detail: `could not be read (${error.message})` };
  }
}

/** The content of one scanned path, read again in the same safe way; throws NotRead if it is not what was scanned. */
export function readScannedContent(
  { root, format, bytesMax }: { readonly root: string; readonly format: ObjectFormat; readonly bytesMax: number },
  path: BytePath,
  scanned: { readonly kind: "file" | "link"; readonly sha: GitSha; readonly bytesSha?: GitSha },
): Buffer {
  const index = path.lastIndexOf("/");
  const name = path.slice(index + 1) as BytePath;
  const content = withFolder(root, path.slice(0, Math.max(index, 0)) as BytePath, (folder) => {
    if (scanned.kind === "link") return folder.linkTarget(name);
    const pieces: Buffer[] = [];
    folder.read(name, (piece) => pieces.push(Buffer.from(piece)), bytesMax);
    return Buffer.concat(pieces);
  });
  if (computeObjectHash(format, "blob", content) !== (scanned.bytesSha ?? scanned.sha))
    throw new NotRead(`${bytePathBytes(path).toString("utf8")} changed after it was judged`);
  return content;
}
