// nothing-to-do: builds the response when there is no goal and no open run: what was detected and
// what to type.

import type { CommandResponse } from "../contracts/command-response.ts";
import { type DetectedWork, toDetectedFields, listResumeCommands } from "./detect-work.ts";
import { respond } from "../project/respond.ts";

/**
 * Says that a goal is missing. A goal is never guessed, but work that was detected is named with
 * its command.
 */
export function respondWithoutGoal(
  input: { readonly run?: string | undefined },
  detected: readonly DetectedWork[] = [],
): CommandResponse {
  return respond("objective_schema_invalid", {
    run_id: input.run ?? null,
    state: "idle",
    message: "No open run here, and no goal was given.",
    remediation: [
      'autopilot "what you want done" --done-criteria "it works :: npm test"',
      ...listResumeCommands(detected).map(
        (command, index) => `${command}   (found ${detected[index]?.summary ?? ""})`,
      ),
    ],
    data: {
      missing_fields: ["goal"],
      ...(detected.length === 0 ? {} : { found: detected.map(toDetectedFields) }),
    },
  });
}
