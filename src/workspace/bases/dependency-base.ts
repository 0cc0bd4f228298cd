// dependency-base: installed packages of the user's checkout (node_modules and the like), copied once and mounted as a lower layer for
// every agent and check.
//
// Invariants:
//   D1. It is named by the lock files beside the packages and by their folders' metadata, so that another install is another base.
//   D2. If something changed while it was copied it is not shared: each folder gets its own copy.
//   D3. It is made, leased and deleted as store.ts says (T1, T2), and known by its key (T3).
//   D4. One in which anything changed since it was made (sealed-folder.ts) is made anew.
//   D5. One is opened only if no file of the packages changed since they were copied: a name says nothing about a file that was patched in
//       place.

import { createHash } from "node:crypto";
import { lstatSync, type Dirent, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { compareText } from "../../kit/compare-text.ts";
import { copyFolder } from "../layers/dependencies.ts";
import { readErrorCode } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import type { BaseLock } from "./base-lock.ts";
import { isIntact, isSameFolder, isUnchanged, type SealedFolder, tickMs } from "./sealed-folder.ts";
import { createStoreEntry, deleteStoreEntry, leaseStoreEntry, type Store } from "./store.ts";

export type DependencyBase = SealedFolder & { readonly key: string; readonly paths: readonly string[]; readonly lease: BaseLock };

const lockNames = [
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
  "uv.lock",
  "poetry.lock",
  "Pipfile.lock",
  "pdm.lock",
  "requirements.txt",
  "composer.lock",
  "Gemfile.lock",
  "Cargo.lock",
  "go.sum",
];
const lockBytesMax = 64 << 20;
/** Packages are some folders deep; an install or a removal changes the folder it happens in. */
const depthMax = 4;
const foldersMax = 200_000;

/**
 * The packages at these paths of a checkout; null if they cannot be shared. The caller releases the lease. Those that the caller already
 * has open are not looked at again.
 */
export async function openDependencyBase(
  store: Store,
  root: string,
  paths: readonly string[],
  opened: ReadonlyMap<string, DependencyBase>,
): Promise<DependencyBase | null> {
  const key = computeKey(root, paths);
  if (key === null) return null;
  const folder = join(store.folder, "bases", `packages-${key}`);
  for (let tries = 0; tries < 3; tries += 1) {
    const opening = opened.get(key);
    if (opening !== undefined && isSameFolder(opening)) return opening;
    const leased = await leaseStoreEntry(store, { folder, part: "tree", of: key });
    if (leased !== null && (await isIntact(leased)) && (await isCurrent(root, paths, leased.note["copiedNs"])))
      // D4, D5
      return { ...leased, key, paths };
    leased?.lease.release();
    if (leased !== null) await deleteStoreEntry(store, folder);
    if (!(await create(store, { root, paths, key, folder }))) return null; // D2
  }
  return null;
}

type NewBase = { readonly root: string; readonly paths: readonly string[]; readonly key: string; readonly folder: string };

const create = (store: Store, { root, paths, key, folder }: NewBase): Promise<boolean> =>
  createStoreEntry(store, { folder, part: "tree", of: key, kind: "packages" }, async (files) => {
    store.failpoint?.("packages_copy");
    const copiedNs = String(BigInt(Date.now() - tickMs) * 1_000_000n);
    for (const path of paths) await copyFolder(join(root, path), join(files, path));
    return computeKey(root, paths) === key ? { version: 1, bytes: diskBytes(files), copiedNs } : null; // D2
  });

/** D5 */
async function isCurrent(root: string, paths: readonly string[], copiedNs: unknown): Promise<boolean> {
  if (typeof copiedNs !== "string") return false; // made by an older version
  for (const path of paths) if (!(await isUnchanged({ files: join(root, path), sealedNs: copiedNs }))) return false;
  return true;
}

/** D1; null if there is too much to scan. */
function computeKey(root: string, paths: readonly string[]): string | null {
  const hash = createHash("sha256").update(JSON.stringify([root, paths]));
  for (const path of paths) {
    for (const name of lockNames) {
      const lock = readSmallFile(join(root, dirname(path), name), lockBytesMax);
      if (lock !== null) hash.update(`${name} ${lock.length}\0`).update(lock);
    }
  }
  let folders = 0;
  const addFolder = (folder: string, levelsLeft: number): void => {
    const { ino, mode, mtimeMs, ctimeMs } = lstatSync(folder);
    hash.update(`${folder}\0${[ino, mode, mtimeMs, ctimeMs].join(" ")}\n`);
    folders += 1;
    if (levelsLeft === 0 || folders > foldersMax) return;
    for (const entry of sortByName(readdirSync(folder, { withFileTypes: true }))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) addFolder(path, levelsLeft - 1);
      else if (levelsLeft >= depthMax - 1) hash.update(`${path}\0${lstatSync(path).ctimeMs}\n`); // notes an installer leaves at the top
    }
  };
  try {
    for (const path of paths) addFolder(join(root, path), depthMax);
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return null; // an install is under way
  }
  return folders > foldersMax ? null : hash.digest("hex");
}

const sortByName = (entries: readonly Dirent[]): readonly Dirent[] => entries.toSorted((a, b) => compareText(a.name, b.name));

function diskBytes(folder: string): number {
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) return stat.blocks * 512;
  return readdirSync(folder).reduce((sum, name) => sum + diskBytes(join(folder, name)), 0);
}
