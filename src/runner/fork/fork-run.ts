// fork-run: makes a new run from the journal lines of another.
//
// Invariants:
//   F1. The other run is only read.
//   F2. The new run exists whole or not at all: it is built beside its final path, bound to its
//       user, and renamed in one step.
//   F3. One of a playbook's runs is open at a time, forked or not.

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Draft, Entry, Event } from "../../contracts/event.ts";
import type { Forked } from "../../contracts/run-parts.ts";
import { copyInheritedLines, findPaidOpens } from "../../core/fork.ts";
import type { RunView } from "../../core/state.ts";
import { nodeDisk, syncFolder } from "../../journal/disk.ts";
import { openJournal } from "../../journal/file-journal.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import { bindRun, type BindingRecord } from "../../project/runs/run-binding.ts";
import {
  claimRunId,
  type ProjectPaths,
  runFolder,
  writeCurrent,
} from "../../project/runs/project-paths.ts";
import { requireRepository } from "../../project/runs/require-repository.ts";
import { refuseSecondRun, whileNoOtherStarts } from "../../project/runs/open-runs.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { redactJournal } from "../../project/secrets/redacted-journal.ts";
import { getRedaction } from "../../project/secrets/context-redaction.ts";
import { readTreeId } from "../../workspace/git/tree.ts";
import { openWorkspace } from "../../workspace/workspace.ts";
import { chooseCheckoutKind } from "../../workspace/checkouts/checkout-kind.ts";
import { requireMayGrant } from "../require-may-grant.ts";
import type { RunChanges } from "./build-changes.ts";
import { eraseSync } from "../../workspace/folder.ts";

const batchLines = 500;
const unfinishedSuffix = ".forking";

export type ForkRequest = {
  readonly run: string;
  readonly entries: readonly Entry[];
  readonly at: number;
  /** The hash of that line. */
  readonly line: string;
  /** The run's state there. */
  readonly state: RunView;
  readonly changes: RunChanges;
  /** The line that commits a paid turn which the other run died before committing. */
  readonly committed: Draft | null;
  /** The other run's, whose isolation the new one keeps. */
  readonly binding: BindingRecord;
};

/** Makes the new run, without starting it, and returns its id. */
export async function makeFork(
  context: CommandContext,
  paths: ProjectPaths,
  request: ForkRequest,
): Promise<string> {
  const { state, changes } = request;
  const { tokens, calls, minutes, usd } = state.ledger.run;
  const { blobs, ...changed } = changes;

  const forked: Forked = {
    run: request.run,
    at: request.at,
    line: request.line,
    taken: { tokens, calls, minutes, usd },
    largest: structuredClone(state.ledger.largest),
    ...changed,
  };

  const fork = {
    event: "run_forked",
    actor: toActor(context),
    reason_code: "ok",
    ...forked,
  } as const;
  requireMayGrant(context, fork);
  return whileNoOtherStarts(paths, async () => {
    await refuseSecondRun(context, paths, state.drafted.flow, { self: null, isNew: true }); // F3
    sweepUnfinished(paths);
    const run = claimRunId(paths, systemClock.now());
    const unfinishedFolder = `${runFolder(paths, run)}${unfinishedSuffix}`;
    const committed =
      request.committed === null
        ? []
        : [{ actor: "system", reason_code: "ok", ...request.committed } as Event];
    const events = [...copyInheritedLines(request.entries, request.at, run), ...committed, fork];
    await writeJournal(context, paths, {
      folder: unfinishedFolder,
      origin: request.run,
      events,
      blobs,
    });

    bindRun(context.env, paths, unfinishedFolder, {
      run,
      ack: state.drafted.ack,
      isolation: request.binding.isolation,
    });

    renameSync(unfinishedFolder, runFolder(paths, run)); // F2
    syncFolder(nodeDisk, join(runFolder(paths, run), ".."));
    writeCurrent(paths, run);

    return run;
  });
}

/** Deletes unfinished forks. No other process makes one meanwhile, so a crash left them. */
function sweepUnfinished(paths: ProjectPaths): void {
  const runs = join(paths.folder, "runs");
  for (const name of existsSync(runs) ? readdirSync(runs) : []) {
    if (name.startsWith("run-") && name.endsWith(unfinishedSuffix)) eraseSync(join(runs, name));
  }
}

type ForkedJournal = {
  readonly folder: string;
  /** The run whose blobs and transcripts are copied. */
  readonly origin: string;
  readonly events: readonly Event[];
  readonly blobs: readonly string[];
};

async function writeJournal(
  context: CommandContext,
  paths: ProjectPaths,
  { folder, origin, events, blobs }: ForkedJournal,
): Promise<void> {
  mkdirSync(folder, { mode: 0o700 });
  copyRecords(runFolder(paths, origin), folder);

  const { journal: opened } = await openJournal(folder, {
    commit: "sync",
    now: () => systemClock.now(),
    activeMs: () => 0,
  });
  const journal = redactJournal(opened, getRedaction(context, paths.root).redactor);

  try {
    for (const text of blobs) await journal.putBlob(text);
    for (let from = 0; from < events.length; from += batchLines) {
      await journal.append(events.slice(from, from + batchLines));
    }
  } finally {
    await journal.close();
  }
}

/** Copies blobs and transcripts that the journal's lines refer to. Links are not followed. */
export function copyRecords(from: string, to: string): void {
  for (const name of ["blobs", "transcripts"]) {
    if (existsSync(join(from, name))) {
      cpSync(join(from, name), join(to, name), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (path) => !path.endsWith(".tmp"),
      });
    }
  }
}

/**
 * The line that commits the paid turn which a kill left open: the content of its layer, if that is
 * what the turn left. A message if it is no longer available.
 */
export async function commitOpenTurn(
  projectPaths: ProjectPaths,
  run: string,
  state: RunView,
): Promise<Draft | string> {
  const [open, ...more] = findPaidOpens(state);
  if (open === undefined || more.length > 0) {
    return "several paid turns were waiting to be committed there";
  }

  const folder = runFolder(projectPaths, run);
  const { drafted, origins = [], tip } = state;
  const fork = origins.at(-1);
  const repository = await requireRepository(projectPaths.root);

  const workspace = await openWorkspace({
    repository,
    runDir: folder,
    runId: drafted.run_id,
    base: { ...drafted.base },
    scope: [...drafted.objective.scope],
    ownedPaths: [],
    isLookOnly: true, // F1
    checkouts: chooseCheckoutKind(drafted.isolation, folder),
    ...(fork === undefined
      ? {}
      : { forkedFrom: { runs: origins.map((origin) => origin.run), begins: fork.tip } }),
  });

  const { layer, commit: existingCommit } = await workspace.inspect(
    open.attempt,
    open.turn?.layer ?? null,
  );
  const commit =
    existingCommit ?? (layer === "intact" ? await workspace.preview(open.attempt) : null);
  if (commit === null) return `what the turn of ${open.attempt} had changed is not there any more`;
  const paths = (await workspace.differences(tip.commit, commit)).map(({ path }) => path);
  const tree = await readTreeId(repository, commit);
  if (tree === null) return `the commit ${commit.slice(0, 12)} is not in this repository`;

  return {
    event: "changes_applied",
    attempt: open.attempt,
    commit,
    parent: tip.commit,
    tree,
    paths,
    not_applied: 0,
  };
}
