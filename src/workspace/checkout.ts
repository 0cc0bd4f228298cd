// checkout: a commit's files in a folder of their own, for checks. No agent has seen it and it holds no repository.

import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../contracts/ids.ts";
import type { Taken } from "../ports/workspace.ts";
import { bytePathOf } from "./byte-path.ts";
import { invariant } from "../kit/invariant.ts";
import { copyDependencies, dependencyFolders, fingerprintOf, moveDependencies } from "./dependencies.ts";
import { examineCheckout } from "./examine.ts";
import { discard } from "./folder.ts";
import { materialize } from "./materialize.ts";
import { slugOf } from "./records.ts";
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
  await mkdir(folder, { recursive: true });
  await materialize(run.shadow, await treeWith(run, commit, taken), folder);

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
  await discard(old, run.folders.trash);
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

/** The commit's files, but for those that are taken from another commit or left out. */
async function treeWith(run: OpenRun, commit: GitSha, taken: Taken | undefined): Promise<Tree> {
  const tree = await readTree(run.shadow.call, commit);
  if (taken === undefined) return tree;
  const [mixed, other] = [new Map(tree), await readTree(run.shadow.call, taken.from)];
  for (const path of [...taken.without, ...taken.paths].map((shown) => bytePathOf(Buffer.from(shown, "utf8")))) mixed.delete(path);
  for (const path of taken.paths.map((shown) => bytePathOf(Buffer.from(shown, "utf8")))) {
    const entry = other.get(path);
    if (entry !== undefined) mixed.set(path, entry);
  }
  return mixed;
}

export async function checkoutTree(run: OpenRun, folder: string): Promise<GitSha> {
  const record = (await run.checks.all()).find(({ key }) => folderFor(run, key) === folder);
  invariant(record !== undefined, "treeOf is asked only about folders made by checkout");
  return (await examineCheckout(run, record, folder)).tree;
}
