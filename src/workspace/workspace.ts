// workspace: opens a run's workspace and implements ports/workspace.ts. The user's checkout is only
// read, except when landing.

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { changedFileBytesMax } from "../contracts/limit-ranges.ts";
import type { AttemptId, GitSha, RunId } from "../contracts/ids.ts";
import type { FoundSecret } from "../kit/redact-find.ts";
import type { Workspace } from "../ports/workspace.ts";
import { applyAttempt, previewAttempt } from "./landing/apply.ts";
import { commitFiles } from "./landing/commit-files.ts";
import { discardedFolder, quarantineLayer } from "./landing/quarantine.ts";
import {
  readCheckoutStamp,
  readDependencyFingerprint,
  readRewrittenFiles,
  readTouchedFiles,
  readCheckoutTree,
  dropCheckout,
  makeCheckout,
} from "./layers/checkout.ts";
import { findDependencyFolders, dependencyNames } from "./layers/dependencies.ts";
import { examineLayer } from "./layers/examine.ts";
import { WorkspaceFailed } from "./failure.ts";
import { erase } from "./folder.ts";
import { git, toGitFailure } from "./git/git.ts";
import {
  findAttemptCommit,
  composeBranchCall,
  readRunCommits,
  toShortBranchName,
  readTip,
} from "./git/run-commits.ts";
import { toIdentityVariables, readIdentity } from "./git/identity.ts";
import { landRun } from "./landing/land.ts";
import { restoreFiles } from "./landing/restore-files.ts";
import { findFoldersNamed } from "./git/installed-folders.ts";
import { clearLeftovers } from "./git/leftovers.ts";
import { layerFolder, createLayer } from "./layers/layer.ts";
import { alwaysOwnedPaths } from "./owned-paths.ts";
import {
  readDifferences,
  hasCommit,
  isLater,
  readPathsAt,
  readTextAt,
} from "./git/inspect-commits.ts";
import { layerRecordsPath, openRecords } from "./layers/folder-records.ts";
import type { GitPlaces } from "./git/git-places.ts";
import type { Repository } from "./git/repository.ts";
import type { RunWorkspace } from "./run-workspace.ts";
import { compileOwnedPaths, compileScope } from "./layers/scope-globs.ts";
import { openShadow, type Shadow } from "./git/shadow.ts";
import { readCommitSummary } from "./git/commit-summary.ts";
import { revertAttempts } from "./landing/revert.ts";
import { mergeChild } from "./landing/merge-child.ts";
import { displayPath } from "./git/byte-path.ts";
import { openStore, type Store } from "./bases/store.ts";
import { type History, openHistory } from "./bases/shared-history.ts";
import { isSameFolder } from "./bases/sealed-folder.ts";
import { openCheckouts, type CheckoutKind } from "./checkouts/checkouts.ts";

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

const errorCharsMax = 2_000;

export const runBranchName = (runId: RunId): string => `autopilot/${runId}`;

/**
 * Opens the workspace, creating the branch if the run is new. Throws WorkspaceFailed if that fails.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const run = await openRun(options);
  if (options.isLookOnly !== true) {
    await clearLeftovers(run);
    await openBranch(run, options.expectedTip ?? null);
  }

  await erase(run.folders.trash);

  const runInTurn = createQueue(); // applying and landing move branches, and two attempts of one run must not race each other
  const openInTurn = createQueue(); // opening a layer may take over the packages of a finished one
  return {
    tip: () => readTip(run),
    openLayer: (attempt, masks, keeps, isOver = () => false) =>
      openInTurn(async () =>
        createLayer(run, attempt, {
          tip: (await readTip(run)).commit,
          masks: [...run.masks, ...masks],
          keeps,
          isOver,
        }),
      ),
    changesOf: async (attempt) => {
      const { changes, violations, ignored, tree } = await examineLayer(run, attempt);
      return { paths: changes.map(({ path }) => displayPath(path)), violations, ignored, tree };
    },
    apply: (attempt, subject) => runInTurn(() => applyAttempt(run, attempt, subject)),
    preview: (attempt) => runInTurn(() => previewAttempt(run, attempt)),
    revert: (request) => runInTurn(() => revertAttempts(run, request)),
    mergeChild: (request) => runInTurn(() => mergeChild(run, request)),
    commitFiles: (request) => runInTurn(() => commitFiles(run, request)),
    restore: (request) => runInTurn(() => restoreFiles(run, request)),
    quarantine: (attempt) => quarantineLayer(run, attempt),
    inspect: (attempt, layerTree) => inspectAttempt(run, attempt, layerTree),
    checkout: (commit, purpose, overrides) => makeCheckout(run, commit, purpose, overrides),
    foldersOf: (folder) => run.checkouts.foldersOf(folder),
    dropCheckout: (folder) => dropCheckout(run, folder),
    differences: (from, to) => readDifferences(run, from, to),
    pathsAt: (commit) => readPathsAt(run, commit),
    textAt: (commit, path, bytesMax) => readTextAt(run, commit, path, bytesMax),
    hasCommit: (attempt, name) => hasCommit(run, attempt, name),
    isLater: (commit, path, than) => isLater(run, commit, path, than),
    requireIntact: () => run.checkouts.requireIntact(),
    treeOf: (folder) => readCheckoutTree(run, folder),
    rewrittenIn: (folder) => readRewrittenFiles(run, folder),
    touchedIn: (folder) => readTouchedFiles(run, folder),
    stampOf: readCheckoutStamp,
    dependenciesIn: (folder) => readDependencyFingerprint(run, folder),
    land: (message, judgeMerge) =>
      runInTurn(() => landRun(run, message, judgeMerge, options.isSquashed)),
    summary: async () => {
      const tip = (await readTip(run)).commit;
      await readRunCommits(run, tip);
      return readCommitSummary(run.repository, run.base.commit, tip);
    },
  };
}

/**
 * Returns a function that runs the work it is given one after the other, whether the work before
 * succeeded or not.
 */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => undefined);
    return next;
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

async function openRun(options: WorkspaceOptions): Promise<RunWorkspace> {
  const { repository, runDir, runId, base } = options;
  const folders = await makeFolders(runDir);
  const dependencies = options.dependencies ?? dependencyNames;
  const checkDependencies = options.checkDependencies ?? dependencies;
  const identityPromise = readIdentity(repository.root);
  const packagesFrom = options.packagesFrom ?? repository;
  const places = { ...repository, root: packagesFrom.root }; // the base may be a commit that only the copy has
  const installedFolders = await findFoldersNamed(places, base.commit, [
    ...dependencies,
    ...checkDependencies,
  ]);

  const [shadow, identity] = await Promise.all([
    openShadow({
      repository,
      user: packagesFrom,
      runDir,
      installed: installedFolders,
      isApart: options.isApart === true,
    }),
    identityPromise,
  ]);

  return {
    runId,
    runDir,
    checkouts: openCheckouts({
      kind: options.checkouts ?? "copy",
      runDir,
      shadow,
      commit: base.commit,
      trash: folders.trash,
      ...(options.store === undefined ? {} : { store: options.store }),
    }),
    repository,
    packagesRoot: packagesFrom.root,
    base,
    runIds: [runId, ...(options.forkedFrom?.runs ?? [])],
    startCommit: options.forkedFrom?.begins ?? base.commit,
    isApart: options.isApart === true,
    ref: `refs/heads/${runBranchName(runId)}`,
    shadow,
    identity,
    inScope: compileScope(options.scope),
    isOwned: compileOwnedPaths([...alwaysOwnedPaths, ...options.ownedPaths]),
    isPlaybookOwned: compileOwnedPaths(options.ownedPaths),
    masks: options.masks ?? [],
    dependencies,
    checkDependencies,
    fileBytesMax: options.fileBytesMax ?? changedFileBytesMax,
    folders,
    history: options.sharesHistory === true ? openSharedHistory(shadow, options.store) : null,
    layers: await openRecords(join(runDir, ...layerRecordsPath)),
    checks: await openRecords(join(runDir, "records", "checks")),
    collect: options.collect ?? (() => Promise.resolve()),
    redact: options.redact ?? ((bytes) => bytes),
    secretsIn: options.secretsIn ?? (() => Promise.resolve([])),
    failpoint: options.failpoint ?? (() => undefined),
    findDependencyFolders: cacheByNames((names) =>
      findDependencyFolders(
        packagesFrom,
        installedFolders,
        names,
        join(shadow.gitDir, "info", "exclude"),
      ),
    ),
  };
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

/**
 * A new run's branch starts at the base, or where it was forked; an old run's must have the run's
 * commits and nothing else.
 */
async function openBranch(run: RunWorkspace, expectedTip: GitSha | null): Promise<void> {
  const user = composeBranchCall(run);
  const zeroSha = "0".repeat(run.base.commit.length);
  const isNew = expectedTip === null || expectedTip === run.startCommit;

  const createBranch = [
    "update-ref",
    "-m",
    "autopilot: run begins",
    run.ref,
    run.startCommit,
    zeroSha,
  ];

  const created = isNew
    ? await git({
        ...user,
        env: { ...user.env, ...toIdentityVariables(run.identity) },
        args: createBranch,
        codes: [0, 1, 128],
      })
    : null;
  if (created?.code === 0) return;

  const branch = await git({
    ...user,
    args: ["rev-parse", "--verify", "-q", `${run.ref}^{commit}`],
    codes: [0, 1, 128],
  });
  if (branch.code !== 0) {
    if (created !== null) {
      throw toGitFailure(
        user,
        created,
        `git update-ref failed (${created.code}): ${created.err.trim().slice(0, errorCharsMax)}`,
      );
    }

    const [branchName, shortTip] = [toShortBranchName(run.ref), expectedTip?.slice(0, 12) ?? ""];
    throw new WorkspaceFailed(
      "workspace_changed",
      `The run's branch ${branchName} is gone; it stood at ${shortTip}.`,
      `git branch ${branchName} ${shortTip} brings it back, then autopilot resume`,
    );
  }

  const tip = branch.out.toString("utf8").trim();
  const commits = await readRunCommits(run, tip);
  // A crash may have come between moving the branch and recording it, so the tip may be ahead of
  // the journal, never behind.
  if (
    expectedTip === null ||
    expectedTip === run.base.commit ||
    commits.some(({ commit }) => commit === expectedTip)
  ) {
    return;
  }

  throw new WorkspaceFailed(
    "workspace_changed",
    `The run's branch ${toShortBranchName(run.ref)} no longer contains ${expectedTip.slice(0, 12)}.`,
  );
}

/**
 * What is left of an attempt after a crash: its layer, if its hash is still the recorded one, and
 * its commit.
 */
async function inspectAttempt(
  run: RunWorkspace,
  attempt: AttemptId,
  layerTree: GitSha | null,
): ReturnType<Workspace["inspect"]> {
  const commit =
    (await findAttemptCommit(run, attempt, (await readTip(run)).commit))?.commit ?? null;
  if ((await run.layers.read(attempt)) === null) return { layer: "absent", commit };
  if (!existsSync(layerFolder(run, attempt))) return { layer: "absent", commit };
  const { tree } = await examineLayer(run, attempt);

  return { layer: layerTree !== null && tree === layerTree ? "intact" : "dirty", commit };
}
