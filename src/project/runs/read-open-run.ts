// read-open-run: finds the open run of a given flow, by name or the newest.

import { findProject, listRuns, resolveRun } from "./project-paths.ts";
import type { CommandContext } from "../command-context.ts";
import { readRun } from "./read-run.ts";
import { Refusal } from "../respond.ts";
import { isOwnRun } from "./run-binding.ts";
import type { LoadedRun } from "./loaded-run.ts";

/**
 * Reads the requested run of a flow, else the user's newest of that flow, else another's newest;
 * null if there is none, or it is over.
 */
export async function readOpenRun(
  context: CommandContext,
  flow: string,
  requested: string | undefined,
): Promise<LoadedRun | null> {
  const paths = findProject(context.cwd);
  if (paths === null) return null;
  const run = requested === undefined ? null : resolveRun(paths, requested);
  const newest = listRuns(paths).toReversed();
  const ownFirst = [
    ...newest.filter((id) => isOwnRun(context, paths, id)),
    ...newest.filter((id) => !isOwnRun(context, paths, id)),
  ];
  for (const id of run === null ? ownFirst : [run]) {
    const loaded = await loadOpenRun(paths, id);
    if (loaded === null || loaded.view.drafted.flow.flow !== flow) continue;
    const { status } = loaded.view;

    return status === "completed" || status === "stopped" ? null : loaded;
  }

  return null;
}

/** Null for a run whose journal cannot be read: others may still be found. */
async function loadOpenRun(paths: LoadedRun["paths"], run: string): Promise<LoadedRun | null> {
  try {
    return { paths, run, ...(await readRun(paths, run)) };
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
