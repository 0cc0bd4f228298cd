// workspace: opens a run's workspace and implements ports/workspace.ts. The user's checkout is only
// read, except when landing.

import { existsSync } from "node:fs";
import type { AttemptId, GitSha } from "../contracts/ids.ts";
import type { Workspace } from "../ports/workspace.ts";
import { applyAttempt, previewAttempt } from "./landing/apply.ts";
import { commitFiles } from "./landing/commit-files.ts";
import { quarantineLayer } from "./landing/quarantine.ts";
import {
  readCheckoutStamp,
  readDependencyFingerprint,
  readRewrittenFiles,
  readTouchedFiles,
  readCheckoutTree,
  dropCheckout,
  makeCheckout,
} from "./layers/check-folder.ts";
import { examineLayer } from "./layers/examine.ts";
import { erase } from "./folder.ts";
import { findAttemptCommit, readRunCommits, readTip } from "./git/run-commits.ts";
import { landRun } from "./landing/land.ts";
import { restoreFiles } from "./landing/restore-files.ts";
import { clearLeftovers } from "./git/killed-git.ts";
import { layerFolder, createLayer } from "./layers/layer.ts";
import {
  readDifferences,
  hasCommit,
  isLater,
  readPathsAt,
  readTextAt,
} from "./git/inspect-commits.ts";
import { openRunWorkspace, type WorkspaceOptions } from "./open-run-workspace.ts";
import { openRunBranch } from "./open-run-branch.ts";
import type { RunWorkspace } from "./run-workspace.ts";
import { readCommitSummary } from "./git/commit-summary.ts";
import { revertAttempts } from "./landing/revert.ts";
import { mergeChild } from "./landing/merge-child.ts";
import { displayPath } from "./git/byte-path.ts";

/**
 * Opens the workspace, creating the branch if the run is new. Throws WorkspaceFailed if that fails.
 */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const run = await openRunWorkspace(options);
  if (options.isLookOnly !== true) {
    await clearLeftovers(run);
    await openRunBranch(run, options.expectedTip ?? null);
  }

  await erase(run.folders.trash);

  // Applying and landing move branches, and two attempts of one run must not race each other.
  const runInTurn = createQueue();
  // Opening a layer may take over the packages of a finished one.
  const openInTurn = createQueue();

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

/**
 * What is left of an attempt after a crash: its layer, if its hash is still the recorded one, and
 * its commit.
 */
async function inspectAttempt(
  run: RunWorkspace,
  attempt: AttemptId,
  layerTree: GitSha | null,
): ReturnType<Workspace["inspect"]> {
  const tip = await readTip(run);
  const attemptCommit = await findAttemptCommit(run, attempt, tip.commit);
  const commit = attemptCommit?.commit ?? null;

  const record = await run.layers.read(attempt);
  if (record === null || !existsSync(layerFolder(run, attempt))) {
    return { layer: "absent", commit };
  }

  const { tree } = await examineLayer(run, attempt);
  return { layer: tree === layerTree ? "intact" : "dirty", commit };
}
