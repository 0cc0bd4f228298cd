// draw-ended: rewrites the files of a finished run if its last process died before writing them.

import { runFolder } from "../../project/runs/project-paths.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { isOwnRun } from "../../project/runs/run-binding.ts";
import type { LoadedRun } from "../../project/runs/loaded-run.ts";

/** Draws the files of a run that is over: its last process may have been cut off after the journal's last line and before its files. */
export async function drawEnded(context: CommandContext, { paths, run, view, owner }: LoadedRun): Promise<void> {
  if (owner !== null || (view.status !== "completed" && view.status !== "stopped") || view.drafted.flow.playbook === undefined) return;
  if (!isOwnRun(context, paths, run)) return;
  const { writePlaybookFiles } = await import("./open-playbook.ts"); // resuming an open run needs none of this
  await writePlaybookFiles({ context, paths, folder: runFolder(paths, run), view: () => view });
}
