// rewrite-finished: rewrites the files of a finished run if its last process died before writing
// them.

import { runFolder } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { isOwnRun } from "../../project/runs/run-binding.ts";
import type { LoadedRun } from "../../project/runs/loaded-run.ts";

/**
 * Does nothing for a run that is open, that another process drives, or that belongs to another user
 * or checkout.
 */
export async function rewriteFinishedFiles(
  context: CommandContext,
  { paths, run, view, owner }: LoadedRun,
): Promise<void> {
  if (
    owner !== null ||
    (view.status !== "completed" && view.status !== "stopped") ||
    view.drafted.flow.playbook === undefined
  ) {
    return;
  }

  if (!isOwnRun(context, paths, run)) return;
  const { writePlaybookFiles } = await import("./open-playbook.ts"); // resuming an open run needs none of this
  await writePlaybookFiles({ context, paths, folder: runFolder(paths, run), view: () => view });
}
