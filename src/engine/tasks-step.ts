// tasks-step: reads the tasks of a tasks step and records the waves they run in.

import { categoryFingerprint } from "../core/breaker.ts";
import { taskWaves } from "../core/waves.ts";
import { invariant } from "../kit/invariant.ts";
import type { TaskFound } from "../ports/functions.ts";
import { type StepExecution, actionSetting } from "./step-execution.ts";

/** Reads the tasks of a tasks step and records their waves; from then on each task has its own cursor. */
export async function tasksStep(action: StepExecution): Promise<void> {
  const { run, cursor, step } = actionSetting(action);
  const rule = step.tasks;
  invariant(rule !== undefined, `${step.id} is a tasks step`);
  const read = action.runtime.functions.tasks[rule.read];
  invariant(read !== undefined, `a reader of tasks is in the registry: ${rule.read}`);
  const found = await read(run, cursor);
  const { attempt } = action;
  if ("problem" in found) {
    const fingerprint = categoryFingerprint("tasks_invalid", found.problem);
    return action.record({ event: "step_failed", attempt, facts: {}, fingerprint, detail: found.problem, reason_code: "tasks_invalid" });
  }
  const { tasks } = found;
  const isLeft = (task: TaskFound): boolean => rule.leave?.["type"] !== undefined && task.type === rule.leave["type"];
  const waves = taskWaves(
    tasks.filter((task) => !isLeft(task)).map((task) => ({ ...task, files: [...task.files], after: [...task.after] })),
  );
  return action.record({ event: "tasks_read", attempt, waves, left: tasks.filter(isLeft).map(({ id }) => id) });
}
