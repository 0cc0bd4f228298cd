// dependency-base: installed packages of the user's checkout (node_modules and the like), copied
// once into the store (store.ts) and mounted as a lower layer for every agent and check.
//
// Invariants:
//   D1. Its key is a hash of the lock files beside the packages and of their folders' metadata, so
//       that another install is another base.
//   D2. If the packages changed while they were copied, the copy is not shared: each checkout gets
//       its own.
//   D3. A base in which anything changed since it was sealed (sealed-folder.ts) is created anew.
//   D4. A process uses a base only if no file of the user's packages had changed since they were
//       copied when it opened it first: the key says nothing about a file that was patched in
//       place.

import { createHash } from "node:crypto";
import { lstatSync, type Dirent, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { compareText } from "../../kit/compare-text.ts";
import { copyFolder } from "../layers/copy-packages.ts";
import { readErrorCode } from "../failure.ts";
import { readSmallFile } from "../folder.ts";
import type { BaseLock } from "./base-lock.ts";
import { isIntact, isSameFolder, isUnchanged, type SealedFolder, tickMs } from "./sealed-folder.ts";
import { createStoreEntry, deleteStoreEntry, leaseStoreEntry, type Store } from "./store.ts";

export type DependencyBase = SealedFolder & {
  readonly key: string;
  readonly paths: readonly string[];
  readonly lease: BaseLock;
};

const lockFileNames = [
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
/**
 * How deep folders are part of the key: packages are some folders deep, and an install or a removal
 * changes the folder it happens in.
 */
const depthMax = 4;
const foldersMax = 200_000;
const openTriesMax = 3;

/**
 * Opens the packages at these paths of a checkout; null if they cannot be shared. The caller
 * releases the lease. Of a base that is in `opened` only the identity of its folder is checked
 * again.
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

  for (let tries = 0; tries < openTriesMax; tries += 1) {
    const openBase = opened.get(key);
    if (openBase !== undefined && isSameFolder(openBase)) return openBase;
    const leased = await leaseStoreEntry(store, { folder, filesName, contentKey: key });
    const isUsable =
      leased !== null &&
      (await isIntact(leased)) &&
      (await isCurrent(root, paths, leased.note["copiedNs"])); // D3, D4
    if (isUsable) return { ...leased, key, paths };
    leased?.lease.release();
    if (leased !== null) await deleteStoreEntry(store, folder);
    if (!(await createDependencyBase(store, { root, paths, key, folder }))) return null; // D2
  }

  return null;
}

const filesName = "tree";
type NewBase = {
  readonly root: string;
  readonly paths: readonly string[];
  readonly key: string;
  readonly folder: string;
};

const createDependencyBase = (
  store: Store,
  { root, paths, key, folder }: NewBase,
): Promise<boolean> =>
  createStoreEntry(
    store,
    { folder, filesName, contentKey: key, kind: "packages" },
    async (files) => {
      store.failpoint?.("packages_copy");
      const copiedNs = String(BigInt(Date.now() - tickMs) * 1_000_000n); // a tick earlier, since the file system's clock may lag
      for (const path of paths) await copyFolder(join(root, path), join(files, path));

      return computeKey(root, paths) === key
        ? { version: 1, bytes: sumDiskBytes(files), copiedNs }
        : null; // D2
    },
  );

/** Whether no file of the packages changed since they were copied (D4). */
async function isCurrent(
  root: string,
  paths: readonly string[],
  copiedNs: unknown,
): Promise<boolean> {
  if (typeof copiedNs !== "string") return false; // made by an older version
  for (const path of paths) {
    if (!(await isUnchanged({ files: join(root, path), sealedNs: copiedNs }))) return false;
  }

  return true;
}

/**
 * The base's key: of the checkout, its lock files and package folders (D1). Null if there is too
 * much to scan, or an install is under way.
 */
function computeKey(root: string, paths: readonly string[]): string | null {
  const hash = createHash("sha256").update(JSON.stringify([root, paths]));
  for (const path of paths) {
    for (const name of lockFileNames) {
      const lock = readSmallFile(join(root, dirname(path), name), lockBytesMax);
      if (lock !== null) hash.update(`${name} ${lock.length}\0`).update(lock);
    }
  }

  let folderCount = 0;
  const addFolder = (folder: string, levelsLeft: number): void => {
    const { ino, mode, mtimeMs, ctimeMs } = lstatSync(folder);
    hash.update(`${folder}\0${[ino, mode, mtimeMs, ctimeMs].join(" ")}\n`);
    folderCount += 1;
    if (levelsLeft === 0 || folderCount > foldersMax) return;
    for (const entry of sortByName(readdirSync(folder, { withFileTypes: true }))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) addFolder(path, levelsLeft - 1);
      else if (levelsLeft >= depthMax - 1) hash.update(`${path}\0${lstatSync(path).ctimeMs}\n`); // files of the installer: .package-lock.json
    }
  };

  try {
    for (const path of paths) addFolder(join(root, path), depthMax);
  } catch (error) {
    if (readErrorCode(error) === null) throw error;
    return null; // a folder vanished: an install is under way
  }

  return folderCount > foldersMax ? null : hash.digest("hex");
}

const sortByName = (entries: readonly Dirent[]): readonly Dirent[] =>
  entries.toSorted((a, b) => compareText(a.name, b.name));

function sumDiskBytes(folder: string): number {
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) return stat.blocks * 512; // the unit of `blocks` in POSIX
  return readdirSync(folder).reduce((sum, name) => sum + sumDiskBytes(join(folder, name)), 0);
}
