// batches: the tasks of a staged project as the engine walks them: what comes after what, and what no two may touch at once.

import { taskWaves } from "../../../core/waves.ts";
import type { TaskFound } from "../../../ports/functions.ts";
import type { StagedTask } from "./task-table.ts";

/**
 * Tasks as they are run. One that does not say what it changes works alone: it comes after all before it, and all after it come later.
 * A folder or pattern that one task names and in which another has a file is named by both, so that they never share a batch.
 */
export function startedTasks(allStagedTasks: readonly StagedTask[], isDone: (id: string) => boolean): readonly TaskFound[] {
  const tasks = inOrder(allStagedTasks.filter(({ id }) => !isDone(id)));
  const wide = [...new Set(tasks.flatMap(({ files }) => files.filter((file) => fileFolder(file) !== null)))];
  let alone: string | null = null;
  const before: string[] = [];
  return tasks.map(({ id, name, files, after, text }): TaskFound => {
    const isAlone = files.length === 0;
    const waits = isAlone ? before : alone === null ? [] : [alone];
    if (isAlone) alone = id;
    const shared = wide.filter((pattern) => files.some((file) => file !== pattern && isInside(file, pattern)));
    const task = {
      id,
      files: [...new Set([...files, ...shared])],
      after: [...new Set([...after.filter((other) => tasks.some((candidate) => candidate.id === other)), ...waits])],
      title: name,
      ...(text === "" ? {} : { about: text }),
    };
    before.push(id);
    return task;
  });
}

/** How many batches they make and how many points they have, as far as it is known beforehand. */
export function sized(tasks: readonly StagedTask[], isDone: (id: string) => boolean) {
  const openStagedTasks = tasks.filter(({ id }) => !isDone(id));
  return {
    tasks: openStagedTasks.length,
    batches: taskWaves(startedTasks(tasks, isDone)).length,
    points: openStagedTasks.reduce((sum, { points }) => sum + (points ?? 0), 0),
  };
}

/** As listed, but none before what it depends on. */
function inOrder(tasks: readonly StagedTask[]): readonly StagedTask[] {
  const ordered: StagedTask[] = [];
  const seen = new Set<string>();
  const visit = (task: StagedTask): void => {
    if (seen.has(task.id)) return;
    seen.add(task.id);
    for (const id of task.after) {
      const other = tasks.find((candidate) => candidate.id === id);
      if (other !== undefined) visit(other);
    }
    ordered.push(task);
  };
  for (const task of tasks) visit(task);
  return ordered;
}

/** The folder that a pattern starts from; null for a plain file. */
function fileFolder(file: string): string | null {
  if (file.endsWith("/")) return file;
  const index = file.search(/[*?[{]/);
  return index < 0 ? null : file.slice(0, file.lastIndexOf("/", index) + 1);
}

/** Careful: what may overlap counts as overlapping. */
function isInside(file: string, pattern: string): boolean {
  const folder = fileFolder(pattern) ?? pattern;
  const own = fileFolder(file) ?? file;
  return own.startsWith(folder) || (fileFolder(file) !== null && folder.startsWith(own));
}
