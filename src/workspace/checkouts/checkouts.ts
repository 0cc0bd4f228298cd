// checkouts: folders in which agents and checks work. Each looks like one tree and belongs to one
// attempt or check; how it is created depends on the machine, its guarantees do not.
//
// Invariants:
//   W1. Nothing that is written in a checkout reaches what it was made from, or another checkout.
//   W2. Creating and deleting a checkout may be interrupted at any moment: a folder without a
//       record (folder-records.ts) is not used, and the next checkout that is created or deleted
//       there removes it.
//   W3. Damage to what a checkout was made from is never taken for its own change (read-back.ts),
//       and a result counts only if that was still intact afterwards (`requireIntact`).

import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { copyFile, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { GitSha } from "../../contracts/ids.ts";
import {
  type BytePath,
  bytePathFromText,
  bytePathToBytes,
  listParentFolders,
  toDiskPath,
} from "../git/byte-path.ts";
import type { DependencyBase } from "../bases/dependency-base.ts";
import { type Base, parseBaseTree } from "../bases/base.ts";
import type { SealedFolder } from "../bases/sealed-folder.ts";
import { discard, erase } from "../folder.ts";
import { editIndex } from "../git/edit-index.ts";
import { git } from "../git/git.ts";
import { materialize } from "../git/materialize.ts";
import type { Shadow } from "../git/shadow.ts";
import { readTree } from "../git/read-tree.ts";
import { isTree, type TreeEntry } from "../git/tree.ts";
import { openTreeFolders, type TreeFolders } from "../git/tree-folders.ts";
import { writeChanged, writeDelta, type TreeDelta } from "./tree-delta.ts";
import { OpenBases, type OpenBasesOptions } from "./open-bases.ts";
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

/**
 * `overlay`: a view of a base, mounted for each command. `reflink`: a copy that shares the base's
 * blocks. `copy`: plain copies.
 */
export type CheckoutKind = "overlay" | "reflink" | "copy";

export type CheckoutOptions = OpenBasesOptions & {
  readonly kind: CheckoutKind;
  readonly runDir: string;
  readonly trash: string;
};

export type Checkouts = {
  readonly kind: CheckoutKind;
  /**
   * Makes an empty folder a fresh checkout of this tree.
   */
  make(folder: string, tree: GitSha, parts: CheckoutParts): Promise<void>;
  /**
   * Installed packages at these paths of the user's checkout, as far as they fit into the tree;
   * null if they cannot be shared here.
   */
  packagesFor(tree: GitSha, root: string, paths: readonly string[]): Promise<DependencyBase | null>;
  /** Deletes a checkout with all that was written in it. */
  drop(folder: string): Promise<void>;
  /**
   * Throws if anything that checkouts of this process are made from was changed since: what was
   * done with them proves nothing then.
   */
  requireIntact(): Promise<void>;
  /**
   * Creates lower folders of a checkout anew that are gone: a base, or packages as `openPackages`
   * finds them. A folder that was replaced by another is left as it is; reading the checkout back
   * reports it.
   */
  restoreLowers(folder: string, openPackages: () => Promise<DependencyBase | null>): Promise<void>;
  /** Opens everything anew for the next checkout, after something was found changed. */
  distrust(): Promise<void>;
  /** Folders in which files of a checkout may be, in search order, its own first. */
  foldersOf(folder: string): readonly string[];
};

/** What belongs to a checkout besides the tree. */
export type CheckoutParts = {
  /** Where to write a git index of its files. */
  readonly index?: string;
  readonly packages?: DependencyBase | null;
  /** Its own repository, whose index is written too. */
  readonly repository?: CheckoutRepository | null;
};

export type CheckoutRepository = {
  /** Writes all but the index. */
  readonly write: (gitDir: string) => Promise<void>;
  /** Folders that have a part of it: they become lower folders of a view, or are copied. */
  readonly lowers: readonly string[];
};

const execFileAsync = promisify(execFile);
const copyTimeoutMs = 900_000;

export function openCheckouts(options: CheckoutOptions): Checkouts {
  const { kind, runDir, shadow, trash } = options;
  const bases = new OpenBases(options);
  return {
    kind,
    packagesFor: async (tree, root, paths) => {
      if (kind !== "overlay" || paths.length === 0) return null;
      const fitting = await filterFitting(openTreeFolders(shadow.call), tree, paths);
      return fitting.length === 0 ? null : bases.openPackages(root, fitting);
    },
    make: async (folder, tree, { index, packages = null, repository = null }) => {
      await discard(checkoutPlacePath(runDir, folder), trash); // W2
      const gitDir = join(folder, ".git");
      if (kind !== "overlay" && repository !== null) await copyRepository(repository, folder);
      if (kind === "copy") {
        const ownIndex = repository === null ? index : join(gitDir, "index");
        return makeCopy(options, { folder, tree, index: ownIndex });
      }

      const nearest = await bases.openNearest(tree);
      if (index !== undefined) await writeIndex(shadow, nearest, index);
      if (kind === "overlay") {
        return makeView(options, { folder, tree, nearest, packages, repository });
      }

      await makeReflinkCopy(options, { folder, tree, nearest });
      if (repository !== null) {
        await writeIndex(shadow, nearest, join(gitDir, "index"));
        await refreshIndex(shadow, join(gitDir, "index"), folder); // copies have inodes of their own
      }

      await bases.requireIntact(); // W3: a copy of a damaged base would look like a change
      await writeListing(
        checkoutPlacePath(runDir, folder),
        folder,
        (await readTree(shadow.call, tree)).keys(),
      );
    },
    // W2
    drop: async (folder) => {
      await discard(folder, trash);
      await discard(checkoutPlacePath(runDir, folder), trash);
    },
    requireIntact: () => bases.requireIntact(),
    distrust: () => bases.distrust(),
    restoreLowers: (folder, packages) => restoreLowers(runDir, bases, folder, packages),
    foldersOf: (folder) => {
      const place = findCheckoutPlace(runDir, folder);
      return place === null ? [folder] : [folder, ...readLowers(place)];
    },
  };
}

async function copyRepository(
  { lowers, write }: CheckoutRepository,
  folder: string,
): Promise<void> {
  for (const lower of lowers) {
    await cp(lower, folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
  }

  await write(join(folder, ".git"));
}

type NearestBase = { readonly base: Base; readonly delta: TreeDelta };

type CopyRequest = {
  readonly folder: string;
  readonly tree: GitSha;
  readonly index: string | undefined;
};

/** A checkout with a copy of every file. W1 */
async function makeCopy(
  { runDir, shadow }: CheckoutOptions,
  { folder, tree, index }: CopyRequest,
): Promise<void> {
  const files = await readTree(shadow.call, tree);
  await materialize(shadow, files, folder, index === undefined ? {} : { index });
  await writeListing(checkoutPlacePath(runDir, folder), folder, files.keys());
}

type ViewRequest = {
  readonly folder: string;
  readonly tree: GitSha;
  readonly nearest: NearestBase;
  readonly packages: DependencyBase | null;
  readonly repository: CheckoutRepository | null;
};

/**
 * A checkout that is a view of a base, with the difference to it and the packages as further lower
 * folders, which stay as they are (W1).
 */
async function makeView(
  { runDir, shadow }: CheckoutOptions,
  { folder, tree, nearest, packages, repository }: ViewRequest,
): Promise<void> {
  const { base, delta } = nearest;
  const place = checkoutPlacePath(runDir, folder);
  await mkdir(place, { recursive: true, mode: 0o700 });
  const lowers: (SealedFolder | string)[] = packages === null ? [base] : [packages, base];
  lowers.unshift(...(repository?.lowers ?? []));
  const isChanged = delta.changed.length > 0 || delta.deleted.length > 0;

  if (isChanged || repository !== null) {
    const changes = deltaFolder(place);
    await writeDelta(shadow, delta, tree, changes);
    if (repository !== null) {
      const index = join(changes, ".git", "index");
      await repository.write(dirname(index));
      await writeViewIndex(shadow, nearest, index, changes);
    }

    lowers.unshift(changes);
  }

  writeCheckoutParts(place, folder, lowers);
}

/** Creates lower folders of a view that are gone anew, from the same tree and at the same path. */
async function restoreLowers(
  runDir: string,
  bases: OpenBases,
  folder: string,
  openPackages: () => Promise<DependencyBase | null>,
): Promise<void> {
  const place = findCheckoutPlace(runDir, folder);
  const lowers = place === null ? [] : readSealedLowers(place);
  const missing = lowers.filter(({ files, id }) => id !== "" && !existsSync(files));
  if (place === null || missing.length === 0) return;
  await bases.distrust(); // other folders that were opened may be gone as well
  const restored = new Map<string, SealedFolder>();

  for (const { files } of missing) {
    const tree = parseBaseTree(files);
    const lower = tree === null ? await openPackages() : await bases.open(tree);
    if (lower !== null) restored.set(lower.files, lower);
  }

  await rewriteSealedLowers(
    place,
    lowers.map((lower) => restored.get(lower.files) ?? lower),
  );
}

/** The paths whose parent folder is in the tree and which are not in it themselves. */
async function filterFitting(
  folders: TreeFolders,
  tree: GitSha,
  paths: readonly string[],
): Promise<readonly string[]> {
  const fitting: string[] = [];
  for (const path of paths) {
    const parent = await folders.findEntry(
      tree,
      bytePathFromText(dirname(path) === "." ? "" : dirname(path)),
    );
    if (isTree(parent) && (await folders.findEntry(tree, bytePathFromText(path))) === undefined) {
      fitting.push(path);
    }
  }

  return fitting;
}

/** The base's own index, with the difference as it lies in the folder `files`. */
async function writeViewIndex(
  shadow: Shadow,
  nearest: NearestBase,
  index: string,
  files: string,
): Promise<void> {
  const { base, delta } = nearest;
  const isChanged = delta.changed.length > 0 || delta.deleted.length > 0;
  const edited = isChanged
    ? editIndex(await readFile(base.index), shadow.format, { ...delta, files })
    : null;
  if (edited !== null) return writeFile(index, edited);
  await writeIndex(shadow, nearest, index);
  if (isChanged) await refreshIndex(shadow, index, files);
}

/** The base's own index, updated with the difference: the stat data of all other files stay. */
async function writeIndex(
  shadow: Shadow,
  { base, delta: { changed, deleted } }: NearestBase,
  index: string,
): Promise<void> {
  await copyFile(base.index, index, constants.COPYFILE_FICLONE);
  if (changed.length === 0 && deleted.length === 0) return;
  const folders = openTreeFolders(shadow.call);
  const zeroSha = "0".repeat(base.tree.length);
  const rows: Buffer[] = [];

  const add = (path: BytePath, entry: TreeEntry | null): void =>
    void rows.push(
      Buffer.from(`${entry?.mode ?? "0"} ${entry?.sha ?? zeroSha}\t`),
      bytePathToBytes(path),
      Buffer.from([0]),
    );

  // Deletions come first, so that a file may become a folder and a folder a file.
  for (const path of [...deleted, ...changed.map(([changedPath]) => changedPath)]) {
    for await (const [below] of folders.listFilesBelow(base.tree, path)) add(below, null);
    for (const occupied of [...listParentFolders(path), path]) {
      const baseEntry = await folders.findEntry(base.tree, occupied);
      if (baseEntry !== undefined && !isTree(baseEntry)) add(occupied, null);
    }
  }

  for (const [path, entry] of changed) add(path, entry);
  const env = { ...shadow.call.env, GIT_INDEX_FILE: index, GIT_WORK_TREE: base.files };
  await git({
    ...shadow.call,
    cwd: base.files,
    env,
    args: ["update-index", "-z", "--index-info"],
    input: rows,
  });
}

/** Records the stat data of the files that are in this folder, so that all of git takes them as unchanged. */
async function refreshIndex(shadow: Shadow, index: string, files: string): Promise<void> {
  await git({
    ...shadow.call,
    cwd: files,
    env: { ...shadow.call.env, GIT_INDEX_FILE: index, GIT_WORK_TREE: files },
    args: ["update-index", "-q", "--ignore-missing", "--refresh"],
    acceptedExitCodes: [0, 1],
  });
}

/** A checkout whose files share the blocks of the base's until one of the two is written to. W1 */
async function makeReflinkCopy(
  { shadow }: CheckoutOptions,
  { folder, tree, nearest }: Pick<ViewRequest, "folder" | "tree" | "nearest">,
): Promise<void> {
  const { base, delta } = nearest;
  await execFileAsync("cp", ["-a", "--reflink=always", "--", `${base.files}/.`, folder], {
    timeout: copyTimeoutMs,
  });

  for (const path of [...delta.deleted, ...delta.changed.map(([changedPath]) => changedPath)]) {
    await erase(toDiskPath(folder, path));
  }

  await writeChanged(shadow, delta.changed, tree, folder);
}
