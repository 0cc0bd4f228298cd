// read-back: finds what was written in a checkout from its folder alone: the tree below it is read only where something was written.
//
// Invariants:
//   K1. No link is followed (fd-walk.ts), and a whiteout is the kernel's: processes inside a checkout cannot create one.
//   K2. What is gone from a recreated folder only the kernel knows: the checkout is mounted again and listed.

import type { Stats } from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { GitSha } from "../../contracts/ids.ts";
import { foldersAbove, joined, displayPath, type BytePath } from "../git/byte-path.ts";
import { WorkspaceFailed } from "../failure.ts";
import { NotRead, withFolder } from "../layers/fd-walk.ts";
import type { IgnoredOf } from "../git/ignore.ts";
import { makeAccessible, listAt, withOverlayFolder } from "../isolation/overlay-fd.ts";
import { type ScannedEntry, identifyIn, bytePathMetadata, scan, type ScanInput, submoduleAt } from "../layers/scan.ts";
import type { PathTest } from "../layers/scope.ts";
import type { ObjectFormat, TreeEntry } from "../git/tree.ts";
import { isTree, type TreeFolders } from "../git/tree-folders.ts";
import { withMerged } from "./merged.ts";

/** The tree itself, which has no name. */
const top = "" as BytePath;

export type ReadBackInput = {
  readonly place: string;
  readonly folder: string;
  /** The checkout was made from this tree; its changes are compared with it. */
  readonly tree: GitSha;
  readonly against: GitSha;
  readonly folders: TreeFolders;
  readonly format: ObjectFormat;
  readonly isOwned: PathTest;
  readonly ignoredOf: IgnoredOf;
  readonly fileBytesMax: number;
};

export type ReadBack = {
  readonly found: ReadonlyMap<BytePath, ScannedEntry>;
  readonly ignored: readonly BytePath[];
  /** Of the compared tree: the entries at the paths that were found or are gone. */
  readonly base: ReadonlyMap<BytePath, TreeEntry>;
  /** Names beside the new paths, to see which would collide on some machine. */
  readonly beside: readonly BytePath[];
};

const writtenMax = 2_000_000;
const sliceMs = 25;

export async function readBack(input: ReadBackInput): Promise<ReadBack> {
  const written = await writtenIn(input);
  for (const path of await goneAnew(input, written.shared)) written.gone.add(path);
  const inner = await scan({ ...scanInput(input), from: written.untracked });
  const found = new Map([...written.found, ...inner.found]);
  const base = new Map<BytePath, TreeEntry>();
  const created: BytePath[] = [];
  for (const path of [...found.keys(), ...written.gone]) {
    const entry = await input.folders.at(input.against, path);
    if (entry !== undefined && !isTree(entry)) base.set(path, entry);
    else created.push(path);
  }
  return { found, ignored: inner.ignored, base, beside: await besideOf(input, created) };
}

const scanInput = ({ folder, format, isOwned, ignoredOf, fileBytesMax }: ReadBackInput): ScanInput => ({
  root: folder,
  format,
  base: new Map(),
  isOwned,
  ignoredOf,
  fileBytesMax,
});

type Shared = { readonly path: BytePath; readonly tree: GitSha };
type Written = {
  readonly found: Map<BytePath, ScannedEntry>;
  readonly gone: Set<BytePath>;
  /** Folders that were written into and are in the tree too. */
  readonly shared: Shared[];
  /** Paths that the tree does not have; folders end in a slash. */
  readonly untracked: BytePath[];
};

async function writtenIn(input: ReadBackInput): Promise<Written> {
  const written: Written = { found: new Map(), gone: new Set(), shared: [], untracked: [] };
  const stack: Shared[] = [{ path: "" as BytePath, tree: input.tree }];
  let entries = 0;
  let began = performance.now();
  for (let shared = stack.pop(); shared !== undefined; shared = stack.pop()) {
    const listed = list(input, shared, written);
    entries += listed.length;
    if (entries > writtenMax) throw new WorkspaceFailed("workspace_unusable", `More than ${writtenMax} files were written.`);
    if (shared.path !== "") written.shared.push(shared);
    const below = await input.folders.read(shared.tree);
    const seen: (readonly [BytePath, Stats, TreeEntry])[] = [];
    for (const [name, stat] of listed) {
      const path = joined(shared.path, name);
      const metadata = bytePathMetadata(shared.path, name, stat);
      if (metadata === "own") continue;
      const there = below.get(name);
      if (metadata !== null) written.found.set(path, metadata);
      else if (there?.mode === "160000") {
        if (!isMark(stat)) for (const [at, what] of submoduleAt(scanInput(input), path, stat)) written.found.set(at, what);
      } else if (isMark(stat)) await addGone(input, written.gone, path, there);
      else if (stat.isDirectory() && there !== undefined && isTree(there)) stack.push({ path, tree: there.sha });
      else if (there !== undefined && !isTree(there) && !stat.isDirectory()) seen.push([name, stat, there]);
      else {
        await addGone(input, written.gone, path, there);
        written.untracked.push(stat.isDirectory() ? (`${path}/` as BytePath) : path);
      }
    }
    identifyAll(input, shared.path, seen, written.found);
    if (performance.now() - began < sliceMs) continue;
    await setImmediate(); // A long scan must not keep a stop request waiting.
    began = performance.now();
  }
  return written;
}

/** The kernel's whiteout. K1 */
const isMark = (stat: Stats): boolean => stat.isCharacterDevice() && stat.rdev === 0;

async function addGone(input: ReadBackInput, gone: Set<BytePath>, path: BytePath, there: TreeEntry | undefined): Promise<void> {
  if (there === undefined) return;
  if (!isTree(there)) gone.add(path);
  else for await (const [below, entry] of input.folders.filesBelow(input.tree, path)) if (entry.mode !== "160000") gone.add(below);
}

/** A folder that was closed to keep us out is opened first; what cannot be read is reported. */
function list({ folder }: ReadBackInput, { path }: Shared, written: Written): readonly (readonly [BytePath, Stats])[] {
  const index = path.lastIndexOf("/");
  if (path !== "")
    withOverlayFolder(folder, path.slice(0, Math.max(index, 0)) as BytePath, (held) =>
      makeAccessible(held, path.slice(index + 1) as BytePath),
    );
  try {
    return withFolder(folder, path, (held) => held.list().map((name) => [name, held.stat(name)] as const));
  } catch (error) {
    if (!(error instanceof NotRead)) throw error;
    written.found.set(path, { kind: "odd", violation: "special_file", detail: `the folder could not be read (${error.message})` });
    return [];
  }
}

function identifyAll(
  input: ReadBackInput,
  folder: BytePath,
  seen: readonly (readonly [BytePath, Stats, TreeEntry])[],
  found: Map<BytePath, ScannedEntry>,
): void {
  if (seen.length === 0) return;
  const known = { ...scanInput(input), base: new Map(seen.map(([name, , there]) => [joined(folder, name), there])) };
  try {
    withFolder(input.folder, folder, (held) => {
      for (const [name, stat] of seen) {
        const path = joined(folder, name);
        found.set(path, identifyIn(known, held, path, name, stat));
      }
    });
  } catch (error) {
    if (!(error instanceof NotRead)) throw error;
    found.set(folder, { kind: "odd", violation: "special_file", detail: `the folder could not be read (${error.message})` });
  }
}

/** What the tree has in these folders and the checkout does not. K2 */
async function goneAnew(input: ReadBackInput, shared: readonly Shared[]): Promise<ReadonlySet<BytePath>> {
  const gone = new Set<BytePath>();
  if (shared.length === 0) return gone;
  const listed = await withMerged(input.place, (merged) => shared.map(({ path }) => withOverlayFolder(merged, path, listAt)));
  for (const [index, { path, tree }] of shared.entries()) {
    const names = listed[index] ?? null;
    if (names === null) continue; // it is reported as unreadable
    const seen = new Set(names);
    for (const [name, entry] of await input.folders.read(tree)) if (!seen.has(name)) await addGone(input, gone, joined(path, name), entry);
  }
  return gone;
}

async function besideOf(input: ReadBackInput, created: readonly BytePath[]): Promise<readonly BytePath[]> {
  const folders = new Set<BytePath>(created.flatMap((path) => [top, ...foldersAbove(path)]));
  const beside: BytePath[] = [];
  for (const folder of folders) {
    const entry = await input.folders.at(input.against, folder);
    if (entry !== undefined && isTree(entry))
      for (const name of (await input.folders.read(entry.sha)).keys()) beside.push(joined(folder, name));
  }
  return beside.filter((path) => displayPath(path) !== "");
}
