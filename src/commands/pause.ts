// pause: pauses a run from any terminal, either when its turn ends or at once.

import type { CommandResponse } from "../contracts/command-response.ts";
import { sendToRun, refuseLate, buildRequest } from "../runner/send-to-run.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, respond } from "../project/respond.ts";
import { runFolder } from "../project/runs/project-paths.ts";
import { sendRequest } from "../project/requests/send-request.ts";
import { requireStatus, loadRun, type LoadedRun } from "../project/runs/loaded-run.ts";

/**
 * Pauses a run: when its turn ends, or now, with the attempt set aside. Works from any other
 * terminal.
 */
export function pause(
  context: CommandContext,
  input: { readonly run?: string | undefined; readonly now: boolean },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    // A run parked by a live owner would resume by itself: a pause prevents that.
    const isParked = loaded.view.parked !== undefined && loaded.owner !== null;
    if (!isParked && loaded.view.status === "paused" && loaded.owner !== null) {
      return endQuestion(context, loaded);
    }

    if (!isParked) requireStatus(loaded, "pause", "running");
    const { outcome, view } = await sendToRun(
      context,
      loaded,
      { event: "control_requested", control: "pause", now: input.now },
      (run) => run.status !== "running" && (!isParked || run.asked === "pause"),
    );
    if (outcome === "recorded") {
      return respond("pause_requested", {
        run_id: loaded.run,
        state: view.status,
        message: `${loaded.run} will pause when its turn ends.`,
      });
    }

    if (view.status !== "paused") refuseLate(loaded, view, `${loaded.run} could not be paused.`); // it ended meanwhile
    return respond("operator_paused", {
      result: "PASS",
      run_id: loaded.run,
      state: view.status,
      message: `${loaded.run} is ${view.status}.`,
      remediation: ["autopilot resume"],
    });
  });
}

const answerTimeoutMs = 5_000;

/**
 * For a paused run whose process is asking a person a question: the question is withdrawn, and the
 * process ends.
 */
async function endQuestion(
  context: CommandContext,
  { paths, run, view }: LoadedRun,
): Promise<CommandResponse> {
  const request = buildRequest(context, paths.root, {
    event: "control_requested",
    control: "pause",
    now: false,
  });
  const sent = await sendRequest(runFolder(paths, run), request, { waitMs: answerTimeoutMs });
  return respond("operator_paused", {
    result: "PASS",
    run_id: run,
    state: view.status,
    message:
      sent === "left"
        ? `${run} is paused; its process has not answered yet.`
        : `${run} is paused; nobody is asked any more.`,
    remediation: ["autopilot resume"],
  });
}
