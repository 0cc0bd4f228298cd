// checkout: a commit's files in a separate folder, for checks. No agent has seen it and it has no repository.

import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha, Hash } from "../../contracts/ids.ts";
import type { CheckoutOverrides } from "../../ports/workspace.ts";
import { type BytePath, bytePathOfText, foldersAbove, displayPath } from "../git/byte-path.ts";
import { invariant } from "../../kit/invariant.ts";
import { copyDependencies, fingerprintOf, moveDependencies } from "./dependencies.ts";
import { examineCheckout, touchedIn } from "./examine.ts";
import { bury, discard, erase } from "../folder.ts";
import { writeObject } from "../git/loose-objects.ts";
import { type FolderRecord, slugOf } from "./records.ts";
import type { OpenRun } from "../run.ts";
import { type TreeEntry, treeIdOf } from "../git/tree.ts";
import { isTree, treeFolders, writeEditedTree } from "../git/tree-folders.ts";

const folderFor = (run: OpenRun, purpose: string): string => join(run.folders.checks, slugOf(purpose));

/** Created every time, so that nothing an earlier check left affects this commit. */
export async function makeCheckout(run: OpenRun, commit: GitSha, purpose: string, taken?: CheckoutOverrides): Promise<string> {
  const folder = folderFor(run, purpose);
  const before = await run.checks.read(purpose);
  await run.checks.remove(purpose);
  const old = `${folder}.old`;
  await discard(old, run.folders.trash);
  if (before !== null) await rename(folder, old).catch(() => undefined);
  await run.checkouts.drop(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const tree = await treeWith(run, commit, taken);
  const wanted = await run.dependencyFolders(run.checkDependencies);
  const packages = await run.checkouts.packagesFor(tree, run.packagesRoot, wanted);
  await run.checkouts.make(folder, tree, undefined, packages);
  const provided =
    packages === null
      ? await copied(run, folder, wanted, { record: before, old })
      : { dependencies: packages.paths, fingerprint: packages.key };
  await eraseLater(run, await bury(old, run.folders.trash));
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

/** Copies of the packages: those of the check before, if untouched, else of the user's. */
async function copied(
  run: OpenRun,
  folder: string,
  wanted: readonly string[],
  { record: before, old }: { readonly record: FolderRecord | null; readonly old: string },
): Promise<Pick<FolderRecord, "dependencies" | "fingerprint">> {
  const isUntouched =
    before?.fingerprint != null &&
    before.dependencies.length > 0 &&
    (await fingerprintOf(old, before.dependencies).catch(() => null)) === before.fingerprint;
  const moved = isUntouched
    ? await moveDependencies(
        old,
        before.dependencies.filter((path) => wanted.includes(path)),
        folder,
      )
    : [];
  const anew = await copyDependencies(
    run.packagesRoot,
    wanted.filter((path) => !moved.includes(path)),
    folder,
  );
  const dependencies = [...moved, ...anew].sort();
  return { dependencies, fingerprint: dependencies.length === 0 ? null : await fingerprintOf(folder, dependencies) };
}

/** A copy stays if it has installed packages: the next check takes them over. */
export async function dropCheckout(run: OpenRun, folder: string): Promise<void> {
  const record = (await run.checks.all()).find(({ key }) => folderFor(run, key) === folder);
  if (record === undefined || (record.isView !== true && record.dependencies.length > 0)) return;
  await run.checks.remove(record.key);
  await run.checkouts.drop(folder);
}

const erasing = new WeakMap<OpenRun, Promise<void>>();

/** A check need not wait until the last one's folder is deleted; the one after that does, so that they never pile up. */
async function eraseLater(run: OpenRun, grave: string | null): Promise<void> {
  await erasing.get(run);
  if (grave !== null) erasing.set(run, erase(grave));
}

/** The commit's tree, except for files that are taken from another commit, left out, or given a text of the runner's own. */
async function treeWith(run: OpenRun, commit: GitSha, taken: CheckoutOverrides | undefined): Promise<GitSha> {
  const { call, format } = run.shadow;
  const tree = await treeIdOf(call, commit);
  if (taken === undefined) return tree;
  const from = await treeIdOf(call, taken.from);
  const written = new Map((taken.written ?? []).map(({ path, text }) => [bytePathOfText(path), text]));
  const changes = new Map<BytePath, TreeEntry | null>();
  const folders = treeFolders(call);
  for (const path of [...taken.without, ...taken.paths].map(bytePathOfText)) {
    for await (const [below] of folders.filesBelow(tree, path)) changes.set(below, null);
    changes.set(path, null);
  }
  const back = new Set([...taken.paths.map(bytePathOfText), ...written.keys()]);
  for (const path of back) {
    const [there, was] = [await folders.at(tree, path), await folders.at(from, path)];
    const previousTreeEntry = written.has(path) && !taken.paths.includes(displayPath(path)) ? there : was;
    if (
      written.has(path)
        ? previousTreeEntry !== undefined && !previousTreeEntry.mode.startsWith("100")
        : previousTreeEntry === undefined || isTree(previousTreeEntry)
    )
      continue;
    // At a restored file's path, and at those of its parents, nothing else may be.
    for (const above of foldersAbove(path)) {
      const entry = await folders.at(tree, above);
      if (entry !== undefined && !isTree(entry)) changes.set(above, null);
    }
    for await (const [below] of folders.filesBelow(tree, path)) changes.set(below, null);
    const text = written.get(path);
    const sha = text === undefined ? (previousTreeEntry?.sha ?? "") : await storeText(run, text);
    changes.set(path, { mode: previousTreeEntry?.mode ?? "100644", sha });
  }
  return writeEditedTree(call, format, tree, changes);
}

/** Without a process for each: experiments write to every file of tests. */
const storeText = ({ shadow: { call, format } }: OpenRun, text: string): Promise<GitSha> =>
  writeObject(call, format, { type: "blob", content: Buffer.from(text, "utf8") });

export async function checkoutTree(run: OpenRun, folder: string): Promise<GitSha> {
  return (await examineCheckout(run, await readRecord(run, folder), folder)).tree;
}

export async function checkoutRewritten(run: OpenRun, folder: string): Promise<readonly string[]> {
  const { base, changes, violations } = await examineCheckout(run, await readRecord(run, folder), folder);
  const held = new Set([...base.keys()].map(displayPath));
  const paths = [...changes.map(({ path }) => displayPath(path)), ...violations.map(({ path }) => path)];
  return [...new Set(paths)].filter((path) => held.has(path)).toSorted();
}

export async function checkoutTouched(run: OpenRun, folder: string): Promise<readonly string[]> {
  const record = await readRecord(run, folder);
  return (await touchedIn(run, record, folder)).map(displayPath).toSorted();
}

export async function checkoutDependencies(run: OpenRun, folder: string): Promise<Hash | null> {
  return (await readRecord(run, folder)).fingerprint;
}

async function readRecord(run: OpenRun, folder: string): Promise<FolderRecord> {
  const record = (await run.checks.all()).find(({ key }) => folderFor(run, key) === folder);
  invariant(record !== undefined, "only folders made by checkout are asked about");
  return record;
}
