// read-back: finds what was written in a checkout from its folder alone: the tree below it is read only where something was written.
//
// Invariants:
//   K1. No link is followed (fd-walk.ts), and a whiteout is the kernel's: processes inside a checkout cannot create one.
//   K2. Only the kernel knows what was deleted from a recreated folder, so the checkout is mounted again and listed.
//   K3. What was copied from below, or is missing below, is the checkout's own change only if what lies below is as it was made
//       (sealed-folder.ts): damage of a base never becomes a change.
//   K4. If what lies below is gone and could not be made anew nothing is read, which is damage too: the attempt is repeated.

import { existsSync, type Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { GitSha } from "../../contracts/ids.ts";
import { bytePathBytes, listParentFolders, joinBytePath, displayPath, type BytePath } from "../git/byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { NotRead, withFolder } from "../layers/fd-walk.ts";
import type { FindIgnored } from "../git/ignore-rules.ts";
import { makeAccessible, listNamesAt, withFolderHandle } from "../isolation/overlay-fd.ts";
import { type ScannedEntry, identifyEntry, classifyGitName, scan, type ScanInput, scanSubmodule } from "../layers/scan-layer.ts";
import type { PathTest } from "../layers/scope-globs.ts";
import type { ObjectFormat, TreeEntry } from "../git/tree.ts";
import { isTree, type TreeFolders } from "../git/tree-folders.ts";
import { isIntactAt, isSameFolder } from "../bases/sealed-folder.ts";
import { readLowers, readSealedLowers } from "./checkout-place.ts";
import { withMergedView } from "./merged-view.ts";

const damaged = (detail: string): ScannedEntry => ({ kind: "odd", violation: "damaged_base", detail });
const damagedEntry = damaged("something outside the run changed the shared copy of it, which is made anew");

/** The tree itself, which has no name. */
const top = "" as BytePath;

export type ReadBackInput = {
  /** Null if it is gone. */
  readonly place: string | null;
  readonly folder: string;
  /** The checkout was made from this tree; its changes are compared with it. */
  readonly tree: GitSha;
  readonly against: GitSha;
  readonly folders: TreeFolders;
  readonly format: ObjectFormat;
  readonly isOwned: PathTest;
  readonly ignoredOf: FindIgnored;
  readonly fileBytesMax: number;
};

export type ReadBack = {
  readonly scanned: ReadonlyMap<BytePath, ScannedEntry>;
  readonly ignored: readonly BytePath[];
  /** Of the compared tree: the entries at the paths that were found or are gone. */
  readonly base: ReadonlyMap<BytePath, TreeEntry>;
  /** Names beside the new paths, to see which would collide on some machine. */
  readonly neighbours: readonly BytePath[];
};

const writtenMax = 2_000_000;
const sliceMs = 25;

export async function readBack({ place, ...rest }: ReadBackInput): Promise<ReadBack> {
  const lost = findLost(place);
  if (place === null || lost !== null) {
    const entry = damaged(
      `something outside the run removed ${lost ?? "what it lies over"}, without which it can't be read; it is made anew`,
    );
    return { scanned: new Map([[top, entry]]), ignored: [], base: new Map(), neighbours: [] }; // K4
  }
  const input = { ...rest, place };
  const written = await readWritten(input);
  for (const path of await findDeletedByMount(input, written.shared)) written.deleted.add(path);
  const untrackedScan = await scan({ ...scanInput(input), from: written.untracked });
  const scanned = new Map([...written.scanned, ...untrackedScan.scanned]);
  for (const path of written.damaged) scanned.set(path, damagedEntry);
  const base = new Map<BytePath, TreeEntry>();
  const created: BytePath[] = [];
  for (const path of [...scanned.keys(), ...written.deleted]) {
    const entry = await input.folders.at(input.against, path);
    if (entry !== undefined && !isTree(entry)) base.set(path, entry);
    else created.push(path);
  }
  return { scanned: scanned, ignored: untrackedScan.ignored, base, neighbours: await readNeighbours(input, created) };
}

/** A lower folder that is gone. */
const findLost = (place: string | null): string | null =>
  place === null ? null : (readLowers(place).find((files) => !existsSync(files)) ?? null);

/** With the place, which is there. */
type Placed = ReadBackInput & { readonly place: string };

const scanInput = ({ folder, format, isOwned, ignoredOf, fileBytesMax }: ReadBackInput): ScanInput => ({
  root: folder,
  format,
  base: new Map(),
  isOwned,
  ignoredOf,
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
  /** Paths at which a folder below was changed by something else. */
  readonly damaged: BytePath[];
};

async function readWritten(input: Placed): Promise<Written> {
  const written: Written = { scanned: new Map(), deleted: new Set(), shared: [], untracked: [], damaged: [] };
  const stack: SharedFolder[] = [{ path: "" as BytePath, tree: input.tree }];
  const lowers = readSealedLowers(input.place);
  if (!lowers.every(isSameFolder)) written.damaged.push(top); // K3
  let entryCount = 0;
  let began = performance.now();
  for (let shared = stack.pop(); shared !== undefined; shared = stack.pop()) {
    const folderEntries = list(input, shared, written);
    entryCount += folderEntries.length;
    if (entryCount > writtenMax) throw new WorkspaceFailed("workspace_unusable", `More than ${writtenMax} files were written.`);
    for (const path of [shared.path, ...folderEntries.map(([name]) => joinBytePath(shared.path, name))])
      if (!isIntactAt(lowers, bytePathBytes(path))) written.damaged.push(path); // K3
    if (shared.path !== "") written.shared.push(shared);
    const treeFolder = await input.folders.read(shared.tree);
    const replaced: (readonly [BytePath, Stats, TreeEntry])[] = [];
    for (const [name, stat] of folderEntries) {
      const path = joinBytePath(shared.path, name);
      const metadata = classifyGitName(shared.path, name, stat);
      if (metadata === "own") continue;
      const treeEntry = treeFolder.get(name);
      if (metadata !== null) written.scanned.set(path, metadata);
      else if (treeEntry?.mode === "160000") {
        if (!isWhiteout(stat)) for (const [at, what] of scanSubmodule(scanInput(input), path, stat)) written.scanned.set(at, what);
      } else if (isWhiteout(stat)) await addDeleted(input, written.deleted, path, treeEntry);
      else if (stat.isDirectory() && treeEntry !== undefined && isTree(treeEntry)) stack.push({ path, tree: treeEntry.sha });
      else if (treeEntry !== undefined && !isTree(treeEntry) && !stat.isDirectory()) replaced.push([name, stat, treeEntry]);
      else {
        await addDeleted(input, written.deleted, path, treeEntry);
        written.untracked.push(stat.isDirectory() ? (`${path}/` as BytePath) : path);
      }
    }
    identifyReplaced(input, shared.path, replaced, written.scanned);
    if (performance.now() - began < sliceMs) continue;
    await setImmediate(); // A long scan must not keep a stop request waiting.
    began = performance.now();
  }
  return written;
}

/** The kernel's whiteout. K1 */
const isWhiteout = (stat: Stats): boolean => stat.isCharacterDevice() && stat.rdev === 0;

async function addDeleted(input: ReadBackInput, deleted: Set<BytePath>, path: BytePath, treeEntry: TreeEntry | undefined): Promise<void> {
  if (treeEntry === undefined) return;
  if (!isTree(treeEntry)) deleted.add(path);
  else for await (const [below, entry] of input.folders.filesBelow(input.tree, path)) if (entry.mode !== "160000") deleted.add(below);
}

/** A folder that was closed to keep us out is opened first; what cannot be read is reported. */
function list({ folder }: ReadBackInput, { path }: SharedFolder, written: Written): readonly (readonly [BytePath, Stats])[] {
  const index = path.lastIndexOf("/");
  if (path !== "")
    withFolderHandle(folder, path.slice(0, Math.max(index, 0)) as BytePath, (folderHandle) =>
      makeAccessible(folderHandle, path.slice(index + 1) as BytePath),
    );
  try {
    return withFolder(folder, path, (folderHandle) => folderHandle.list().map((name) => [name, folderHandle.stat(name)] as const));
  } catch (error) {
    if (!(error instanceof NotRead)) throw error;
    written.scanned.set(path, { kind: "odd", violation: "unreadable", detail: `the folder could not be read (${error.message})` });
    return [];
  }
}

function identifyReplaced(
  input: ReadBackInput,
  folder: BytePath,
  replaced: readonly (readonly [BytePath, Stats, TreeEntry])[],
  scanned: Map<BytePath, ScannedEntry>,
): void {
  if (replaced.length === 0) return;
  const scanOptions = { ...scanInput(input), base: new Map(replaced.map(([name, , there]) => [joinBytePath(folder, name), there])) };
  try {
    withFolder(input.folder, folder, (folderHandle) => {
      for (const [name, stat] of replaced) {
        const path = joinBytePath(folder, name);
        scanned.set(path, identifyEntry(scanOptions, folderHandle, { path, name, stat }));
      }
    });
  } catch (error) {
    if (!(error instanceof NotRead)) throw error;
    scanned.set(folder, { kind: "odd", violation: "unreadable", detail: `the folder could not be read (${error.message})` });
  }
}

/** What the tree has in these folders and the checkout does not. K2 */
async function findDeletedByMount(input: Placed, shared: readonly SharedFolder[]): Promise<ReadonlySet<BytePath>> {
  const deleted = new Set<BytePath>();
  if (shared.length === 0) return deleted;
  const mergedNames = await withMergedView(input.place, (merged) => shared.map(({ path }) => withFolderHandle(merged, path, listNamesAt)));
  for (const [index, { path, tree }] of shared.entries()) {
    const names = mergedNames[index] ?? null;
    if (names === null) continue; // it is reported as unreadable
    const present = new Set(names);
    for (const [name, entry] of await input.folders.read(tree))
      if (!present.has(name)) await addDeleted(input, deleted, joinBytePath(path, name), entry);
  }
  return deleted;
}

async function readNeighbours(input: ReadBackInput, created: readonly BytePath[]): Promise<readonly BytePath[]> {
  const folders = new Set<BytePath>(created.flatMap((path) => [top, ...listParentFolders(path)]));
  const neighbours: BytePath[] = [];
  for (const folder of folders) {
    const entry = await input.folders.at(input.against, folder);
    if (entry !== undefined && isTree(entry))
      for (const name of (await input.folders.read(entry.sha)).keys()) neighbours.push(joinBytePath(folder, name));
  }
  return neighbours.filter((path) => displayPath(path) !== "");
}
