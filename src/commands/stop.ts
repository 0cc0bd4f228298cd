// stop: asks a run to stop for good, and waits until it has; its branch stays as it is. What the run
// then does is decided in core/decide.ts.

import type { CommandResponse } from "../contracts/command-response.ts";
import { hasLanded } from "../views/next-actions.ts";
import { sendToRun, refuseLate } from "../runner/send-to-run.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, respond } from "../project/respond.ts";
import { requireStatus, loadRun } from "../project/runs/loaded-run.ts";
import { runBranchName } from "../contracts/run-branch.ts";

/** Stops a run for good: ends the agent's whole process tree; the branch stays as it is. */
export function stop(
  context: CommandContext,
  input: { readonly run?: string | undefined; readonly reason?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    requireStatus(loaded, "stop", "running", "paused");
    const detail = input.reason === undefined ? {} : { detail: input.reason };

    const { view } = await sendToRun(
      context,
      loaded,
      { event: "control_requested", control: "stop", now: true, ...detail },
      (run) => run.status === "stopped" || run.status === "completed",
    );
    if (view.status !== "stopped") refuseLate(loaded, view, `${loaded.run} could not be stopped.`); // it was completed meanwhile
    return respond("operator_stopped", {
      result: "PASS",
      run_id: loaded.run,
      state: view.status,
      message: `${loaded.run} is ${view.status}. Its work stays on branch ${runBranchName(loaded.run)}${hasLanded(view) ? "; what was finished has landed" : ""}.`,
      data: { reason: input.reason ?? null },
    });
  });
}
