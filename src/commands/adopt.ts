// adopt: takes over a run that came from elsewhere, after a person has seen its preview and
// confirmed.
//
// Invariants:
//   A1. Only the journal and its blobs are taken over, both verified, and the mark that the run is
//       in a shared store. Everything else in the folder is untrusted: it is set aside.
//   A2. The run continues under the user's own config: isolation, agents, network and required
//       approvals are theirs.
//   A3. The run is bound last: a crash at any moment leaves it foreign.

import { configDefaults } from "../contracts/config-defaults.ts";
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { CommandResponse } from "../contracts/command-response.ts";
import type { Draft, Entry } from "../contracts/event.ts";
import type { Scalar } from "../contracts/flow.ts";
import { confidenceFloors } from "../contracts/objective.ts";
import { sharedFile } from "../fleet/shared-mark.ts";
import { type Fold, openFold } from "../core/fold.ts";
import { isRunOpen } from "../core/selectors.ts";
import type { RunView } from "../core/state.ts";
import { journalFile } from "../journal/journal.ts";
import { findOwner } from "../journal/owner.ts";
import { readJournal, verifyJournal } from "../journal/read.ts";
import {
  findProject,
  type ProjectPaths,
  resolveRun,
  runFolder,
  writeCurrent,
} from "../project/runs/project-paths.ts";
import { appendAdoption } from "../runner/begin-run.ts";
import { refuseSecondRun } from "../project/runs/open-runs.ts";
import type { CommandContext } from "../project/command-context.ts";
import { adoptPolicy } from "../runner/draft/run-policy.ts";
import { buildPreview } from "../runner/draft/build-preview.ts";
import { projectConfigPath } from "../project/config/config.ts";
import { refuseJournal, listDamagedJournalHints } from "../project/runs/read-run.ts";
import { catchRefusals, refuse, respond } from "../project/respond.ts";
import { findBinding, bindRun, whyUnusable } from "../project/runs/run-binding.ts";
import { whyTracked } from "../project/runs/require-own-run.ts";
import { requireSettings } from "../project/config/settings.ts";
import { checkBlobs, readRecords } from "./verify/verify-records.ts";
import { sha256 } from "../project/sha256.ts";

/**
 * Shows the run's preview under this user's config; with consent the run then belongs to this user.
 */
export function adopt(
  context: CommandContext,
  input: { readonly run?: string | undefined; readonly yes: boolean },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    const run = resolveRun(paths, input.run);
    if (paths === null || run === null) {
      return refuse("run_missing", { state: "idle", message: "No run here." });
    }

    const folder = runFolder(paths, run);
    const foldedRun = requireFoldedRun(folder, run);
    const runFields = { run_id: run, state: foldedRun.status };
    if (await isOwnAlready(context, paths, run)) {
      return respond("ok", { ...runFields, message: `${run} is yours already.` });
    }

    await refuseUnfit(context, paths, run, foldedRun);
    const scripts: string[] = [];
    const policy = await buildPolicyEvent(context, paths, foldedRun, scripts);
    const adoptedRun = foldWithPolicy(folder, policy);
    const preview = await buildPreview(context, paths, adoptedRun);

    // The preview's last line says how to acknowledge it, which isn't what is asked here.
    const page = [
      `${run} came from elsewhere. It would go on under your config:`,
      "",
      ...preview.page.slice(0, -1),
    ];
    const { warnings, data } = preview;
    const responseFields = { ...runFields, page, warnings, data: { preview: data } };

    if (!input.yes && !(await askToAdopt(context, page))) {
      return respond("dry_run_required_before_execute", {
        ...responseFields,
        message: `Nobody has said yes, so ${run} stays as it is.`,
        remediation: [`autopilot adopt ${run} --yes`],
      });
    }

    setAsideUntrustedFiles(folder); // A1
    const events: Draft[] = [{ event: "run_adopted", root: paths.root }, policy];
    await appendAdoption({ context, paths, folder, events, blobs: scripts });
    const { ack, isolation } = adoptedRun.drafted;
    bindRun(context.env, paths, folder, { run, ack, isolation }); // A3
    if (isRunOpen(foldedRun)) writeCurrent(paths, run);

    return respond("run_adopted", {
      ...responseFields,
      message: `${run} is yours now.`,
      remediation: [`${nextCommand(foldedRun)} --run ${run}`],
    });
  });
}

async function isOwnAlready(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
): Promise<boolean> {
  const folder = runFolder(paths, run);
  const binding = findBinding(context.env, paths, folder, run);
  return binding.kind === "ours" && (await whyTracked(paths, folder)) === null;
}

function nextCommand(view: RunView): string {
  if (view.status === "draft") return "autopilot go";
  return isRunOpen(view) ? "autopilot resume" : "autopilot report";
}

/**
 * Refuses what no consent can fix: files that others can change, a journal or blobs that fail
 * verification.
 */
async function refuseUnfit(
  context: CommandContext,
  paths: ProjectPaths,
  run: string,
  view: RunView,
): Promise<void> {
  const folder = runFolder(paths, run);
  const problem = whyUnusable(context.env, paths, folder) ?? (await whyTracked(paths, folder));
  if (problem !== null) {
    refuse("run_foreign", {
      run_id: run,
      message: `${run} can't be adopted: ${problem}.`,
      remediation: ["autopilot status"],
    });
  }

  const owner = findOwner(folder);
  if (owner !== null) {
    refuse("run_locked", {
      run_id: run,
      message: `${run} is being worked on by process ${owner.pid}.`,
    });
  }

  const chain = verifyJournal(folder);
  const { results, blobs } = await readRecords(paths, run);
  const { damaged } = checkBlobs(paths, run, [...blobs, ...results.keys()]);
  const isWhole =
    chain.ok &&
    damaged.length === 0 &&
    view.drafted.run_id === run &&
    hasOnlyFilesAndFolders(join(folder, "blobs"));
  if (!isWhole) {
    refuse("journal_damaged", {
      run_id: run,
      message: `${run} can't be adopted: it isn't whole.`,
      remediation: listDamagedJournalHints(run),
    });
  }

  if (isRunOpen(view)) {
    await refuseSecondRun(context, paths, view.drafted.flow, { self: run, isNew: false });
  }
}

/**
 * Whether the folder is absent or has nothing but files and folders in it. Writing to a link would
 * change a file elsewhere.
 */
function hasOnlyFilesAndFolders(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  if (!stats.isDirectory()) return false;

  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.every((entry) => entry.isFile() || entry.isDirectory());
}

/**
 * The event that puts the run under this user's config (A2). Scripts that it stores are added to
 * `scripts`.
 */
async function buildPolicyEvent(
  context: CommandContext,
  paths: ProjectPaths,
  view: RunView,
  scripts: string[],
): Promise<Draft> {
  const storeScript = (text: string): Promise<string> => {
    scripts.push(text);
    return Promise.resolve(sha256(text));
  };

  const options = collectStricterOptions(context, paths, view);
  const optionsField = Object.keys(options).length === 0 ? {} : { options };

  return {
    event: "policy_changed",
    path: projectConfigPath(paths.root),
    recorded: view.drafted.config_hash,
    found: requireSettings(context, paths).hash,
    reason_code: "config_changed",
    ...(await adoptPolicy({ context, paths, run: view, storeScript })),
    ...optionsField,
  };
}

/**
 * Options in place of the run's where this user's config asks for an approval, a manual handoff or
 * a higher confidence.
 */
function collectStricterOptions(
  context: CommandContext,
  paths: ProjectPaths,
  { drafted: { options } }: RunView,
): Record<string, Scalar> {
  const { approval_policy, handoff_mode, risk_level } = requireSettings(context, paths).config;
  const floor = confidenceFloors[risk_level ?? configDefaults.risk_level];
  const stricter: Record<string, Scalar> = {};

  if (approval_policy !== undefined && approval_policy !== "none" && "approval_policy" in options) {
    stricter["approval_policy"] = approval_policy;
  }

  if (handoff_mode !== "auto" && "handoff_mode" in options) stricter["handoff_mode"] = "manual";
  if (Number(options["confidence_floor"] ?? floor) < floor) stricter["confidence_floor"] = floor;
  return stricter;
}

/** Folds the journal from its first line: a snapshot is not trusted. */
function foldJournal(folder: string): { readonly fold: Fold; readonly last: Entry | null } {
  const fold = openFold();
  let lastEntry: Entry | null = null;
  readJournal(folder, {
    startAt: "start",
    onEntry: (entry: Entry) => {
      fold.apply(entry);
      lastEntry = entry;
    },
  });

  return { fold, last: lastEntry };
}

function requireFoldedRun(folder: string, run: string): RunView {
  try {
    const { state } = foldJournal(folder).fold;
    if (state.status !== "unborn") return state;
  } catch (error) {
    refuseJournal(error, run);
  }

  return refuse("journal_damaged", { run_id: run, message: `The journal of ${run} is empty.` });
}

/**
 * The run's state once this user's policy applies, as if the event were the journal's next line.
 */
function foldWithPolicy(folder: string, policy: Draft): RunView {
  const { fold, last } = foldJournal(folder);
  const { epoch, active_ms, ts, seq } = last as unknown as Entry; // `requireFoldedRun` has refused an empty journal
  const event = { actor: "system", reason_code: "ok", ...policy };
  fold.apply({ ...event, epoch, active_ms, ts, seq: seq + 1 } as Entry);
  return fold.state as RunView;
}

/** False if nobody can be asked. */
async function askToAdopt(context: CommandContext, page: readonly string[]): Promise<boolean> {
  if (!context.isTerminal) return false;
  for (const line of page) context.show(line);
  return (await context.ask("Take this run over?", ["y", "n"])) === "y";
}

/**
 * What is taken over (A1). The store's mark is a name alone: opening the run asks the store itself.
 */
const keptNames = [journalFile, "blobs", sharedFile];

/**
 * Moves everything that isn't taken over into a folder beside it (A1). From here on only this user
 * can write what is taken over.
 */
export function setAsideUntrustedFiles(folder: string): void {
  chmodSync(folder, 0o700);
  chmodSync(join(folder, journalFile), 0o600);
  const others = readdirSync(folder).filter(
    (name) => !keptNames.includes(name) && !name.startsWith("before-adoption"),
  );
  if (others.length === 0) return;

  const target = createAsideFolder(folder);
  for (const name of others) renameSync(join(folder, name), join(target, name));
}

/** A folder of its own for each adoption: the run may have been adopted before. */
function createAsideFolder(folder: string): string {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? "" : `-${number}`;
    const target = join(folder, `before-adoption${suffix}`);
    try {
      mkdirSync(target, { mode: 0o700 });
      return target;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}
