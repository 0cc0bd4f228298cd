// pause: pauses a run from any terminal, either when its turn ends or at once.

import type { Answer } from "../contracts/answer.ts";
import { ask, refuseLate, requestOf } from "../runner/ask-owner.ts";
import type { CommandContext } from "../project/command-context.ts";
import { answered, reply } from "../project/reply.ts";
import { runFolder } from "../project/runs/project-paths.ts";
import { sendRequest } from "../project/inbox/inbox.ts";
import { requireStatus, loadRun, type LoadedRun } from "../project/runs/loaded-run.ts";

/** Pauses a run: when its turn ends, or now, with the attempt set aside. Works from any other terminal. */
export function pause(place: CommandContext, input: { readonly run?: string | undefined; readonly now: boolean }): Promise<Answer> {
  return answered(async () => {
    const standing = await loadRun(place, input.run);
    // A run that is parked by a living owner would go on by itself: a pause keeps it from that.
    const isParked = standing.view.parked !== undefined && standing.owner !== null;
    if (!isParked && standing.view.status === "paused" && standing.owner !== null) return leaveQuestion(place, standing);
    if (!isParked) requireStatus(standing, "pause", "running");
    const { outcome, view } = await ask(
      place,
      standing,
      { event: "control_requested", control: "pause", now: input.now },
      (run) => run.status !== "running" && (!isParked || run.asked === "pause"),
    );
    if (outcome === "taken")
      return reply("pause_requested", {
        run_id: standing.run,
        state: view.status,
        message: `${standing.run} will pause when its turn ends.`,
      });
    if (view.status !== "paused") refuseLate(standing, view, `${standing.run} could not be paused.`); // it ended meanwhile
    return reply("operator_paused", {
      result: "PASS",
      run_id: standing.run,
      state: view.status,
      message: `${standing.run} is ${view.status}.`,
      remediation: ["autopilot resume"],
    });
  });
}

const leftWithinMs = 5_000;

/** The run is paused already, and its process asks somebody a question: the question goes away, and the process ends. */
async function leaveQuestion(place: CommandContext, { home, run, view }: LoadedRun): Promise<Answer> {
  const request = requestOf(place, home.root, { event: "control_requested", control: "pause", now: false });
  const sent = await sendRequest(runFolder(home, run), request, { waitMs: leftWithinMs });
  return reply("operator_paused", {
    result: "PASS",
    run_id: run,
    state: view.status,
    message: sent === "left" ? `${run} is paused; its process has not answered yet.` : `${run} is paused; nobody is asked any more.`,
    remediation: ["autopilot resume"],
  });
}
