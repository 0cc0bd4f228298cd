import type { Answer } from "../contracts/answer.ts";
import { findingText } from "../kit/finding.ts";
import { type GoFlags, goNew } from "../runner/go-draft.ts";
import type { Home } from "../project/runs/home.ts";
import { type Lying, lyingHere, theOne } from "./lying-here.ts";
import { invalidGoal } from "./nothing-to-do.ts";
import type { Place } from "../project/place.ts";
import { refuse } from "../project/reply.ts";

const findingsShownMax = 8;

/** No run is open and no goal was said: what lies here is taken up, where it is one thing; else a goal is asked for. */
export async function goFound(place: Place, home: Home | null, input: GoFlags): Promise<Answer> {
  const lying = home === null || input.run !== undefined ? [] : await lyingHere(place, home.root);
  const one = theOne(lying);
  if (one?.hasFailed === true) refuseFailedElsewhere(one);
  return one === null ? invalidGoal(place, input) : goLying(place, one, input);
}

/** A failed run of another tool's goes on only where a person says `resume`. */
export function refuseFailedElsewhere({ standing, files, flow }: Lying): never {
  return refuse("phase_failed", {
    state: "idle",
    message: `Found ${standing} (${files.join(", ")}). Nothing was run again.`,
    remediation: ["autopilot resume tries once more", `autopilot go --flow ${flow} … starts anew`],
  });
}

/** Drafts a run of ours over what is there. The same acknowledgement is needed as for any other draft. */
export function goLying(place: Place, { flow, options, standing, files, findings }: Lying, input: GoFlags): Promise<Answer> {
  const told = [
    `Found ${standing} (${files.join(", ")}).`,
    ...findings.slice(0, findingsShownMax).map(findingText),
    ...(findings.length > findingsShownMax ? [`… ${findings.length - findingsShownMax} more remarks`] : []),
  ];
  return goNew(place, { ...input, flow, options: { ...options, ...input.options } }, told);
}
