// find-other-open-run: finds the user's newest open run when the current one is a draft or someone else's.

import { isRunOpen } from "../../core/selectors.ts";
import { type ProjectPaths, listRuns } from "./project-paths.ts";
import type { CommandContext } from "../command-context.ts";
import { type readRun, readRunOrNull } from "./read-run.ts";
import { isOwnRun } from "./run-binding.ts";

type OpenRun = { readonly paths: ProjectPaths; readonly run: string } & Awaited<ReturnType<typeof readRun>>;

/** Finds the newest open run of this user's, besides the one named: neither a draft nor another user's run hides it from a bare command. */
export async function findOtherOpenRun(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  besides: string,
): Promise<OpenRun | null> {
  for (const run of listRuns(paths).toReversed()) {
    if (run === besides || !isOwnRun(context, paths, run)) continue;
    const loaded = await readRunOrNull(paths, run);
    if (loaded !== null && isRunOpen(loaded.view)) return { paths, run, ...loaded };
  }
  return null;
}
