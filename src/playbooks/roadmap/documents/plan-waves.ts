// plan-waves: groups the tasks of a plan into waves that may run at the same time.
//
// Invariants:
//   W1. A task comes after its dependencies and after the tasks of an earlier `## Wave`.
//   W2. No two tasks of one wave share a file: they go to sub-waves.
//   W3. A task that the plan calls complex runs alone.
//   W4. A checkpoint for a person runs alone: the person inspects the tree while no task is
//       running.

import type { PlanTask } from "../../../contracts/roadmap.ts";
import { sortTopologically } from "../../../documents/graph.ts";
import { compareTaskIds } from "./plan-lint.ts";

type SchedulableTask = Pick<PlanTask, "id" | "wave" | "after" | "files" | "complexity" | "type">;

type Wave = { readonly ids: string[]; readonly usedPaths: UsedPaths; isFull: boolean };

/**
 * The task ids of each wave. Lint has refused cycles and unknown ids; here tasks in a cycle would
 * come last, and unknown ids are ignored.
 */
export function planWaves(tasks: readonly SchedulableTask[]): readonly (readonly string[])[] {
  const tasksById = new Map(tasks.map((task) => [task.id, task]));
  const rankOf = (id: string): number => taskRank(tasksById.get(id));
  const orderedIds = sortTopologically(
    tasks,
    (a, b) => rankOf(a) - rankOf(b) || compareTaskIds(a, b),
  );
  const orderedTasks = orderedIds
    .map((id) => tasksById.get(id))
    .filter((task) => task !== undefined);

  const waves: Wave[] = [];
  const waveIndexes = new Map<string, number>();
  /**
   * The numbers of the plan's own waves; one of them becomes several here if its tasks cannot run
   * at the same time.
   */
  const waveNumbers = [...new Set(tasks.map(({ wave }) => wave ?? 0))].sort((a, b) => a - b);
  for (const waveNumber of waveNumbers) {
    const firstIndex = waves.length; // W1
    for (const task of orderedTasks.filter(({ wave }) => (wave ?? 0) === waveNumber)) {
      const earliestIndex = Math.max(
        firstIndex,
        ...task.after.map((id) => (waveIndexes.get(id) ?? -1) + 1),
      ); // W1
      waveIndexes.set(task.id, addToWave(waves, task, earliestIndex));
    }
  }

  return waves.map(({ ids }) => ids);
}

/**
 * Puts a task into the first wave from this index on that it may join, or into a new one, and
 * returns the wave's index.
 */
function addToWave(waves: Wave[], task: SchedulableTask, earliestIndex: number): number {
  const isExclusive = task.complexity === "complex" || task.type !== "auto";
  const mayJoin = (wave: Wave): boolean =>
    !isExclusive && !wave.isFull && !wave.usedPaths.hasAny(task.files); // W2, W3, W4
  let index = earliestIndex;
  for (let wave = waves[index]; wave !== undefined && !mayJoin(wave); wave = waves[index]) {
    index += 1;
  }

  const wave = (waves[index] ??= { ids: [], usedPaths: createUsedPaths(), isFull: false });
  wave.ids.push(task.id);
  wave.usedPaths.add(task.files);
  wave.isFull = isExclusive;

  return index;
}

/** Simple tasks come first if the order allows it: a problem they show is cheap to fix early. */
function taskRank(task: SchedulableTask | undefined): number {
  if (task?.type !== "auto") return 3;
  if (task.complexity === "simple") return 0;
  return task.complexity === "complex" ? 2 : 1;
}

type UsedPaths = {
  readonly hasAny: (files: readonly string[]) => boolean;
  readonly add: (files: readonly string[]) => void;
};

/** Tracks files and folders in use: `src/` and `src/**` overlap with `src/a.ts`. */
function createUsedPaths(): UsedPaths {
  const files = new Set<string>();
  const folders = new Set<string>();
  /** Every folder that something in use is in. */
  const ancestors = new Set<string>();

  const isUsed = (path: string): boolean => {
    const folder = pathFolder(path);
    if (folder === "") return ancestors.size + files.size + folders.size > 0;
    const isInUsedFolder =
      folders.has("") || ancestorsOf(folder ?? path).some((ancestor) => folders.has(ancestor));
    if (folder === null) return isInUsedFolder || files.has(path);

    return isInUsedFolder || folders.has(folder) || ancestors.has(folder);
  };

  return {
    hasAny: (paths) => paths.some(isUsed),
    add: (paths) => {
      for (const path of paths) {
        const folder = pathFolder(path);
        if (folder === null) files.add(path);
        else folders.add(folder);

        for (const ancestor of ancestorsOf(folder ?? path)) ancestors.add(ancestor);
        if (folder !== null) ancestors.add(folder);
      }
    },
  };
}

/** `src/lib/a.ts` → `src/`, `src/lib/` */
function ancestorsOf(path: string): readonly string[] {
  const parts = path.split("/");
  return parts.slice(0, -1).map((_, index) => `${parts.slice(0, index + 1).join("/")}/`);
}

/** The folder that a folder or pattern means, with its slash; null for a plain file. */
function pathFolder(path: string): string | null {
  if (path === ".") return "";
  const wildcardIndex = path.search(/[*?[{]/);
  if (wildcardIndex >= 0) return path.slice(0, path.lastIndexOf("/", wildcardIndex) + 1);

  return path.endsWith("/") ? path : null;
}
