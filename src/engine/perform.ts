// perform: executes an attempt according to its kind, from the stage the journal has reached.

import { unreachable } from "../kit/never.ts";
import { runAgentStep } from "./agent-step.ts";
import { runCheckStep } from "./check-step.ts";
import { type StepExecution, getOpenAttempt } from "./step-execution.ts";
import { runFlowStep } from "./flow-step.ts";
import { putBackTests } from "./put-back-tests.ts";
import { runFunctionStep } from "./function-step.ts";
import { runTasksStep } from "./tasks-step.ts";

/** Executes the attempt from the stage the journal has reached, and records how it ended. */
export async function performAttempt(action: StepExecution): Promise<void> {
  const { kind, stage } = getOpenAttempt(action);
  if (stage === "started") await putBackTests(action);
  switch (kind) {
    case "agent":
      return runAgentStep(action);
    case "check":
      return runCheckStep(action);
    case "run":
      return runFunctionStep(action);
    case "tasks":
      return runTasksStep(action);
    case "flow":
      return runFlowStep(action);
    default:
      return unreachable(kind);
  }
}
