import type { Answer } from "../contracts/answer.ts";
import type { Place } from "./place.ts";
import { answered } from "./reply.ts";
import { mustBe, standingOf } from "./standing.ts";
import { takeUp } from "./take-up.ts";

type Input = {
  readonly run?: string | undefined;
  readonly now?: boolean | undefined;
  readonly adoptConfig?: boolean | undefined;
  readonly maxCycles?: number | undefined;
};

/** Takes a paused run up again, or one whose owner died, after validating its gates anew. */
export function resume(place: Place, input: Input): Promise<Answer> {
  return answered(async () => {
    const standing = await standingOf(place, input.run);
    mustBe(standing, "resume", "paused", "running");
    return takeUp(place, standing, input);
  });
}
