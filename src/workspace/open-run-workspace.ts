// open-run-workspace: opens what all operations on a run's workspace use: its folders, its own git
// directory and its rules.

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { GitSha, RunId } from "../contracts/ids.ts";
import { changedFileBytesMax } from "../contracts/tunable-limits.ts";
import type { FoundSecret } from "../kit/redact-find.ts";
import { isSameFolder } from "./bases/sealed-folder.ts";
import { type History, openHistory } from "./bases/shared-history.ts";
import { openStore, type Store } from "./bases/store.ts";
import { openCheckouts, type CheckoutKind } from "./checkouts/checkouts.ts";
import type { GitPlaces } from "./git/git-places.ts";
import { readIdentity } from "./git/identity.ts";
import { findFoldersNamed } from "./git/installed-folders.ts";
import type { Repository } from "./git/repository.ts";
import { runBranchName } from "../contracts/run-branch.ts";
import { openShadow, type Shadow } from "./git/shadow.ts";
import { discardedFolder } from "./landing/quarantine.ts";
import { findDependencyFolders, dependencyNames } from "./layers/copy-packages.ts";
import { layerRecordsPath, openRecords } from "./layers/folder-records.ts";
import { compileOwnedPaths, compileScope } from "./layers/scope-globs.ts";
import { alwaysOwnedPaths } from "./owned-paths.ts";
import type { RunWorkspace } from "./run-workspace.ts";

export type WorkspaceOptions = {
  readonly repository: Repository;
  /** The run's own folder; everything but the branch is kept in it. */
  readonly runDir: string;
  readonly runId: RunId;
  readonly base: { readonly branch: string | null; readonly commit: GitSha };
  readonly scope: readonly string[];
  readonly ownedPaths: readonly string[];
  /** Globs of paths hidden from every attempt. */
  readonly masks?: readonly string[];
  /**
   * Names of folders with installed packages that agents get; default: node_modules and the like.
   */
  readonly dependencies?: readonly string[];
  /** The same for checks; none if dependencies are restored there. */
  readonly checkDependencies?: readonly string[];
  /**
   * Whose checkout has the installed packages and the ignore rules; default: the repository itself.
   */
  readonly packagesFrom?: GitPlaces;
  /** The branch's tip according to the journal; null or absent on the first opening. */
  readonly expectedTip?: GitSha | null;
  readonly fileBytesMax?: number;
  /**
   * Merges what an agent wrote apart from its layer into it, as its isolation does; default:
   * nothing is written apart.
   */
  readonly collect?: (layer: string) => Promise<void>;
  /** Redacts what is kept of an attempt that was set aside. */
  readonly redact?: (bytes: Buffer) => Buffer;
  /** Finds secrets in what an attempt would commit; without it none are searched. */
  readonly secretsIn?: (bytes: Buffer) => Promise<readonly FoundSecret[]>;
  /** Land as one commit on the user's branch; the run's branch keeps its own. */
  readonly isSquashed?: boolean;
  /**
   * The runs it was forked from: their commits are on its branch too, which begins at the commit
   * `begins`.
   */
  readonly forkedFrom?: { readonly runs: readonly RunId[]; readonly begins: GitSha };
  /**
   * Branch and objects are kept in `runDir`, and the user's repository is unchanged: for a run that
   * is discarded. It can't land.
   */
  readonly isApart?: boolean;
  /**
   * Only to read and to check: no branch is read, created or moved, so it works in any repository
   * that has the commits.
   */
  readonly isLookOnly?: boolean;
  /**
   * How folders for agents and checks are created; default: plain copies. Views need the isolation
   * `overlay`.
   */
  readonly checkouts?: CheckoutKind;
  /**
   * Whether an isolation prevents agents from writing to the history they see, so that it can be
   * shared.
   */
  readonly sharesHistory?: boolean;
  /** Where bases and history are kept; default: the user's cache. */
  readonly store?: Store;
  /** For fault tests: called at named points while the run's branch is changed. */
  readonly failpoint?: (place: string) => void;
};

export async function openRunWorkspace(options: WorkspaceOptions): Promise<RunWorkspace> {
  const { repository, runDir, runId, base } = options;
  const isApart = options.isApart === true;
  const folders = await makeFolders(runDir);
  const identityPromise = readIdentity(repository.root);

  const packagesFrom = options.packagesFrom ?? repository;
  const dependencies = options.dependencies ?? dependencyNames;
  const checkDependencies = options.checkDependencies ?? dependencies;
  // The base may be a commit that only the run's repository has, so it is looked up there.
  const installedFolders = await findFoldersNamed(
    { ...repository, root: packagesFrom.root },
    base.commit,
    [...dependencies, ...checkDependencies],
  );

  const [shadow, identity] = await Promise.all([
    openShadow({ repository, user: packagesFrom, runDir, installed: installedFolders, isApart }),
    identityPromise,
  ]);

  const excludePath = join(shadow.gitDir, "info", "exclude");
  return {
    runId,
    runDir,
    repository,
    packagesRoot: packagesFrom.root,
    base,
    runIds: [runId, ...(options.forkedFrom?.runs ?? [])],
    startCommit: options.forkedFrom?.begins ?? base.commit,
    isApart,
    ref: `refs/heads/${runBranchName(runId)}`,
    shadow,
    identity,
    inScope: compileScope(options.scope),
    isOwned: compileOwnedPaths([...alwaysOwnedPaths, ...options.ownedPaths]),
    isPlaybookOwned: compileOwnedPaths(options.ownedPaths),
    masks: options.masks ?? [],
    dependencies,
    checkDependencies,
    findDependencyFolders: cacheByNames((names) =>
      findDependencyFolders(packagesFrom, installedFolders, names, excludePath),
    ),
    fileBytesMax: options.fileBytesMax ?? changedFileBytesMax,
    folders,
    checkouts: openCheckouts({
      kind: options.checkouts ?? "copy",
      runDir,
      shadow,
      commit: base.commit,
      trash: folders.trash,
      ...(options.store === undefined ? {} : { store: options.store }),
    }),
    history: options.sharesHistory === true ? openSharedHistory(shadow, options.store) : null,
    layers: await openRecords(join(runDir, ...layerRecordsPath)),
    checks: await openRecords(join(runDir, "records", "checks")),
    collect: options.collect ?? (() => Promise.resolve()),
    redact: options.redact ?? ((bytes) => bytes),
    secretsIn: options.secretsIn ?? (() => Promise.resolve([])),
    failpoint: options.failpoint ?? (() => undefined),
  };
}

async function makeFolders(runDir: string): Promise<RunWorkspace["folders"]> {
  const folders = {
    layers: join(runDir, "layers"),
    checks: join(runDir, "checks"),
    quarantine: join(runDir, discardedFolder),
    rules: join(runDir, "rules"),
    trash: join(runDir, "trash"),
  };
  for (const folder of [folders.layers, folders.checks, folders.rules]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }

  return folders;
}

/**
 * Caches the folders found for a list of names: each layer and each check asks for the same ones.
 */
function cacheByNames(
  find: (names: readonly string[]) => Promise<readonly string[]>,
): RunWorkspace["findDependencyFolders"] {
  const cache = new Map<string, Promise<readonly string[]>>();
  return (names) => {
    const key = JSON.stringify(names);
    const finding = cache.get(key) ?? find(names);
    cache.set(key, finding);
    finding.catch(() => cache.delete(key));

    return finding;
  };
}

/** Opens the history of a commit once, and again if its folder was replaced meanwhile. */
function openSharedHistory(
  shadow: Shadow,
  store: Store | undefined,
): NonNullable<RunWorkspace["history"]> {
  const opened = new Map<GitSha, Promise<History>>();
  return async (commit) => {
    const cached = await opened.get(commit)?.catch(() => null);
    if (cached != null && cached.folders.every(isSameFolder)) return cached;
    for (const lease of cached?.leases ?? []) lease.release();

    const opening = openHistory(store ?? openStore(), shadow.call, commit);
    opened.set(commit, opening);
    opening.catch(() => opened.delete(commit));

    return opening;
  };
}
