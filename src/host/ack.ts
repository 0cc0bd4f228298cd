import type { Answer } from "../contracts/answer.ts";
import { whyStale } from "./draft-in-force.ts";
import { withRun } from "./open-run.ts";
import type { Place } from "./place.ts";
import { answered, refuse, reply } from "./reply.ts";
import { mustBe, standingOf } from "./standing.ts";

/** Acknowledges the preview of a draft, by its id. What has changed since must be looked at again. */
export function ack(place: Place, input: { readonly id: string; readonly run?: string | undefined }): Promise<Answer> {
  return answered(async () => {
    const standing = await standingOf(place, input.run);
    mustBe(standing, "ack", "draft");
    const { run, view, home } = standing;
    const recorded = view.drafted.ack;
    const isKnown = input.id === recorded || (input.id.length >= 8 && recorded.startsWith(input.id));
    const stale = isKnown ? await whyStale(place, home, view) : "That is not the id of the preview in force.";
    if (stale !== null) {
      refuse("ack_stale", {
        run_id: run,
        state: view.status,
        message: stale,
        remediation: ["autopilot start … shows the new preview", ...(isKnown ? [] : [`the draft here is ${recorded.slice(0, 12)}`])],
      });
    }
    await withRun(place, home, run, (hand) =>
      hand.append({ event: "preview_acknowledged", ack: recorded, actor: `operator:${place.user}`, reason_code: "ack_recorded" }),
    );
    return reply("ack_recorded", {
      run_id: run,
      state: "draft",
      message: `Acknowledged. ${run} may start.`,
      remediation: ["autopilot go"],
      data: { ack: recorded },
    });
  });
}
