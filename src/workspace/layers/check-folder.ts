// check-folder: makes and reads the folders of checks: a commit's files in a checkout that no
// agent has seen, for a command in a repository of its own (check-repository.ts).

import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha, Hash } from "../../contracts/ids.ts";
import type { CheckoutOverrides } from "../../ports/workspace.ts";
import {
  type BytePath,
  bytePathFromText,
  listParentFolders,
  displayPath,
} from "../git/byte-path.ts";
import { invariant } from "../../kit/invariant.ts";
import { planCheckRepository } from "./check-repository.ts";
import { copyDependencies, fingerprintFolders, moveDependencies } from "./copy-packages.ts";
import { examineCheckout, findTouchedFiles } from "./examine.ts";
import { moveToTrash, discard, erase } from "../folder.ts";
import { linkLocalPackages } from "./local-packages.ts";
import { writeObject } from "../git/loose-objects.ts";
import { type FolderRecord, toSlug } from "./folder-records.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { isTree, type TreeEntry, resolveTree } from "../git/tree.ts";
import { openTreeFolders, writeEditedTree } from "../git/tree-folders.ts";

const checkoutFolder = (run: RunWorkspace, purpose: string): string =>
  join(run.folders.checks, toSlug(purpose));

/**
 * Creates the folder afresh each time: an earlier check leaves nothing to this one but installed
 * packages that it did not touch.
 */
export async function makeCheckout(
  run: RunWorkspace,
  commit: GitSha,
  purpose: string,
  overrides?: CheckoutOverrides,
): Promise<string> {
  const folder = checkoutFolder(run, purpose);
  const previous = await run.checks.read(purpose);
  await run.checks.remove(purpose);
  const old = `${folder}.old`;
  await discard(old, run.folders.trash);
  if (previous !== null) await rename(folder, old).catch(() => undefined); // if it can't be kept, its packages are copied anew
  await run.checkouts.drop(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const tree = await writeOverriddenTree(run, commit, overrides);
  const packageFolders = await run.findDependencyFolders(run.checkDependencies);
  const packages = await run.checkouts.packagesFor(tree, run.packagesRoot, packageFolders);
  const repository = purpose === "check" ? await planCheckRepository(run, commit, tree) : null; // others only read files
  await run.checkouts.make(folder, tree, { packages, repository });
  const provided =
    packages === null
      ? await providePackages(run, folder, packageFolders, { record: previous, old })
      : { dependencies: packages.paths, fingerprint: packages.key };

  await linkLocalPackages(run, folder, tree); // after what is installed, which has most of them
  await eraseLater(run, moveToTrash(old, run.folders.trash));
  await run.checks.write({
    version: 1,
    key: purpose,
    base: commit,
    tree,
    ...(run.checkouts.kind === "overlay" ? { isView: true } : {}),
    masks: [],
    dependencies: [...provided.dependencies],
    fingerprint: provided.fingerprint,
    applied: null,
    madeAt: Date.now(),
  });

  return folder;
}

/**
 * Puts installed packages into the folder: the previous check's copies if nothing touched them,
 * else new copies of the user's.
 */
async function providePackages(
  run: RunWorkspace,
  folder: string,
  packageFolders: readonly string[],
  { record, old }: { readonly record: FolderRecord | null; readonly old: string },
): Promise<Pick<FolderRecord, "dependencies" | "fingerprint">> {
  const isUntouched =
    record?.fingerprint != null &&
    record.dependencies.length > 0 &&
    (await fingerprintFolders(old, record.dependencies).catch(() => null)) === record.fingerprint;
  const reusable = isUntouched
    ? record.dependencies.filter((path) => packageFolders.includes(path))
    : [];
  const movedFolders = await moveDependencies(old, reusable, folder);
  const missing = packageFolders.filter((path) => !movedFolders.includes(path));
  const copiedFolders = await copyDependencies(run.packagesRoot, missing, folder);
  const dependencies = [...movedFolders, ...copiedFolders].sort();

  return {
    dependencies,
    fingerprint: dependencies.length === 0 ? null : await fingerprintFolders(folder, dependencies),
  };
}

/**
 * Deletes a checkout, unless it is a copy with installed packages: the next check takes those over.
 */
export async function dropCheckout(run: RunWorkspace, folder: string): Promise<void> {
  const record = (await run.checks.readAll()).find(
    ({ key }) => checkoutFolder(run, key) === folder,
  );
  if (record === undefined || (record.isView !== true && record.dependencies.length > 0)) return;
  await run.checks.remove(record.key);
  await run.checkouts.drop(folder);
}

const erasing = new WeakMap<RunWorkspace, Promise<void>>();

/**
 * A check need not wait until the last one's folder is deleted; the one after that does, so that
 * they never pile up.
 */
async function eraseLater(run: RunWorkspace, trashed: string | null): Promise<void> {
  await erasing.get(run);
  if (trashed !== null) erasing.set(run, erase(trashed));
}

/**
 * Writes the commit's tree with overrides: files that are taken from another commit, left out, or
 * get a text of the runner's own.
 */
export async function writeOverriddenTree(
  run: RunWorkspace,
  commit: GitSha,
  overrides: CheckoutOverrides | undefined,
  call = run.shadow.call,
): Promise<GitSha> {
  const { format } = run.shadow;
  const tree = await resolveTree(call, commit);
  if (overrides === undefined) return tree;
  const from = await resolveTree(call, overrides.from);
  const ownTexts = new Map(
    (overrides.written ?? []).map(({ path, text }) => [bytePathFromText(path), text]),
  );

  const changes = new Map<BytePath, TreeEntry | null>();
  const folders = openTreeFolders(call);

  for (const path of [...overrides.without, ...overrides.paths].map(bytePathFromText)) {
    for await (const [below] of folders.listFilesBelow(tree, path)) changes.set(below, null);
    changes.set(path, null);
  }

  const restoredPaths = new Set([...overrides.paths.map(bytePathFromText), ...ownTexts.keys()]);
  for (const path of restoredPaths) {
    // A text of the runner's own takes the mode of the file it replaces.
    const keepsMode = ownTexts.has(path) && !overrides.paths.includes(displayPath(path));
    const source = await folders.findEntry(keepsMode ? tree : from, path);
    const isRegularOrNew = source === undefined || source.mode.startsWith("100");
    const canRestore = ownTexts.has(path)
      ? isRegularOrNew
      : source !== undefined && !isTree(source);
    if (!canRestore) continue;
    // A file in place of a parent folder, or a folder at the file's own path, is deleted.
    for (const parent of listParentFolders(path)) {
      const entry = await folders.findEntry(tree, parent);
      if (entry !== undefined && !isTree(entry)) changes.set(parent, null);
    }

    for await (const [below] of folders.listFilesBelow(tree, path)) changes.set(below, null);
    const text = ownTexts.get(path);
    const sha = text === undefined ? (source?.sha ?? "") : await storeText(run, text, call);
    changes.set(path, { mode: source?.mode ?? "100644", sha });
  }

  return writeEditedTree(call, format, tree, changes);
}

/** Stores a text as a blob without starting git: experiments rewrite every test file. */
const storeText = (
  { shadow: { format } }: RunWorkspace,
  text: string,
  call: RunWorkspace["shadow"]["call"],
): Promise<GitSha> =>
  writeObject(call, format, { type: "blob", content: Buffer.from(text, "utf8") });

/** The hash of the tree that the folder has now. */
export async function readCheckoutTree(run: RunWorkspace, folder: string): Promise<GitSha> {
  return (await examineCheckout(run, await requireRecord(run, folder), folder)).tree;
}

/** The files of the tree that differ now or are missing. */
export async function readRewrittenFiles(
  run: RunWorkspace,
  folder: string,
): Promise<readonly string[]> {
  const { base, changes, violations } = await examineCheckout(
    run,
    await requireRecord(run, folder),
    folder,
  );
  const basePaths = new Set([...base.keys()].map(displayPath));
  const paths = [
    ...changes.map(({ path }) => displayPath(path)),
    ...violations.map(({ path }) => path),
  ];

  return [...new Set(paths)].filter((path) => basePaths.has(path)).toSorted();
}

/** The files of the tree that were written to, even if their content is the same. */
export async function readTouchedFiles(
  run: RunWorkspace,
  folder: string,
): Promise<readonly string[]> {
  const record = await requireRecord(run, folder);
  return (await findTouchedFiles(run, record, folder)).map(displayPath).toSorted();
}

/**
 * A fingerprint of everything in the folder; null if it can't be read. A view's folder has only
 * what was written in it, so this is cheap; of a copy every file is looked at.
 */
export async function readCheckoutStamp(folder: string): Promise<Hash | null> {
  return fingerprintFolders(folder, ["."]).catch(() => null);
}

/**
 * The fingerprint of the installed packages, taken when they were put into the folder; null if
 * there are none.
 */
export async function readDependencyFingerprint(
  run: RunWorkspace,
  folder: string,
): Promise<Hash | null> {
  return (await requireRecord(run, folder)).fingerprint;
}

async function requireRecord(run: RunWorkspace, folder: string): Promise<FolderRecord> {
  const record = (await run.checks.readAll()).find(
    ({ key }) => checkoutFolder(run, key) === folder,
  );
  invariant(record !== undefined, "only folders made by checkout are asked about");
  return record;
}
