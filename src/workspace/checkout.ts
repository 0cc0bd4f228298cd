// checkout: a commit's files in a folder of their own, for checks. No agent has seen it and it holds no repository.

import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha } from "../contracts/ids.ts";
import { invariant } from "../kit/invariant.ts";
import { copyDependencies, dependencyFolders, fingerprintOf, moveDependencies } from "./dependencies.ts";
import { examineCheckout } from "./examine.ts";
import { discard } from "./folder.ts";
import { materialize } from "./materialize.ts";
import { slugOf } from "./records.ts";
import type { OpenRun } from "./run.ts";
import { readTree } from "./tree.ts";

const folderFor = (run: OpenRun, purpose: string): string => join(run.folders.checks, slugOf(purpose));

/** Made anew every time, so that nothing an earlier check left can speak for this commit. */
export async function makeCheckout(run: OpenRun, commit: GitSha, purpose: string): Promise<string> {
  const folder = folderFor(run, purpose);
  const before = await run.checks.read(purpose);
  await run.checks.remove(purpose);
  const old = `${folder}.old`;
  await discard(old, run.folders.trash);
  if (before !== null) await rename(folder, old).catch(() => undefined);
  await discard(folder, run.folders.trash);
  await mkdir(folder, { recursive: true });
  await materialize(run.shadow, await readTree(run.shadow.call, commit), folder);

  const wanted = await dependencyFolders(run.repository.root, run.dependencies);
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

export async function checkoutTree(run: OpenRun, folder: string): Promise<GitSha> {
  const record = (await run.checks.all()).find(({ key }) => folderFor(run, key) === folder);
  invariant(record !== undefined, "treeOf is asked only about folders made by checkout");
  return (await examineCheckout(run, record, folder)).tree;
}
