// perform: executes an attempt according to its kind, from the stage the journal has reached.

import { unreachable } from "../kit/unreachable.ts";
import { runAgentStep } from "./agent-step.ts";
import { runCheckStep } from "./check-step.ts";
import { type StepExecution, getOpenAttempt } from "./step-execution.ts";
import { runFlowStep } from "./flow-step.ts";
import { putBackTests } from "./put-back-tests.ts";
import { runFunctionStep } from "./function-step.ts";
import { runTasksStep } from "./tasks-step.ts";

/** Executes the attempt from the stage the journal has reached, and records how it ended. */
export async function performAttempt(execution: StepExecution): Promise<void> {
  const { kind, stage } = getOpenAttempt(execution);
  if (stage === "started") await putBackTests(execution);
  switch (kind) {
    case "agent":
      return runAgentStep(execution);
    case "check":
      return runCheckStep(execution);
    case "run":
      return runFunctionStep(execution);
    case "tasks":
      return runTasksStep(execution);
    case "flow":
      return runFlowStep(execution);
    default:
      return unreachable(kind);
  }
}
