// task-commands: proof that the commands given for a task in its plan all pass.

import type { Check } from "../../../contracts/evidence.ts";
import type { StepResult, StepInput, RoadmapParts } from "./roadmap-parts.ts";
import { describeFailed, runChecks } from "./run-checks.ts";

/** The proof `task_commands`. */
export function createTaskCommandsProof(parts: RoadmapParts) {
  return {
    version: 1,
    async prove(input: StepInput): StepResult {
      const checks = (input.cursor.checks ?? []) as readonly Check[];
      if (checks.length === 0) {
        return {
          ok: false,
          facts: { commands: 0 },
          detail: "no command of the task's own proves it",
        };
      }

      const results = await runChecks(parts, input, checks, input.commit);
      const passing = results.filter(({ status }) => status === "passed").length;
      const allPassed = results.length === checks.length && passing === checks.length;

      return {
        ok: allPassed,
        facts: { commands: checks.length, passing },
        checks: results,
        detail: describeFailed(results),
      };
    },
  };
}
