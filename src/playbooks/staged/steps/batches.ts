// batches: schedules the tasks of a staged project: which must come after which, and which may not
// run at the same time.

import { sortIntoWaves } from "../../../core/waves.ts";
import type { TaskFound } from "../../../ports/functions.ts";
import type { StagedTask } from "./task-table.ts";

/**
 * The open tasks with their dependencies. A task that does not name its files runs alone: after all
 * earlier tasks, before all later ones. If one task names a folder or pattern that another has
 * files in, both get that pattern, so that they never share a batch.
 */
export function scheduleTasks(
  allTasks: readonly StagedTask[],
  isDone: (id: string) => boolean,
): readonly TaskFound[] {
  const tasks = sortByDependency(allTasks.filter(({ id }) => !isDone(id)));
  const sharedPatterns = [
    ...new Set(tasks.flatMap(({ files }) => files.filter((file) => patternFolder(file) !== null))),
  ];

  const openIds = new Set(tasks.map(({ id }) => id));
  /** The last task that runs alone, if there is one. */
  let lastExclusive: readonly string[] = [];
  return tasks.map(({ id, name, files, after, text }, index): TaskFound => {
    const isExclusive = files.length === 0;
    const exclusiveDependencies = isExclusive
      ? tasks.slice(0, index).map((earlier) => earlier.id)
      : lastExclusive;

    if (isExclusive) lastExclusive = [id];
    const overlappingPatterns = sharedPatterns.filter((pattern) =>
      files.some((file) => file !== pattern && mayOverlap(file, pattern)),
    );

    return {
      id,
      files: [...new Set([...files, ...overlappingPatterns])],
      after: [
        ...new Set([
          ...after.filter((dependency) => openIds.has(dependency)),
          ...exclusiveDependencies,
        ]),
      ],
      title: name,
      ...(text === "" ? {} : { about: text }),
    };
  });
}

/** The number of open tasks, their batches and their points. */
export function measureTasks(tasks: readonly StagedTask[], isDone: (id: string) => boolean) {
  const openTasks = tasks.filter(({ id }) => !isDone(id));
  return {
    tasks: openTasks.length,
    batches: sortIntoWaves(scheduleTasks(tasks, isDone)).length,
    points: openTasks.reduce((sum, { points }) => sum + (points ?? 0), 0),
  };
}

/** In their listed order, except that a task comes after its dependencies. */
function sortByDependency(tasks: readonly StagedTask[]): readonly StagedTask[] {
  const ordered: StagedTask[] = [];
  const visited = new Set<string>();

  const visit = (task: StagedTask): void => {
    if (visited.has(task.id)) return;
    visited.add(task.id);

    for (const id of task.after) {
      const dependency = tasks.find((candidate) => candidate.id === id);
      if (dependency !== undefined) visit(dependency);
    }

    ordered.push(task);
  };
  for (const task of tasks) visit(task);
  return ordered;
}

/**
 * The folder that a pattern starts from: `src/` and `src/*.ts` have `src/`; null for a plain file.
 */
function patternFolder(file: string): string | null {
  if (file.endsWith("/")) return file;
  const wildcardIndex = file.search(/[*?[{]/);
  return wildcardIndex < 0 ? null : file.slice(0, file.lastIndexOf("/", wildcardIndex) + 1);
}

/** Errs on the safe side: true if the two may have a file in common. */
function mayOverlap(file: string, pattern: string): boolean {
  const folder = patternFolder(pattern) ?? pattern;
  const fileFolder = patternFolder(file) ?? file;
  return (
    fileFolder.startsWith(folder) || (patternFolder(file) !== null && folder.startsWith(fileFolder))
  );
}
