// tasks-step: reads the tasks of a tasks step and records the waves they run in.

import { errorFingerprint } from "../core/breaker.ts";
import { sortIntoWaves } from "../core/waves.ts";
import { invariant } from "../kit/invariant.ts";
import type { TaskFound } from "../ports/functions.ts";
import { type StepExecution, readContext } from "./step-execution.ts";

/**
 * Reads the tasks of a tasks step and records their waves; from then on each task has its own
 * cursor.
 */
export async function runTasksStep(execution: StepExecution): Promise<void> {
  const { run, cursor, step } = readContext(execution);
  const rule = step.tasks;
  invariant(rule !== undefined, `${step.id} is a tasks step`);
  const readTasks = execution.runtime.functions.tasks[rule.read];
  invariant(readTasks !== undefined, `a reader of tasks is in the registry: ${rule.read}`);
  const result = await readTasks(run, cursor);
  const { attempt } = execution;

  if ("problem" in result) {
    const fingerprint = errorFingerprint("tasks_invalid", result.problem);
    return execution.record({
      event: "step_failed",
      attempt,
      facts: {},
      fingerprint,
      detail: result.problem,
      reason_code: "tasks_invalid",
    });
  }

  const { tasks } = result;
  const isLeft = (task: TaskFound): boolean =>
    rule.leave?.["type"] !== undefined && task.type === rule.leave["type"];

  const waves = sortIntoWaves(
    tasks
      .filter((task) => !isLeft(task))
      .map((task) => ({ ...task, files: [...task.files], after: [...task.after] })),
  );

  return execution.record({
    event: "tasks_read",
    attempt,
    waves,
    left: tasks.filter(isLeft).map(({ id }) => id),
  });
}
