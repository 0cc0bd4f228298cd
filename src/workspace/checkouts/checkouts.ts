// checkouts: folders in which agents and checks work. Each looks like one tree and belongs to one attempt or check; how it is created
// depends on the machine, its guarantees do not.
//
// Invariants:
//   W1. Nothing that is written in a checkout reaches what it was made from, or another checkout.
//   W2. Creating and deleting a checkout may be interrupted at any moment: leftovers don't count (folder-records.ts, R1) and are deleted with the
//       next that is created or deleted.
//   W3. Damage of what it was made from is never taken for its own change (read-back.ts, K3), and no result counts that was reached over
//       something that had changed by then (requireIntact).

import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import type { GitSha } from "../../contracts/ids.ts";
import { type BytePath, bytePathFromText, bytePathBytes, listParentFolders } from "../git/byte-path.ts";
import { type DependencyBase, openDependencyBase } from "../bases/dependency-base.ts";
import { type Base, parseBaseTree, distrustBase, hasBase, openBase } from "../bases/base.ts";
import { openStore, type Store } from "../bases/store.ts";
import { isIntact, isSameFolder, type SealedFolder } from "../bases/sealed-folder.ts";
import { WorkspaceFailed } from "../failure.ts";
import { discard, erase } from "../folder.ts";
import { git } from "../git/git.ts";
import { materialize } from "../git/materialize.ts";
import type { Shadow } from "../git/shadow.ts";
import { readObject } from "../git/object-reader.ts";
import { readTree } from "../git/read-tree.ts";
import { type TreeEntry, resolveTree } from "../git/tree.ts";
import { isTree, openTreeFolders, type TreeFolders } from "../git/tree-folders.ts";
import { computeDelta, writeChanged, writeDelta, type TreeDelta } from "./tree-delta.ts";
import { writeListing } from "./stat-listing.ts";
import {
  findCheckoutPlace,
  checkoutPlacePath,
  deltaFolder,
  readLowers,
  readSealedLowers,
  rewriteSealedLowers,
  writeCheckoutParts,
} from "./checkout-place.ts";

/** `overlay`: a view of a base, mounted for each command. `reflink`: a copy that shares the base's blocks. `copy`: plain copies. */
export type CheckoutKind = "overlay" | "reflink" | "copy";

export type CheckoutOptions = {
  readonly kind: CheckoutKind;
  readonly runDir: string;
  readonly shadow: Shadow;
  /** The commit the run began on: most checkouts differ little from it. */
  readonly commit: GitSha;
  readonly trash: string;
  /** Where bases are kept; default: the user's cache. */
  readonly store?: Store;
};

export type Checkouts = {
  readonly kind: CheckoutKind;
  /** Makes an empty folder a fresh checkout of this tree, with a git index of its files at `index`. `packages` are included. */
  make(folder: string, tree: GitSha, index?: string, packages?: DependencyBase | null): Promise<void>;
  /** Installed packages at these paths of the user's checkout, as far as they fit into the tree; null if they cannot be shared here. */
  packagesFor(tree: GitSha, root: string, paths: readonly string[]): Promise<DependencyBase | null>;
  /** Deletes a checkout with all that was written in it. */
  drop(folder: string): Promise<void>;
  /** Throws if anything that checkouts of this process are made from was changed since: what was done with them proves nothing then. */
  requireIntact(): Promise<void>;
  /**
   * Makes what a checkout lies over anew, from the same tree and at the same path, if it is gone; a base, and packages as `packages` finds
   * them. What is there and another is left to those who read the checkout.
   */
  restoreLowers(folder: string, packages: () => Promise<DependencyBase | null>): Promise<void>;
  /** Opens everything anew for the next checkout, after something was found changed. */
  distrust(): Promise<void>;
  /** Folders in which files of a checkout may be, in search order, its own first. */
  foldersOf(folder: string): readonly string[];
};

const run = promisify(execFile);
const deltaPathsMax = 2_000;
const ancestorsMax = 20;
const commitBytesMax = 1 << 20;
const copyTimeoutMs = 900_000;

export function openCheckouts(options: CheckoutOptions): Checkouts {
  const { kind, runDir, shadow, trash } = options;
  const bases = openBases(options);
  return {
    kind,
    packagesFor: async (tree, root, paths) => {
      if (kind !== "overlay" || paths.length === 0) return null;
      const fitting = await filterFitting(openTreeFolders(shadow.call), tree, paths);
      return fitting.length === 0 ? null : bases.packages(root, fitting);
    },
    make: async (folder, tree, index, packages) => {
      const place = checkoutPlacePath(runDir, folder);
      await discard(place, trash); // W2
      if (kind === "copy") {
        const files = await readTree(shadow.call, tree);
        await materialize(shadow, files, folder, index === undefined ? {} : { index });
        return writeListing(place, folder, files.keys());
      }
      const { base, delta } = await bases.below(tree);
      if (index !== undefined) await writeIndex(shadow, base, delta, index);
      if (kind === "reflink") {
        await copyByReflink(shadow, base, { ...delta, tree }, folder);
        await bases.requireIntact();
        return writeListing(place, folder, (await readTree(shadow.call, tree)).keys());
      }
      const isBaseItself = delta.changed.length === 0 && delta.deleted.length === 0;
      await mkdir(place, { recursive: true, mode: 0o700 });
      if (!isBaseItself) await writeDelta(shadow, delta, tree, deltaFolder(place));
      writeCheckoutParts(place, folder, [...(isBaseItself ? [] : [deltaFolder(place)]), ...(packages == null ? [] : [packages]), base]);
    },
    drop: async (folder) => {
      await discard(folder, trash);
      await discard(checkoutPlacePath(runDir, folder), trash);
    },
    requireIntact: () => bases.requireIntact(),
    distrust: () => bases.distrust(),
    restoreLowers: async (folder, packages) => {
      const place = findCheckoutPlace(runDir, folder);
      const lowers = place === null ? [] : readSealedLowers(place);
      const gone = lowers.filter(({ files, id }) => id !== "" && !existsSync(files));
      if (place === null || gone.length === 0) return;
      await bases.distrust(); // what else was opened may be gone as well
      const made = new Map<string, SealedFolder>();
      for (const { files } of gone) {
        const tree = parseBaseTree(files);
        const anew = tree === null ? await packages() : await bases.open(tree);
        if (anew !== null) made.set(anew.files, anew);
      }
      const restored = lowers.map((lower) => made.get(lower.files) ?? lower);
      await rewriteSealedLowers(place, restored);
    },
    foldersOf: (folder) => {
      const place = findCheckoutPlace(runDir, folder);
      return place === null ? [folder] : [folder, ...readLowers(place)];
    },
  };
}

/** The nearest base of a tree, and the difference to it. Bases stay leased for as long as the process lives. */
function openBases({ shadow, commit, store: givenStore }: CheckoutOptions): {
  readonly open: (tree: GitSha) => Promise<Base>;
  readonly below: (tree: GitSha) => Promise<{ readonly base: Base; readonly delta: TreeDelta }>;
  readonly packages: (root: string, paths: readonly string[]) => Promise<DependencyBase | null>;
} & Pick<Checkouts, "requireIntact" | "distrust"> {
  const leasedPackages = new Map<string, DependencyBase>();
  let store: Store | null = givenStore ?? null;
  let nearestBase: Promise<Base> | null = null;
  const bases = new Map<GitSha, Promise<Base>>();
  /** Files that checkouts were made from and that are others now: what was done with them still has to be answered for (W3). */
  const lost: string[] = [];
  /** Forgets what is no longer the folder that was opened, so that it is opened anew. */
  const dropLost = async (): Promise<void> => {
    for (const opening of bases.values()) {
      const base = await opening.catch(() => null);
      if (base === null || isSameFolder(base) || bases.get(base.tree) !== opening) continue;
      lost.push(base.files);
      base.lease.release();
      bases.delete(base.tree);
      nearestBase = null;
    }
    for (const [key, packages] of leasedPackages) {
      if (isSameFolder(packages)) continue;
      lost.push(packages.files);
      packages.lease.release();
      leasedPackages.delete(key);
    }
  };
  const open = (tree: GitSha): Promise<Base> => {
    const cached = bases.get(tree);
    if (cached !== undefined) return cached;
    const opening = openBase((store ??= openStore()), { call: shadow.call, format: shadow.format, tree });
    bases.set(tree, opening);
    opening.catch(() => bases.delete(tree));
    return opening;
  };
  const findNearestBase = async (): Promise<Base> => {
    const openedStore = (store ??= openStore());
    const ownTree = await resolveTree(shadow.call, commit);
    let ancestor: GitSha | undefined = commit;
    for (let steps = 0; ancestor !== undefined && steps < ancestorsMax; steps += 1) {
      const [head = ""]: string[] =
        (await readObject(shadow.call, ancestor, commitBytesMax))?.content?.toString("latin1").split("\n\n", 1) ?? [];
      const tree = /^tree ([0-9a-f]+)$/m.exec(head)?.[1];
      if (tree === undefined) break; // where history ends, or is missing
      if (hasBase(openedStore, { format: shadow.format, tree }) && (await computeDelta(shadow.call, tree, ownTree, deltaPathsMax)) !== null)
        return open(tree);
      ancestor = /^parent ([0-9a-f]+)$/m.exec(head)?.[1];
    }
    return open(ownTree);
  };
  const distrust = async (): Promise<void> => {
    const opened = await Promise.allSettled(bases.values());
    for (const base of opened) if (base.status === "fulfilled") await distrustBase(base.value.folder);
    for (const [key, { lease }] of leasedPackages) {
      lease.release();
      leasedPackages.delete(key);
    }
    bases.clear();
    lost.length = 0;
    nearestBase = null;
  };
  return {
    requireIntact: async () => {
      const used: readonly SealedFolder[] = [...(await Promise.all(bases.values())), ...leasedPackages.values()];
      const damaged = await Promise.all(used.map(async (folder) => ((await isIntact(folder)) ? [] : [folder.files])));
      const changed = [...new Set([...lost, ...damaged.flat()])];
      if (changed.length === 0) return;
      await distrust();
      throw new WorkspaceFailed(
        "workspace_unusable",
        `Something outside this run changed files in ${changed.join(" and ")}, which agents and checks are shown. What was checked with them doesn't count.`,
        "autopilot resume makes them anew and checks again",
      );
    },
    distrust,
    open,
    packages: async (root, paths) => {
      await dropLost();
      const dependencyBase = await openDependencyBase((store ??= openStore()), root, paths, leasedPackages);
      if (dependencyBase !== null) leasedPackages.set(dependencyBase.key, dependencyBase);
      return dependencyBase;
    },
    below: async (tree) => {
      await dropLost();
      nearestBase ??= findNearestBase();
      nearestBase.catch(() => (nearestBase = null));
      const base = await nearestBase;
      const delta = await computeDelta(shadow.call, base.tree, tree, deltaPathsMax);
      return delta === null ? { base: await open(tree), delta: { changed: [], deleted: [] } } : { base, delta };
    },
  };
}

/** Those whose parent folder is in the tree and whose name is not. */
async function filterFitting(folders: TreeFolders, tree: GitSha, paths: readonly string[]): Promise<readonly string[]> {
  const fitting: string[] = [];
  for (const path of paths) {
    const parent = await folders.at(tree, bytePathFromText(dirname(path) === "." ? "" : dirname(path)));
    if (isTree(parent) && (await folders.at(tree, bytePathFromText(path))) === undefined) fitting.push(path);
  }
  return fitting;
}

/** The base's own index, updated with the difference: the stat data of all other files stay. */
async function writeIndex(shadow: Shadow, base: Base, { changed, deleted: gone }: TreeDelta, index: string): Promise<void> {
  await copyFile(base.index, index, constants.COPYFILE_FICLONE);
  if (changed.length === 0 && gone.length === 0) return;
  const folders = openTreeFolders(shadow.call);
  const zeroSha = "0".repeat(base.tree.length);
  const rows: Buffer[] = [];
  const add = (path: BytePath, entry: TreeEntry | null): void =>
    void rows.push(Buffer.from(`${entry?.mode ?? "0"} ${entry?.sha ?? zeroSha}\t`), bytePathBytes(path), Buffer.from([0]));
  // Deletions come first, so that a file may become a folder and a folder a file.
  for (const path of [...gone, ...changed.map(([own]) => own)]) {
    for await (const [below] of folders.filesBelow(base.tree, path)) add(below, null);
    for (const occupied of [...listParentFolders(path), path]) {
      const baseEntry = await folders.at(base.tree, occupied);
      if (baseEntry !== undefined && !isTree(baseEntry)) add(occupied, null);
    }
  }
  for (const [path, entry] of changed) add(path, entry);
  const env = { ...shadow.call.env, GIT_INDEX_FILE: index, GIT_WORK_TREE: base.files };
  await git({ ...shadow.call, cwd: base.files, env, args: ["update-index", "-z", "--index-info"], input: rows });
}

/** A copy that shares the blocks of the base's files until one of the two is written to. */
async function copyByReflink(
  shadow: Shadow,
  base: Base,
  { changed, deleted: gone, tree }: TreeDelta & { readonly tree: GitSha },
  folder: string,
): Promise<void> {
  await run("cp", ["-a", "--reflink=always", "--", `${base.files}/.`, folder], { timeout: copyTimeoutMs });
  for (const path of [...gone, ...changed.map(([own]) => own)])
    await erase(Buffer.concat([Buffer.from(`${folder}/`), bytePathBytes(path)]));
  await writeChanged(shadow, changed, tree, folder);
}
