// layer: creates the folder that one attempt works in: the branch's tree as files, in a throw-away
// repository with a little history and no reference to the real one.
//
// Invariants:
//   L1. Nothing in a layer refers to the user's repository: no remote, no hooks, none of its
//       objects; it borrows only copies that an isolation mounts read-only, or none.
//   L2. What a mask hides is in neither the agent's files nor its history: if it hides something,
//       the layer has one commit and no past. The runner's own files are hidden too, but are in the
//       history if they were committed.
//   L3. Its tags are names of commits of its own history, copied (history-tags.ts); a layer without
//       a past has none.

import { constants, existsSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AttemptId, GitSha } from "../../contracts/ids.ts";
import { type BytePath, displayPath } from "../git/byte-path.ts";
import { copyDependencies, moveDependencies } from "./copy-packages.ts";
import { WorkspaceFailed } from "../failure.ts";
import { readGitLine } from "../git/git.ts";
import { toIdentityVariables, runnerIdentity } from "../git/identity.ts";
import { writeEmptyRepository } from "./empty-repository.ts";
import { type FolderRecord, toSlug } from "./folder-records.ts";
import { writeTags } from "./history-tags.ts";
import { makeFoldersMovable } from "./movable-folders.ts";
import { openRunHistory } from "./run-history.ts";
import { findCheckoutPlace } from "../checkouts/checkout-place.ts";
import type { RunWorkspace } from "../run-workspace.ts";
import { compileMasks } from "./scope-globs.ts";
import { resolveTree } from "../git/tree.ts";
import { listTree } from "../git/tree-list.ts";
import type { DependencyBase } from "../bases/dependency-base.ts";
import { packInto } from "../bases/shared-history.ts";
import { readFileDifferences, type TreeChange, writeEditedTree } from "../git/tree-folders.ts";

export const layerFolder = (run: RunWorkspace, attempt: AttemptId): string =>
  join(run.folders.layers, toSlug(attempt));

export type LayerOptions = {
  readonly tip: GitSha;
  /** Globs of paths that the agent does not see. */
  readonly masks: readonly string[];
  /** Globs of the paths whose changes are applied; all if undefined. */
  readonly keeps: readonly string[] | undefined;
  /** Whether an attempt is over, so that its layer can be deleted. */
  readonly isOver: (attempt: AttemptId) => boolean;
};

/** Creates the attempt's folder afresh, and returns its path. */
export async function createLayer(
  run: RunWorkspace,
  attempt: AttemptId,
  { tip, masks, keeps, isOver }: LayerOptions,
): Promise<string> {
  const folder = layerFolder(run, attempt);
  await run.layers.remove(attempt);
  await run.checkouts.drop(folder);
  await mkdir(folder, { recursive: true, mode: 0o700 });

  const { call } = run.shadow;
  const isMasked = compileMasks(masks);
  const hidden = await findHiddenPaths(run, tip, masks);
  const maskedPaths = hidden.filter((path) => isMasked(displayPath(path)));
  const fullTree = await resolveTree(call, tip);

  const tree =
    hidden.length === 0
      ? fullTree
      : await writeEditedTree(
          call,
          run.shadow.format,
          fullTree,
          hidden.map((path) => [path, null]),
        );
  // L2
  const start =
    tree === fullTree
      ? tip
      : await createStartingCommit(run, tip, tree, maskedPaths.length > 0 ? [] : [tip]);

  const root = maskedPaths.length === 0 ? run.base.commit : await createMaskedRoot(run, isMasked);
  const borrows = await createRepository(run, folder, start, root);
  const hasHistory = existsSync(join(folder, ".git", "refs", "heads", "work"));
  if (maskedPaths.length === 0 && hasHistory) await writeTags(run, join(folder, ".git"), start); // L2, L3
  const packageFolders = await run.findDependencyFolders(run.dependencies);
  const packages = await run.checkouts.packagesFor(tree, run.packagesRoot, packageFolders);
  await run.checkouts.make(folder, tree, { index: join(folder, ".git", "index"), packages });
  const place = findCheckoutPlace(run.runDir, folder);
  if (place !== null) await makeFoldersMovable(place);
  const dependencies = await providePackages(run, folder, { masks, packageFolders, packages });
  await dropFinished(run, isOver);
  await run.layers.write({
    version: 1,
    key: attempt,
    base: tip,
    tree,
    ...(run.checkouts.kind === "overlay" ? { isView: true } : {}),
    ...(borrows.length === 0 ? {} : { borrows: [...borrows] }),
    masks: [...masks],
    ...(keeps === undefined ? {} : { keeps: [...keeps] }),
    dependencies: [...dependencies],
    fingerprint: packages?.key ?? null,
    applied: null,
    madeAt: Date.now(),
  });

  return folder;
}

/** For each set of masks, the paths hidden from agents at the run's base commit. */
const hiddenAtBase = new WeakMap<RunWorkspace, Map<string, Promise<readonly BytePath[]>>>();

/**
 * The paths of a commit that an agent doesn't see: the whole tree is scanned once, then only what
 * changed since.
 */
async function findHiddenPaths(
  run: RunWorkspace,
  tip: GitSha,
  masks: readonly string[],
): Promise<readonly BytePath[]> {
  const isMasked = compileMasks(masks);
  const isHidden = (path: string): boolean => run.isOwned(path) || isMasked(path);
  const hiddenByMasks = hiddenAtBase.get(run) ?? new Map<string, Promise<readonly BytePath[]>>();
  hiddenAtBase.set(run, hiddenByMasks);
  const key = JSON.stringify(masks);
  const finding = hiddenByMasks.get(key) ?? filterBasePaths(run, isHidden);
  hiddenByMasks.set(key, finding);
  finding.catch(() => hiddenByMasks.delete(key));
  const hidden = new Set(await finding);

  for (const { path, after } of tip === run.base.commit
    ? []
    : await readFileDifferences(run.shadow.call, run.base.commit, tip)) {
    if (after === undefined) hidden.delete(path);
    else if (isHidden(displayPath(path))) hidden.add(path);
  }

  return [...hidden];
}

async function filterBasePaths(
  { shadow, base }: RunWorkspace,
  isWanted: (path: string) => boolean,
): Promise<readonly BytePath[]> {
  const { paths, isAscii } = await listTree(shadow.call, base.commit);
  return paths.filter(isAscii ? isWanted : (path) => isWanted(displayPath(path)));
}

/**
 * The run's base without masked paths, as one commit without a past: shared by later layers with
 * the same masks. L2
 */
async function createMaskedRoot(
  run: RunWorkspace,
  isMasked: (path: string) => boolean,
): Promise<GitSha> {
  const { call, format } = run.shadow;
  const hiddenPaths = await filterBasePaths(run, (path) => isMasked(path) || run.isOwned(path));
  const rows = hiddenPaths.map((path): TreeChange => [path, null]);
  const tree = await writeEditedTree(call, format, await resolveTree(call, run.base.commit), rows);

  return createStartingCommit(run, run.base.commit, tree, []);
}

/** A commit of exactly what the agent may see. It exists in the shadow only and is on no branch. */
async function createStartingCommit(
  run: RunWorkspace,
  tip: GitSha,
  tree: GitSha,
  parents: readonly GitSha[],
): Promise<GitSha> {
  const date = await readGitLine({
    ...run.shadow.call,
    args: ["log", "-1", "--format=%ct +0000", tip],
  });

  return readGitLine({
    ...run.shadow.call,
    // Dated like the tip, so that the same tip gives the same commit.
    env: {
      ...run.shadow.call.env,
      ...toIdentityVariables(runnerIdentity),
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    },
    args: [
      "commit-tree",
      tree,
      ...parents.flatMap((parent) => ["-p", parent]),
      "-m",
      "The state this attempt starts from",
    ],
  });
}

/**
 * The folder's own repository, on a branch at the commit `start`; its index comes with the files.
 * It borrows the objects of `root`, an ancestor or a commit without a past, if they can be shared
 * here. Returns the object folders it borrows from.
 */
async function createRepository(
  run: RunWorkspace,
  folder: string,
  start: GitSha,
  root: GitSha,
): Promise<readonly string[]> {
  const gitDir = join(folder, ".git");
  await writeEmptyRepository(run, gitDir, {
    head: "ref: refs/heads/work",
    identity: { name: "agent", email: "agent@localhost" },
  });

  const ref = join(gitDir, "refs", "heads", "work");
  if (run.history === null) {
    if (await copyHistory(run, folder, start, root)) await writeFile(ref, `${start}\n`);
    return [];
  }

  const { objects, shallow } = await run.history(root);
  await writeFile(
    join(gitDir, "objects", "info", "alternates"),
    objects.map((objectFolder) => `${objectFolder}\n`).join(""),
  ); // L1

  if (shallow.length > 0) {
    await writeFile(join(gitDir, "shallow"), shallow.map((boundary) => `${boundary}\n`).join(""));
  }

  if (start !== root) {
    await packInto(run.shadow.call, join(gitDir, "objects", "pack"), start, {
      without: [root],
      shallow,
    });
  }

  await writeFile(ref, `${start}\n`);
  return objects;
}

/**
 * Copies the objects for this layer alone: without an isolation an agent could write to shared
 * ones. In a partial clone they may be missing; then the agent works without.
 */
async function copyHistory(
  run: RunWorkspace,
  folder: string,
  start: GitSha,
  root: GitSha,
): Promise<boolean> {
  try {
    for (const part of (await openRunHistory(run, root, start)).folders) {
      await cp(part, folder, { recursive: true, mode: constants.COPYFILE_FICLONE }); // L1
    }

    return true;
  } catch (error) {
    if (!(error instanceof WorkspaceFailed) || error.reason === "disk_full") throw error;
    return false;
  }
}

type PackageSources = {
  readonly masks: readonly string[];
  readonly packageFolders: readonly string[];
  readonly packages: DependencyBase | null;
};

/**
 * Provides installed packages: those of a finished attempt that saw the same files, else the
 * user's, shared or copied.
 */
async function providePackages(
  run: RunWorkspace,
  folder: string,
  { masks, packageFolders, packages }: PackageSources,
): Promise<readonly string[]> {
  const finished = (await run.layers.readAll())
    .filter(({ applied }) => applied !== null)
    .sort((a, b) => a.madeAt - b.madeAt);

  // What an attempt wrote over shared packages is valid only over the same ones.
  const hasSameView = ({ masks: recordMasks, fingerprint }: FolderRecord): boolean =>
    JSON.stringify(recordMasks) === JSON.stringify(masks) &&
    fingerprint === (packages?.key ?? null);
  const donor = finished.filter(hasSameView).at(-1);
  const moved =
    donor === undefined
      ? []
      : await moveDependencies(layerFolder(run, donor.key), donor.dependencies, folder);
  if (packages !== null) return [...new Set([...moved, ...packages.paths])];
  const missing = packageFolders.filter((path) => !moved.includes(path));

  return [...moved, ...(await copyDependencies(run.packagesRoot, missing, folder))];
}

/**
 * Deletes layers that are not needed any more: their work is on the branch, or their attempt is
 * over.
 */
async function dropFinished(run: RunWorkspace, isOver: LayerOptions["isOver"]): Promise<void> {
  for (const { key, applied } of await run.layers.readAll()) {
    if (applied === null && !isOver(key)) continue;
    await run.layers.remove(key);
    await run.checkouts.drop(layerFolder(run, key));
  }
}
