import type { Answer } from "../contracts/answer.ts";
import { type Lying, shownAs, takenUpBy } from "./lying-here.ts";
import type { Place } from "../project/place.ts";
import { reply } from "../project/reply.ts";

/** No goal, and nothing to take up: a goal is never guessed, but what lies here is named. */
export function invalidGoal(_place: Place, input: { readonly run?: string | undefined }, lying: readonly Lying[] = []): Answer {
  return reply("objective_schema_invalid", {
    run_id: input.run ?? null,
    state: "idle",
    message: "There is no goal, and no open run to take up.",
    remediation: [
      'autopilot "what you want done" --done-criteria "it works :: npm test"',
      ...takenUpBy(lying).map((command, at) => `${command}   (found ${lying[at]?.standing ?? ""})`),
    ],
    data: { missing_fields: ["goal"], ...(lying.length === 0 ? {} : { found: lying.map(shownAs) }) },
  });
}
