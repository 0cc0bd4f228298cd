// fold-tasks: reducers of the events of a tasks step: tasks read, and tasks and waves that ended.
// Invariants F1 and on: core/fold.ts.

import type { Check } from "../contracts/evidence.ts";
import { invariant } from "../kit/invariant.ts";
import { endCursor } from "./fold-phase.ts";
import { type ReducersOf, createCursor, requireOpenAttempt, requireCursor } from "./reducers.ts";
import { findStep, taskPath, wavePath } from "./selectors.ts";
import { setValue } from "./own-values.ts";
import type { Run } from "./state.ts";

type TaskEventName =
  | "tasks_read"
  | "task_completed"
  | "task_failed"
  | "task_skipped"
  | "wave_completed"
  | "wave_failed";

export const taskReducers: ReducersOf<TaskEventName> = {
  tasks_read: (run, { attempt, waves, left }) => {
    const open = requireOpenAttempt(run, attempt);
    invariant(open.stage === "reading", `F1: ${attempt} is a tasks step that reads its tasks`);
    const parent = requireCursor(run, open.cursor);
    const hasWaveSteps = findStep(run, parent, open.step).tasks?.wave !== undefined;
    const shared = { phase: parent.phase, of: open.step, inside: attempt, visit: 1 };

    for (const [index, wave] of waves.entries()) {
      for (const task of wave) {
        addTaskCursor(run, shared, task);
        setValue(open.after, task.id, [...task.after]);
      }

      if (hasWaveSteps) {
        const path = wavePath(attempt, index);
        setValue(run.cursors, path, createCursor({ ...shared, path, kind: "wave" }));
      }
    }

    open.stage = "walking";
    open.waves = waves.map((wave) => wave.map(({ id }) => id));
    open.left = [...left];
  },
  task_completed: (run, event) => void endCursor(run, event, "completed"),
  task_failed: (run, event) => void endCursor(run, event, "failed"),
  task_skipped: (run, event) => void endCursor(run, event, "skipped"),
  wave_completed: (run, event) => void endCursor(run, event, "completed"),
  wave_failed: (run, event) => void endCursor(run, event, "failed"),
};

/** What the cursors of one tasks step have in common. */
type SharedFields = {
  readonly phase: string;
  readonly of: string;
  readonly inside: string;
  readonly visit: number;
};

type TaskToAdd = {
  readonly id: string;
  readonly about?: string | undefined;
  readonly checks?: Check[] | undefined;
};

function addTaskCursor(run: Run, shared: SharedFields, { id, about, checks }: TaskToAdd): void {
  const path = taskPath(shared.inside, id);
  const isNew = !Object.hasOwn(run.cursors, path);
  invariant(isNew, `F1: no two tasks of ${shared.inside} bear the id ${id}`);

  const cursor = createCursor({
    ...shared,
    path,
    kind: "task",
    task: id,
    ...(about === undefined ? {} : { about }),
    ...(checks === undefined ? {} : { checks }),
  });
  setValue(run.cursors, path, cursor);
}
