import type { Answer } from "../contracts/answer.ts";
import { ask, refuseLate } from "./ask-owner.ts";
import type { Place } from "./place.ts";
import { answered, reply } from "./reply.ts";
import { mustBe, standingOf } from "./standing.ts";

/** Pauses a run: when its turn ends, or now, with the attempt set aside. Works from any other terminal. */
export function pause(place: Place, input: { readonly run?: string | undefined; readonly now: boolean }): Promise<Answer> {
  return answered(async () => {
    const standing = await standingOf(place, input.run);
    // A run that is parked by a living owner would go on by itself: a pause keeps it from that.
    const isParked = standing.view.parked !== undefined && standing.owner !== null;
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
