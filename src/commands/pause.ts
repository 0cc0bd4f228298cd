import type { Answer } from "../contracts/answer.ts";
import { ask, refuseLate, requestOf } from "../runner/ask-owner.ts";
import type { Place } from "../project/place.ts";
import { answered, reply } from "../project/reply.ts";
import { runFolder } from "../project/runs/home.ts";
import { sendRequest } from "../project/inbox/inbox.ts";
import { mustBe, standingOf, type Standing } from "../project/runs/standing.ts";

/** Pauses a run: when its turn ends, or now, with the attempt set aside. Works from any other terminal. */
export function pause(place: Place, input: { readonly run?: string | undefined; readonly now: boolean }): Promise<Answer> {
  return answered(async () => {
    const standing = await standingOf(place, input.run);
    // A run that is parked by a living owner would go on by itself: a pause keeps it from that.
    const isParked = standing.view.parked !== undefined && standing.owner !== null;
    if (!isParked && standing.view.status === "paused" && standing.owner !== null) return leaveQuestion(place, standing);
    if (!isParked) mustBe(standing, "pause", "running");
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
async function leaveQuestion(place: Place, { home, run, view }: Standing): Promise<Answer> {
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
