// scan-layer: lists a layer (the agent's folder for one attempt) file by file, without trusting
// anything in it. Folders that the base's ignore rules ignore are listed, not entered.

import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { GitSha } from "../../contracts/ids.ts";
import {
  listParentFolders,
  joinBytePath,
  displayPath,
  bytePathToText,
  splitLastPart,
  type BytePath,
} from "../git/byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { NotRead, withFolder, type OpenFolder } from "./fd-walk.ts";
import type { FindIgnored } from "../git/ignore-rules.ts";
import { isGitName } from "../git/confusable-names.ts";
import type { PathTest } from "./scope-globs.ts";
import { isGitlink, computeObjectHash, type ObjectFormat, type Tree } from "../git/tree.ts";

/** What is at a path: a file, a link, or something that git can't or must not store. */
export type ScannedEntry =
  | {
      readonly kind: "file";
      readonly mode: "100644" | "100755";
      readonly sha: GitSha;
      /** The hash of the bytes in the folder, if git stores others for them (stored-content.ts). */
      readonly bytesSha?: GitSha;
      readonly bytes: number;
      /** How many names the file has. */
      readonly links: number;
    }
  | { readonly kind: "link"; readonly sha: GitSha }
  | {
      readonly kind: "unstorable";
      readonly violation:
        | "special_file"
        | "unreadable"
        | "nested_repository"
        | "git_metadata"
        | "damaged_base";
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
  readonly findIgnored: FindIgnored;
  /** Larger new files are not hashed: they will be refused anyway. */
  readonly fileBytesMax: number;
  /** Tells by stat data which of the base's files are unchanged, so that they need not be read. */
  readonly isUnchanged?: (path: BytePath, stat: Stats) => boolean;
  /**
   * Where to start, instead of at the root: paths that the base does not have, folders with a
   * trailing slash.
   */
  readonly startPaths?: readonly BytePath[];
};

/** The path of the layer itself. */
const top = "" as BytePath;
const entriesMax = 2_000_000;
const hashedBytesMax = 4 * 1024 ** 3;
/** After this time the scan lets others have the event loop. */
const sliceMs = 25;

export async function scanLayer(input: ScanInput): Promise<ScanResult> {
  const scanned = new Map<BytePath, ScannedEntry>();
  const ignored: BytePath[] = [];
  const listFolders = openFolderListing(input, scanned);
  const isNotOwned = (path: BytePath): boolean =>
    !input.isOwned(displayPath(path).replace(/\/$/, ""));

  let folders: readonly BytePath[] = input.startPaths === undefined ? [top] : [];
  let untracked: readonly BytePath[] = input.startPaths ?? [];

  // Each round lists some folders and asks once which of the untracked paths in them are ignored;
  // the next round enters the others.
  while (folders.length > 0 || untracked.length > 0) {
    const paths = [...untracked, ...(await listFolders(folders))];
    const ignoredPaths = await input.findIgnored(paths.filter(isNotOwned));
    const entered: BytePath[] = [];

    for (const path of paths) {
      if (ignoredPaths.has(path)) ignored.push(path);
      else if (path.endsWith("/")) entered.push(path.slice(0, -1) as BytePath);
      else scanned.set(path, scanPath(input, path));
    }

    folders = entered;
    untracked = [];
  }

  return { scanned, ignored };
}

/**
 * Returns a function that lists folders and the tracked folders below them: what it scans is added
 * to `scanned`, and the untracked paths are returned. It counts the entries of all its calls.
 */
function openFolderListing(
  input: ScanInput,
  scanned: Map<BytePath, ScannedEntry>,
): (folders: readonly BytePath[]) => Promise<readonly BytePath[]> {
  const gitlinks = [...input.base].filter(([, entry]) => isGitlink(entry)).map(([path]) => path);
  const trackedPaths = {
    trackedFolders: new Set([...input.base.keys()].flatMap(listParentFolders)),
    gitlinks: new Set(gitlinks),
  };

  let entryCount = 0;
  let sliceBeganMs = performance.now();

  return async (folders) => {
    const untracked: BytePath[] = [];
    const stack = [...folders];

    for (let folder = stack.pop(); folder !== undefined; folder = stack.pop()) {
      const listing = listFolder(input, folder, trackedPaths);
      for (const [path, entry] of listing.scanned) scanned.set(path, entry);
      stack.push(...listing.tracked);
      untracked.push(...listing.untracked);

      entryCount += listing.entries;
      if (entryCount > entriesMax) {
        throw new WorkspaceFailed(
          "workspace_unusable",
          `The layer holds more than ${entriesMax} files that are not ignored.`,
        );
      }

      if (performance.now() - sliceBeganMs < sliceMs) continue;
      await setImmediate(); // a long scan must not keep a stop request waiting
      sliceBeganMs = performance.now();
    }

    return untracked;
  };
}

type FolderListing = {
  readonly scanned: (readonly [BytePath, ScannedEntry])[];
  /** Subfolders with files of the base. */
  readonly tracked: BytePath[];
  /** Paths that wait for the ignore rules; folders end in a slash. */
  readonly untracked: BytePath[];
  entries: number;
};

type TrackedPaths = {
  readonly trackedFolders: ReadonlySet<BytePath>;
  readonly gitlinks: ReadonlySet<BytePath>;
};

function listFolder(input: ScanInput, folder: BytePath, trackedPaths: TrackedPaths): FolderListing {
  const listing: FolderListing = { scanned: [], tracked: [], untracked: [], entries: 0 };

  try {
    withFolder(input.root, folder, (openFolder) => {
      for (const name of openFolder.list()) {
        listing.entries += 1;
        const path = joinBytePath(folder, name);
        const stat = openFolder.stat(name);
        const gitName = classifyGitName(folder, name, stat);
        if (gitName === "own") continue;

        if (gitName !== null) listing.scanned.push([path, gitName]);
        else addToListing(listing, input, trackedPaths, openFolder, { path, name, stat });
      }
    });
  } catch (error) {
    listing.scanned.push([folder, toUnreadableFolder(error)]);
  }

  return listing;
}

/** Scans a tracked file at once; an untracked one waits for the ignore rules. */
function addToListing(
  listing: FolderListing,
  input: ScanInput,
  { gitlinks, trackedFolders }: TrackedPaths,
  openFolder: OpenFolder,
  file: FileInFolder,
): void {
  const { path, stat } = file;
  if (gitlinks.has(path)) {
    listing.scanned.push(...scanSubmodule(input, path, stat));
  } else if (stat.isDirectory() && trackedFolders.has(path)) {
    listing.tracked.push(path);
  } else if (stat.isDirectory()) {
    listing.untracked.push(`${path}/` as BytePath);
  } else if (input.base.has(path)) {
    listing.scanned.push([path, scanEntry(input, openFolder, file)]);
  } else {
    listing.untracked.push(path);
  }
}

/**
 * Classifies names that mean `.git`: `own` for the layer's own folder, which is not judged; all
 * others are refused. Null for other names.
 */
export function classifyGitName(
  folder: BytePath,
  name: BytePath,
  stat: Stats,
): ScannedEntry | "own" | null {
  if (!isGitName(bytePathToText(name) ?? name)) return null;
  if (name !== ".git") {
    return {
      kind: "unstorable",
      violation: "git_metadata",
      detail: "some file systems take this name for .git",
    };
  }

  if (folder !== "") {
    return {
      kind: "unstorable",
      violation: "nested_repository",
      detail: "a repository inside the tree",
    };
  }

  return stat.isDirectory()
    ? "own"
    : {
        kind: "unstorable",
        violation: "git_metadata",
        detail: "the layer's .git isn't a folder any more",
      };
}

/**
 * A submodule's path is an empty folder, or absent; anything else would be a change inside another
 * repository.
 */
export function scanSubmodule(
  input: ScanInput,
  path: BytePath,
  stat: Stats,
): (readonly [BytePath, ScannedEntry])[] {
  const refuse = (detail: string): (readonly [BytePath, ScannedEntry])[] => [
    [path, { kind: "unstorable", violation: "nested_repository", detail }],
  ];
  if (!stat.isDirectory()) return refuse("a submodule's place was taken by something else");

  try {
    const names = withFolder(input.root, path, (folder) => folder.list());
    return names.length === 0 ? [] : refuse("files inside a submodule's place");
  } catch (error) {
    if (error instanceof NotRead) return refuse("a submodule's place could not be read");
    throw error;
  }
}

/** The entry of one path, whose folder is opened for it. */
function scanPath(input: ScanInput, path: BytePath): ScannedEntry {
  const [parent, name] = splitLastPart(path);
  try {
    return withFolder(input.root, parent, (folder) =>
      scanEntry(input, folder, { path, name, stat: folder.stat(name) }),
    );
  } catch (error) {
    return toUnreadable(error);
  }
}

/** The entry of a path that could not be read; throws any other error on. */
function toUnreadable(error: unknown): ScannedEntry {
  if (!(error instanceof NotRead)) throw error;
  return {
    kind: "unstorable",
    violation: "unreadable",
    detail: `could not be read (${error.message})`,
  };
}

/** The same for a folder whose entries could not be read. */
export function toUnreadableFolder(error: unknown): ScannedEntry {
  if (!(error instanceof NotRead)) throw error;
  return {
    kind: "unstorable",
    violation: "unreadable",
    detail: `the folder could not be read (${error.message})`,
  };
}

type FileInFolder = { readonly path: BytePath; readonly name: BytePath; readonly stat: Stats };

const toGitMode = ({ mode }: Stats): "100644" | "100755" =>
  (mode & 0o100) === 0 ? "100644" : "100755";

/** Reads what one path of an open folder holds; `unstorable` if git could not store it. */
export function scanEntry(
  input: ScanInput,
  folder: OpenFolder,
  { path, name, stat }: FileInFolder,
): ScannedEntry {
  const isUnchanged = input.isUnchanged?.(path, stat) === true;
  const unchangedEntry = isUnchanged ? input.base.get(path) : undefined;

  try {
    if (stat.isSymbolicLink()) {
      const sha =
        unchangedEntry?.mode === "120000"
          ? unchangedEntry.sha
          : computeObjectHash(input.format, "blob", folder.linkTarget(name));
      return { kind: "link", sha };
    }

    if (!stat.isFile()) {
      return {
        kind: "unstorable",
        violation: "special_file",
        detail: "neither a file nor a folder",
      };
    }

    if (unchangedEntry?.mode === toGitMode(stat)) return createFileEntry(stat, unchangedEntry.sha);

    const bytesMax = input.base.has(path) ? hashedBytesMax : input.fileBytesMax;
    if (stat.size > bytesMax) {
      // Too large to be read, and to be applied. This stands for its hash, so that the layer's hash
      // changes with its size.
      const sha = computeObjectHash(input.format, "blob", Buffer.from(`unread ${stat.size}`));
      return createFileEntry(stat, sha);
    }

    const hash = createHash(input.format).update(`blob ${stat.size}\0`);
    const opened = folder.read(name, (piece) => hash.update(piece), hashedBytesMax);
    if (opened.size !== stat.size) throw new NotRead("changed while it was read");

    return createFileEntry(opened, hash.digest("hex"));
  } catch (error) {
    return toUnreadable(error);
  }
}

const createFileEntry = (stat: Stats, sha: GitSha): ScannedEntry => ({
  kind: "file",
  mode: toGitMode(stat),
  sha,
  bytes: stat.size,
  links: stat.nlink,
});

/**
 * The content of one scanned path, read again in the same safe way; throws NotRead if it is not
 * what was scanned.
 */
export function readScannedContent(
  {
    root,
    format,
    bytesMax,
  }: { readonly root: string; readonly format: ObjectFormat; readonly bytesMax: number },
  path: BytePath,
  scanned: { readonly kind: "file" | "link"; readonly sha: GitSha; readonly bytesSha?: GitSha },
): Buffer {
  const [parent, name] = splitLastPart(path);
  const content = withFolder(root, parent, (folder) => {
    if (scanned.kind === "link") return folder.linkTarget(name);
    const pieces: Buffer[] = [];
    folder.read(name, (piece) => pieces.push(Buffer.from(piece)), bytesMax);

    return Buffer.concat(pieces);
  });
  if (computeObjectHash(format, "blob", content) !== (scanned.bytesSha ?? scanned.sha)) {
    throw new NotRead(`${displayPath(path)} changed after it was judged`);
  }

  return content;
}
