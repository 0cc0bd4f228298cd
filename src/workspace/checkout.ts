// checkout: a commit's files in a folder of their own, for checks. No agent has seen it and it holds no repository.

import { lstat, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha, Hash } from "../contracts/ids.ts";
import type { Taken } from "../ports/workspace.ts";
import { bytePathOf, type BytePath, shownOf } from "./byte-path.ts";
import { invariant } from "../kit/invariant.ts";
import { copyDependencies, dependencyFolders, fingerprintOf, moveDependencies } from "./dependencies.ts";
import { examineCheckout } from "./examine.ts";
import { bury, discard, erase } from "./folder.ts";
import { materialize } from "./materialize.ts";
import { type FolderRecord, slugOf } from "./records.ts";
import type { OpenRun } from "./run.ts";
import { readTree, type Tree } from "./tree.ts";

const folderFor = (run: OpenRun, purpose: string): string => join(run.folders.checks, slugOf(purpose));

/** Made anew every time, so that nothing an earlier check left can speak for this commit. */
export async function makeCheckout(run: OpenRun, commit: GitSha, purpose: string, taken?: Taken): Promise<string> {
  const folder = folderFor(run, purpose);
  const before = await run.checks.read(purpose);
  await run.checks.remove(purpose);
  const old = `${folder}.old`;
  await discard(old, run.folders.trash);
  if (before !== null) await rename(folder, old).catch(() => undefined);
  await discard(folder, run.folders.trash);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await materialize(run.shadow, await treeWith(run, commit, taken), folder);
  for (const file of taken?.written ?? []) await writeOver(folder, file);

  const wanted = await dependencyFolders(run.repository.root, run.checkDependencies);
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
  const copied = await copyDependencies(
    run.repository.root,
    wanted.filter((path) => !moved.includes(path)),
    folder,
  );
  await eraseLater(run, await bury(old, run.folders.trash));
  const dependencies = [...moved, ...copied].sort();
  const fingerprint = dependencies.length === 0 ? null : await fingerprintOf(folder, dependencies);
  await run.checks.write({
    version: 1,
    key: purpose,
    base: commit,
    masks: [],
    dependencies,
    fingerprint,
    applied: null,
    madeAt: Date.now(),
  });
  return folder;
}

const erasing = new WeakMap<OpenRun, Promise<void>>();

/** A check need not wait until the last one's folder is deleted; the one after that does, so that they never pile up. */
async function eraseLater(run: OpenRun, grave: string | null): Promise<void> {
  await erasing.get(run);
  if (grave !== null) erasing.set(run, erase(grave));
}

/** The commit's files, but for those that are taken from another commit or left out. */
async function treeWith(run: OpenRun, commit: GitSha, taken: Taken | undefined): Promise<Tree> {
  const tree = await readTree(run.shadow.call, commit);
  if (taken === undefined) return tree;
  const [mixed, other] = [new Map(tree), await readTree(run.shadow.call, taken.from)];
  const pathOf = (shown: string): BytePath => bytePathOf(Buffer.from(shown, "utf8"));
  for (const path of [...taken.without, ...taken.paths].map(pathOf)) mixed.delete(path);
  const back = new Map(taken.paths.map(pathOf).flatMap((path) => [[path, other.get(path)] as const]));
  // Where a file comes back, nothing may lie that took its place or the place of a folder above it.
  const above = new Set([...back.keys()].flatMap((path) => foldersOf(path)));
  for (const path of mixed.keys()) if (above.has(path) || foldersOf(path).some((folder) => back.has(folder))) mixed.delete(path);
  for (const [path, entry] of back) if (entry !== undefined) mixed.set(path, entry);
  return mixed;
}

const foldersOf = (path: BytePath): BytePath[] =>
  path.split("/").flatMap((_, at, parts) => (at === 0 ? [] : [parts.slice(0, at).join("/") as BytePath]));

/** A file of the tree gets another text and keeps its mode; no link is followed, for the file is made anew. */
async function writeOver(folder: string, { path, text }: { readonly path: string; readonly text: string }): Promise<void> {
  const place = join(folder, path);
  const before = await lstat(place).catch(() => null);
  if (before !== null && !before.isFile()) return;
  await rm(place, { force: true });
  await writeFile(place, text, { flag: "wx", mode: before === null ? 0o644 : before.mode & 0o777 });
}

export async function checkoutTree(run: OpenRun, folder: string): Promise<GitSha> {
  return (await examineCheckout(run, await recordOf(run, folder), folder)).tree;
}

export async function checkoutRewritten(run: OpenRun, folder: string): Promise<readonly string[]> {
  const { base, changes, violations } = await examineCheckout(run, await recordOf(run, folder), folder);
  const held = new Set([...base.keys()].map(shownOf));
  const paths = [...changes.map(({ path }) => shownOf(path)), ...violations.map(({ path }) => path)];
  return [...new Set(paths)].filter((path) => held.has(path)).toSorted();
}

export async function checkoutDependencies(run: OpenRun, folder: string): Promise<Hash | null> {
  return (await recordOf(run, folder)).fingerprint;
}

async function recordOf(run: OpenRun, folder: string): Promise<FolderRecord> {
  const record = (await run.checks.all()).find(({ key }) => folderFor(run, key) === folder);
  invariant(record !== undefined, "only folders made by checkout are asked about");
  return record;
}
