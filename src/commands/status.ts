// status: shows the state of a run from its journal; reads only and executes nothing.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CommandResponse } from "../contracts/command-response.ts";
import { findOwner } from "../journal/owner.ts";
import {
  findProject,
  isBegun,
  type ProjectPaths,
  resolveRun,
  runFolder,
} from "../project/runs/project-paths.ts";
import { findOtherOpenRun } from "../project/runs/find-other-open-run.ts";
import type { CommandContext } from "../project/command-context.ts";
import { readRun } from "../project/runs/read-run.ts";
import { catchRefusals, respond, screenRows } from "../project/respond.ts";
import { isOwnRun } from "../project/runs/run-binding.ts";
import { readCachedStatus, type StatusSummary } from "../runner/status-cache.ts";
import { summarizeStatus } from "../runner/status-summary.ts";

type Input = { readonly run?: string | undefined };

/**
 * Parts that only the full command line loads: the response without a run, and a playbook's own
 * files.
 */
export type StatusExtensions = {
  readonly idle: (root: string | null) => Promise<CommandResponse>;
  readonly playbookStatus: (
    playbook: unknown,
    root: string,
  ) => Promise<{
    readonly page: readonly string[];
    readonly data: Readonly<Record<string, unknown>>;
  } | null>;
};

/** Shows one run: the named one, else the one that `chooseRun` picks. */
export function status(
  context: CommandContext,
  input: Input,
  { idle, playbookStatus }: StatusExtensions,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    const currentRun = resolveRun(paths, input.run);
    if (paths === null || currentRun === null) return idle(paths?.root ?? null);
    const { run, summary, draft } = await chooseRun(context, paths, {
      run: currentRun,
      isNamed: input.run !== undefined,
    });

    const { reason_code, state, page, whole, data } = summary;
    const playbookPart = await playbookStatus(data["playbook"], paths.root);
    return respond(reason_code, {
      result: "PASS",
      run_id: run,
      state,
      message: `${run} is ${reason_code === "run_interrupted" ? "interrupted" : state}.`,
      page: [...page, ...(playbookPart?.page ?? [])],
      whole: [...whole, ...(playbookPart?.page ?? [])],
      rowsMax: screenRows,
      warnings:
        draft === null
          ? []
          : [`The draft ${draft} waits too: autopilot status --run ${draft} shows it.`],
      data: { ...data, ...playbookPart?.data, foreign: false },
    });
  });
}

/**
 * Which run is shown: the named one; else an open run of this user's rather than a draft or another
 * user's run.
 */
async function chooseRun(
  context: CommandContext,
  paths: ProjectPaths,
  { run, isNamed }: { readonly run: string; readonly isNamed: boolean },
): Promise<{
  readonly run: string;
  readonly summary: StatusSummary;
  readonly draft: string | null;
}> {
  const isForeign = !isNamed && !isOwnRun(context, paths, run);
  const summary = isForeign ? null : await readSummary(paths, run);
  if (summary !== null && (isNamed || summary.state !== "draft")) {
    return { run, summary, draft: null };
  }

  const openRun = await findOtherOpenRun(context, paths, run);
  if (openRun === null) {
    return { run, summary: summary ?? (await readSummary(paths, run)), draft: null };
  }

  return {
    run: openRun.run,
    summary: summarizeStatus(openRun.view, openRun.owner),
    draft: isForeign ? null : run,
  };
}

async function readSummary(paths: ProjectPaths, run: string): Promise<StatusSummary> {
  const folder = runFolder(paths, run);
  return readCachedStatus(folder, findOwner(folder)) ?? summarizeFromJournal(paths, run);
}

async function summarizeFromJournal(paths: ProjectPaths, run: string): Promise<StatusSummary> {
  const { view, owner } = await readRun(paths, run);
  return summarizeStatus(view, owner);
}

/**
 * Whether `status` can respond here by a run's own files alone, so that the full command line need
 * not be loaded.
 */
export function needsNoExtensions(cwd: string, runName: string | undefined): boolean {
  const paths = findProject(cwd);
  if (paths === null || existsSync(join(paths.root, "_docs"))) return false; // a staged project's state is in _docs too
  return runName === undefined ? resolveRun(paths, undefined) !== null : isBegun(paths, runName);
}
