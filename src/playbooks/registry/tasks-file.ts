// tasks-file: reads the tasks of a step from a YAML or JSON file of the run's own tree: a list of {
// id, files, after, title, type }.
//
// Invariants:
//   T1. The file is read from the branch's newest commit, without following a link: the working
//       tree does not count.
//   T2. The tasks can be put in waves: ids are unique, `after` names existing tasks, and there is
//       no cycle.

import * as v from "valibot";
import { findStep } from "../../core/selectors.ts";
import type { RunView, CursorView } from "../../core/state.ts";
import { findingText } from "../../kit/finding.ts";
import { invariant } from "../../kit/invariant.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import type { TaskFound } from "../../ports/functions.ts";
import type { Workspace } from "../../ports/workspace.ts";
import { listTree, createTextReader } from "../../verify/gates/tree-facts.ts";

const tasksMax = 1_000;
const shortText = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const Task = v.strictObject({
  id: v.pipe(
    v.string(),
    v.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, "expected a task id: letters, digits, _ . -"),
  ),
  files: v.optional(v.array(shortText), []),
  after: v.optional(v.array(shortText), []),
  title: v.optional(shortText),
  type: v.optional(shortText),
});
const TaskList = v.pipe(v.array(Task), v.maxLength(tasksMax));

type TasksResult = { readonly tasks: readonly TaskFound[] } | { readonly problem: string };

/** The reader `tasks_file`. */
export function createTasksFileReader(
  workspace: Workspace,
): (run: RunView, cursor: CursorView) => Promise<TasksResult> {
  return async (run, cursor) => {
    const path = tasksPath(run, cursor);
    const folder = await workspace.checkout(run.tip.commit, "tasks-file"); // T1

    try {
      const content = createTextReader(await listTree(workspace.foldersOf(folder)))(path);
      if (content === null) {
        return { problem: `${path}: found no regular file, expected a list of tasks` };
      }

      if (!content.isWhole) return { problem: `${path}: is too large to be a list of tasks` };
      return parseTasks(path, content.text);
    } finally {
      await workspace.dropCheckout(folder);
    }
  };
}

/** The file named by this cursor's current step. */
function tasksPath(run: RunView, cursor: CursorView): string {
  const openAttempt = cursor.open === null ? undefined : run.open[cursor.open];
  invariant(openAttempt !== undefined, `tasks are read in an attempt: ${cursor.path}`);
  const { from: path } = findStep(run, cursor, openAttempt.step).tasks ?? {};
  invariant(path !== undefined, "lint: a step that reads tasks_file names its file");

  return path.replace(/^\.\//, "");
}

/** The tasks of a text, or everything that is wrong with it. */
export function parseTasks(file: string, content: string): TasksResult {
  const parsed = readLocated(file, content, TaskList);
  if (isRefused(parsed)) return { problem: parsed.findings.map(findingText).join("; ") };

  const tasks = parsed.value.map(({ id, files, after, title, type }) => ({
    id,
    files,
    after,
    ...(title === undefined ? {} : { title }),
    ...(type === undefined ? {} : { type }),
  }));
  const faults = [
    ...findDuplicateIds(tasks),
    ...findUnknownDependencies(tasks),
    ...findCycles(tasks),
  ]; // T2
  return faults.length === 0 ? { tasks } : { problem: `${file}: ${faults.join("; ")}` };
}

const findDuplicateIds = (tasks: readonly TaskFound[]): string[] =>
  tasks
    .filter(({ id }, index) => tasks.findIndex((task) => task.id === id) !== index)
    .map(({ id }) => `two tasks bear the id ${id}`);

function findUnknownDependencies(tasks: readonly TaskFound[]): string[] {
  const ids = new Set(tasks.map(({ id }) => id));
  return tasks.flatMap(({ id, after }) =>
    after
      .filter((dependency) => !ids.has(dependency))
      .map((dependency) => `task ${id} comes after ${dependency}, which is not there`),
  );
}

/**
 * Removes tasks without open dependencies until nothing changes. Tasks that remain are in a cycle,
 * or wait for one.
 */
function findCycles(tasks: readonly TaskFound[]): string[] {
  let remaining = tasks;
  for (;;) {
    const ids = new Set(remaining.map(({ id }) => id));
    const waiting = remaining.filter(({ after }) =>
      after.some((dependency) => ids.has(dependency)),
    );
    if (waiting.length === remaining.length) {
      return remaining.length === 0
        ? []
        : [`these tasks wait for each other: ${remaining.map(({ id }) => id).join(", ")}`];
    }

    remaining = waiting;
  }
}
