// open-run-of: finds the open run of a given flow, by name or the newest.

import { findProject, listRuns, namedRun } from "./project-paths.ts";
import type { CommandContext } from "../command-context.ts";
import { readRun } from "./read-run.ts";
import { Refusal } from "../reply.ts";
import { isOurs } from "./run-binding.ts";
import type { LoadedRun } from "./loaded-run.ts";

/** The run of a flow that is named, else the newest of that flow, where it is not over; null where there is none. */
export async function openRunOf(place: CommandContext, flow: string, named: string | undefined): Promise<LoadedRun | null> {
  const home = findProject(place.cwd);
  if (home === null) return null;
  const run = named === undefined ? null : namedRun(home, named);
  const newest = listRuns(home).toReversed();
  const ownFirst = [...newest.filter((id) => isOurs(place, home, id)), ...newest.filter((id) => !isOurs(place, home, id))];
  for (const id of run === null ? ownFirst : [run]) {
    const standing = await standingOf(home, id);
    if (standing === null || standing.view.drafted.flow.flow !== flow) continue;
    const { status } = standing.view;
    return status === "completed" || status === "stopped" ? null : standing;
  }
  return null;
}

/** Null for a run whose journal cannot be read: it is no reason not to find another. */
async function standingOf(home: LoadedRun["home"], run: string): Promise<LoadedRun | null> {
  try {
    return { home, run, ...(await readRun(home, run)) };
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}
