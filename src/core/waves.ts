// waves: sorts tasks into waves by dependency so that no two tasks of a wave share a file.

import { invariant } from "../kit/invariant.ts";

type Task = {
  readonly id: string;
  readonly files: readonly string[];
  readonly after: readonly string[];
};

/**
 * No task comes before one that it depends on, and no two of a wave share a file. Within a wave
 * they keep the reader's order, but for a task on which one that is listed earlier depends: it
 * moves up.
 */
export function sortIntoWaves<T extends Task>(tasks: readonly T[]): T[][] {
  const waves: T[][] = [];
  const files: Set<string>[] = [];
  const waveById = new Map<string, number>();

  for (const task of sortByDependency(tasks)) {
    let wave = 0;
    for (const id of task.after) wave = Math.max(wave, (waveById.get(id) ?? -1) + 1);
    while (task.files.some((file) => files[wave]?.has(file) === true)) wave++;
    (waves[wave] ??= []).push(task);
    const waveFiles = (files[wave] ??= new Set());
    for (const file of task.files) waveFiles.add(file);
    waveById.set(task.id, wave);
  }

  return waves;
}

/**
 * Each task after those it depends on; a cycle is a reader's bug, which the reader should have
 * refused.
 */
function sortByDependency<T extends Task>(tasks: readonly T[]): T[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const visited = new Set<string>();
  const onPath = new Set<string>();
  const ordered: T[] = [];

  const visit = (task: T): void => {
    if (visited.has(task.id)) return;
    invariant(
      !onPath.has(task.id),
      `tasks wait for each other in a ring: ${[...onPath, task.id].join(" -> ")}`,
    );

    onPath.add(task.id);
    for (const id of task.after) {
      const dependency = byId.get(id);
      if (dependency !== undefined) visit(dependency);
    }

    onPath.delete(task.id);
    visited.add(task.id);
    ordered.push(task);
  };
  for (const task of tasks) visit(task);
  return ordered;
}
