// perform: executes an attempt according to its kind, from the stage the journal has reached.

import { unreachable } from "../kit/never.ts";
import { agentStep } from "./agent-step.ts";
import { checkStep } from "./check-step.ts";
import { type StepExecution, openAttempt } from "./step-execution.ts";
import { flowStep } from "./flow-step.ts";
import { putBackTests } from "./put-back-tests.ts";
import { runStep } from "./run-step.ts";
import { tasksStep } from "./tasks-step.ts";

/** Executes the attempt from the stage the journal has reached, and records how it ended. */
export async function perform(action: StepExecution): Promise<void> {
  const { kind, stage } = openAttempt(action);
  if (stage === "started") await putBackTests(action);
  switch (kind) {
    case "agent":
      return agentStep(action);
    case "check":
      return checkStep(action);
    case "run":
      return runStep(action);
    case "tasks":
      return tasksStep(action);
    case "flow":
      return flowStep(action);
    default:
      return unreachable(kind);
  }
}
