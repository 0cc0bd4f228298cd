// find-other-open-run: finds the user's newest open run when the current one is a draft or someone
// else's.

import { isRunOpen } from "../../core/selectors.ts";
import { type ProjectPaths, listRuns } from "./project-paths.ts";
import type { CommandContext } from "../command-context.ts";
import { type readRun, readRunOrNull } from "./read-run.ts";
import { isOwnRun } from "./run-binding.ts";

type OpenRun = { readonly paths: ProjectPaths; readonly run: string } & Awaited<
  ReturnType<typeof readRun>
>;

/**
 * The user's newest open run but the excluded one. A draft, or another user's run, must not hide it
 * from a command that names no run.
 */
export async function findOtherOpenRun(
  context: Pick<CommandContext, "env">,
  paths: ProjectPaths,
  excluded: string,
): Promise<OpenRun | null> {
  for (const run of listRuns(paths).toReversed()) {
    if (run === excluded || !isOwnRun(context, paths, run)) continue;
    const loaded = await readRunOrNull(paths, run);
    if (loaded !== null && isRunOpen(loaded.view)) return { paths, run, ...loaded };
  }

  return null;
}
