// read-back: finds what was written in a checkout that is a view of a base. Only the checkout's own
// folder is read, and the tree only where something was written.
//
// Invariants:
//   K1. No link is followed (fd-walk.ts), and a whiteout (a device of number 0) is the kernel's: an
//       overlay lets no process create one.
//   K2. Only the kernel knows what was deleted from a recreated folder, so the checkout is mounted
//       again and listed.
//   K3. A difference counts as the checkout's own change only where the lower folders are as they
//       were sealed (sealed-folder.ts): damage to a base never becomes a change.
//   K4. If a lower folder is gone and could not be created anew, nothing is read. That counts as
//       damage too: the attempt is repeated.

import { existsSync, type Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { GitSha } from "../../contracts/ids.ts";
import {
  bytePathToBytes,
  listParentFolders,
  joinBytePath,
  splitLastPart,
  type BytePath,
} from "../git/byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { withFolder } from "../layers/fd-walk.ts";
import type { FindIgnored } from "../git/ignore-rules.ts";
import { makeAccessible, listNamesAt, withFolderHandle } from "../isolation/overlay-fd.ts";
import {
  type ScannedEntry,
  scanEntry,
  classifyGitName,
  scanLayer,
  type ScanInput,
  scanSubmodule,
  toUnreadableFolder,
} from "../layers/scan-layer.ts";
import type { PathTest } from "../layers/scope-globs.ts";
import { isGitlink, isTree, type ObjectFormat, type TreeEntry } from "../git/tree.ts";
import type { TreeFolders } from "../git/tree-folders.ts";
import { isIntactAt, isSameFolder } from "../bases/sealed-folder.ts";
import { describeMergedView, readLowers, readSealedLowers } from "./checkout-place.ts";
import { withMergedView } from "./merged-view.ts";

const createDamagedEntry = (detail: string): ScannedEntry => ({
  kind: "unstorable",
  violation: "damaged_base",
  detail,
});
const damagedEntry = createDamagedEntry(
  "something outside the run changed the shared copy of it, which is made anew",
);

/** The path of the tree itself. */
const top = "" as BytePath;

export type ReadBackInput = {
  /** Where the checkout's lower folders are recorded (checkout-place.ts); null if it is gone. */
  readonly place: string | null;
  readonly folder: string;
  /** The tree that the checkout was made from. */
  readonly tree: GitSha;
  /**
   * The tree that its changes are compared with: the same, or one with files that were hidden from
   * the checkout.
   */
  readonly reference: GitSha;
  readonly folders: TreeFolders;
  readonly format: ObjectFormat;
  readonly isOwned: PathTest;
  readonly findIgnored: FindIgnored;
  readonly fileBytesMax: number;
};

export type ReadBack = {
  readonly scanned: ReadonlyMap<BytePath, ScannedEntry>;
  readonly ignored: readonly BytePath[];
  /** The compared tree's entries at the scanned and at the deleted paths. */
  readonly base: ReadonlyMap<BytePath, TreeEntry>;
  /** Names beside the new paths, to see which would collide on some machine. */
  readonly neighbours: readonly BytePath[];
};

const writtenMax = 2_000_000;
const sliceMs = 25;

/** What was written in the checkout, compared with `reference`. */
export async function readBack({ place, ...options }: ReadBackInput): Promise<ReadBack> {
  const missingLower = findMissingLower(place);
  if (place === null || missingLower !== null) {
    const removed = missingLower ?? "what it lies over";
    const entry = createDamagedEntry(
      `something outside the run removed ${removed}, without which it can't be read; it is made anew`,
    );

    return { scanned: new Map([[top, entry]]), ignored: [], base: new Map(), neighbours: [] }; // K4
  }

  const input = { ...options, place };
  const written = await readWritten(input);
  for (const path of await findDeletedByMount(input, written.shared)) written.deleted.add(path);

  const untrackedScan = await scanLayer({
    ...createScanInput(input),
    startPaths: written.untracked,
  });
  const scanned = new Map([...written.scanned, ...untrackedScan.scanned]);
  for (const path of written.damaged) scanned.set(path, damagedEntry);

  const changedPaths = [...scanned.keys(), ...written.deleted];
  const { base, created } = await readReference(input, changedPaths);

  return {
    scanned,
    ignored: untrackedScan.ignored,
    base,
    neighbours: await readNeighbours(input, created),
  };
}

/** The compared tree's files at these paths, and the paths at which it has none. */
async function readReference(
  { folders, reference }: ReadBackInput,
  paths: readonly BytePath[],
): Promise<{
  readonly base: ReadonlyMap<BytePath, TreeEntry>;
  readonly created: readonly BytePath[];
}> {
  const base = new Map<BytePath, TreeEntry>();
  const created: BytePath[] = [];
  for (const path of paths) {
    const entry = await folders.findEntry(reference, path);
    if (entry !== undefined && !isTree(entry)) base.set(path, entry);
    else created.push(path);
  }

  return { base, created };
}

const findMissingLower = (place: string | null): string | null =>
  place === null ? null : (readLowers(place).find((files) => !existsSync(files)) ?? null);

type PlacedInput = ReadBackInput & { readonly place: string };

const createScanInput = ({
  folder,
  format,
  isOwned,
  findIgnored,
  fileBytesMax,
}: ReadBackInput): ScanInput => ({
  root: folder,
  format,
  base: new Map(),
  isOwned,
  findIgnored,
  fileBytesMax,
});

type SharedFolder = { readonly path: BytePath; readonly tree: GitSha };
type Written = {
  readonly scanned: Map<BytePath, ScannedEntry>;
  readonly deleted: Set<BytePath>;
  /** Folders that were written into and are in the tree too. */
  readonly shared: SharedFolder[];
  /** Paths that the tree does not have; folders end in a slash. */
  readonly untracked: BytePath[];
  /** Paths at which something outside the run changed a lower folder. */
  readonly damaged: BytePath[];
};

/** Walks the folders that are both in the checkout's own folder and in the tree. */
async function readWritten(input: PlacedInput): Promise<Written> {
  const written: Written = {
    scanned: new Map(),
    deleted: new Set(),
    shared: [],
    untracked: [],
    damaged: [],
  };

  const stack: SharedFolder[] = [{ path: top, tree: input.tree }];
  const lowers = readSealedLowers(input.place);
  if (!lowers.every(isSameFolder)) written.damaged.push(top); // K3
  let entryCount = 0;
  let sliceBeganMs = performance.now();

  for (let shared = stack.pop(); shared !== undefined; shared = stack.pop()) {
    const entries = listEntries(input, shared, written);
    entryCount += entries.length;

    if (entryCount > writtenMax) {
      throw new WorkspaceFailed(
        "workspace_unusable",
        `More than ${writtenMax} files were written.`,
      );
    }

    // K3
    const entryPaths = entries.map(([name]) => joinBytePath(shared.path, name));
    for (const path of [shared.path, ...entryPaths]) {
      if (!isIntactAt(lowers, bytePathToBytes(path))) written.damaged.push(path);
    }

    if (shared.path !== top) written.shared.push(shared); // the top can't be recreated (K2)
    stack.push(...(await classifyEntries(input, shared, entries, written)));
    if (performance.now() - sliceBeganMs < sliceMs) continue;
    await setImmediate(); // a long scan must not keep a stop request waiting
    sliceBeganMs = performance.now();
  }

  return written;
}

type FolderEntries = readonly (readonly [name: BytePath, stat: Stats])[];

/**
 * Adds each entry of a folder to what was written, by its kind; returns the subfolders that are in
 * the tree too.
 */
async function classifyEntries(
  input: PlacedInput,
  { path: folder, tree }: SharedFolder,
  entries: FolderEntries,
  written: Written,
): Promise<readonly SharedFolder[]> {
  const treeFolder = await input.folders.read(tree);
  const subfolders: SharedFolder[] = [];
  const replaced: ReplacedFile[] = [];

  for (const [name, stat] of entries) {
    const path = joinBytePath(folder, name);
    const gitName = classifyGitName(folder, name, stat);
    if (gitName === "own") continue;
    if (gitName !== null) {
      written.scanned.set(path, gitName);
      continue;
    }

    const treeEntry = treeFolder.get(name);
    if (treeEntry !== undefined && isGitlink(treeEntry)) {
      if (!isWhiteout(stat)) addSubmodule(input, written.scanned, path, stat);
      continue;
    }

    if (isWhiteout(stat)) {
      await addDeleted(input, written.deleted, path, treeEntry);
      continue;
    }

    const isFolder = stat.isDirectory();
    if (treeEntry !== undefined && isFolder === isTree(treeEntry)) {
      if (isFolder) subfolders.push({ path, tree: treeEntry.sha });
      else replaced.push({ path, name, stat, treeEntry });
      continue;
    }

    // It is new, or a folder in the place of a file, or a file in the place of a folder.
    await addDeleted(input, written.deleted, path, treeEntry);
    written.untracked.push(isFolder ? (`${path}/` as BytePath) : path);
  }

  scanReplaced(input, folder, replaced, written.scanned);
  return subfolders;
}

/** Whether this is the kernel's mark for a deleted file. K1 */
const isWhiteout = (stat: Stats): boolean => stat.isCharacterDevice() && stat.rdev === 0;

function addSubmodule(
  input: PlacedInput,
  scanned: Map<BytePath, ScannedEntry>,
  path: BytePath,
  stat: Stats,
): void {
  const findings = scanSubmodule(createScanInput(input), path, stat);
  for (const [foundPath, entry] of findings) scanned.set(foundPath, entry);
}

/** Adds a path of the tree as deleted, or every file below it if it is a folder. */
async function addDeleted(
  input: ReadBackInput,
  deleted: Set<BytePath>,
  path: BytePath,
  treeEntry: TreeEntry | undefined,
): Promise<void> {
  if (treeEntry === undefined) return;
  if (!isTree(treeEntry)) {
    deleted.add(path);
    return;
  }

  for await (const [below, entry] of input.folders.listFilesBelow(input.tree, path)) {
    if (!isGitlink(entry)) deleted.add(below);
  }
}

/**
 * A folder's entries. One whose mode keeps its owner out is made accessible first; one that cannot
 * be read is reported.
 */
function listEntries(
  { folder }: ReadBackInput,
  { path }: SharedFolder,
  written: Written,
): FolderEntries {
  const [parent, name] = splitLastPart(path);
  if (path !== top) {
    withFolderHandle(folder, parent, (parentHandle) => makeAccessible(parentHandle, name));
  }

  try {
    return withFolder(folder, path, (folderHandle) =>
      folderHandle.list().map((entryName) => [entryName, folderHandle.stat(entryName)] as const),
    );
  } catch (error) {
    written.scanned.set(path, toUnreadableFolder(error));
    return [];
  }
}

type ReplacedFile = {
  readonly path: BytePath;
  readonly name: BytePath;
  readonly stat: Stats;
  readonly treeEntry: TreeEntry;
};

/** Hashes the files of one folder that were written over files of the tree. */
function scanReplaced(
  input: ReadBackInput,
  folder: BytePath,
  replaced: readonly ReplacedFile[],
  scanned: Map<BytePath, ScannedEntry>,
): void {
  if (replaced.length === 0) return;
  const scanOptions = {
    ...createScanInput(input),
    base: new Map(replaced.map(({ path, treeEntry }) => [path, treeEntry])),
  };

  try {
    withFolder(input.folder, folder, (folderHandle) => {
      for (const file of replaced) {
        scanned.set(file.path, scanEntry(scanOptions, folderHandle, file));
      }
    });
  } catch (error) {
    scanned.set(folder, toUnreadableFolder(error));
  }
}

/** What the tree has in these folders and the checkout does not. K2 */
async function findDeletedByMount(
  input: PlacedInput,
  shared: readonly SharedFolder[],
): Promise<ReadonlySet<BytePath>> {
  const deleted = new Set<BytePath>();
  if (shared.length === 0) return deleted;
  const mergedNames = await withMergedView(describeMergedView(input.place), (merged) =>
    shared.map(({ path }) => withFolderHandle(merged, path, listNamesAt)),
  );

  for (const [index, { path, tree }] of shared.entries()) {
    const names = mergedNames[index] ?? null;
    if (names === null) continue; // it is reported as unreadable
    const presentNames = new Set(names);

    for (const [name, entry] of await input.folders.read(tree)) {
      if (!presentNames.has(name)) {
        await addDeleted(input, deleted, joinBytePath(path, name), entry);
      }
    }
  }

  return deleted;
}

/** The names in the folders of new paths, as far as the compared tree has them. */
async function readNeighbours(
  input: ReadBackInput,
  created: readonly BytePath[],
): Promise<readonly BytePath[]> {
  const folders = new Set<BytePath>(created.flatMap((path) => [top, ...listParentFolders(path)]));
  const neighbours: BytePath[] = [];

  for (const folder of folders) {
    const entry = await input.folders.findEntry(input.reference, folder);
    if (entry === undefined || !isTree(entry)) continue;

    const treeFolder = await input.folders.read(entry.sha);
    for (const name of treeFolder.keys()) neighbours.push(joinBytePath(folder, name));
  }

  return neighbours;
}
