// plan-waves: groups the tasks of a plan into waves that may run at the same time.
//
// Invariants:
//   W1. A task comes after its dependencies and after the tasks of an earlier `## Wave`.
//   W2. No two tasks of one wave share a file: they go to sub-waves.
//   W3. A complex task (four or more files, or a cross-cutting change) runs alone.
//   W4. A checkpoint for a person runs alone: the person inspects the tree while no task is running.

import type { PlanTask } from "../../../contracts/roadmap.ts";
import { sortTopologically } from "../../../documents/graph.ts";
import { compareTaskIds } from "./plan-lint.ts";

type SchedulableTask = Pick<PlanTask, "id" | "wave" | "after" | "files" | "complexity" | "type">;

type Wave = { readonly ids: string[]; readonly usedPaths: UsedPaths; isFull: boolean };

/** The task ids of each wave. Lint has refused cycles and unknown ids; tasks with such would come last here. */
export function planWaves(tasks: readonly SchedulableTask[]): readonly (readonly string[])[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const ordered = sortTopologically(tasks, (a, b) => taskRank(byId.get(a)) - taskRank(byId.get(b)) || compareTaskIds(a, b));
  const waves: Wave[] = [];
  const waveOfTask = new Map<string, number>();
  const groups = [...new Set(tasks.map(({ wave }) => wave ?? 0))].sort((a, b) => a - b);
  for (const group of groups) {
    const firstWave = waves.length; // W1
    for (const id of ordered) {
      const task = byId.get(id);
      if (task === undefined || (task.wave ?? 0) !== group) continue;
      let waveIndex = Math.max(firstWave, ...task.after.map((other) => (waveOfTask.get(other) ?? -1) + 1)); // W1
      const isExclusive = task.complexity === "complex" || task.type !== "auto";
      const mayJoin = (wave: Wave): boolean => !isExclusive && !wave.isFull && !wave.usedPaths.hasAny(task.files); // W2, W3, W4
      for (let wave = waves[waveIndex]; wave !== undefined && !mayJoin(wave); wave = waves[waveIndex]) waveIndex += 1;
      const wave = (waves[waveIndex] ??= { ids: [], usedPaths: createUsedPaths(), isFull: false });
      wave.ids.push(id);
      wave.usedPaths.add(task.files);
      wave.isFull = isExclusive;
      waveOfTask.set(id, waveIndex);
    }
  }
  return waves.map(({ ids }) => ids);
}

/** Simple tasks come first where the order allows it: a problem they show is cheap to fix early. */
function taskRank(task: SchedulableTask | undefined): number {
  if (task?.type !== "auto") return 3;
  if (task.complexity === "simple") return 0;
  return task.complexity === "complex" ? 2 : 1;
}

type UsedPaths = { readonly hasAny: (files: readonly string[]) => boolean; readonly add: (files: readonly string[]) => void };

/** Tracks files and folders in use: `src/` and `src/**` overlap with `src/a.ts`. */
function createUsedPaths(): UsedPaths {
  const files = new Set<string>();
  const folders = new Set<string>();
  const ancestors = new Set<string>();
  const ancestorsOf = (path: string): readonly string[] => {
    const steps = path.split("/");
    return steps.slice(0, -1).map((_, n) => `${steps.slice(0, n + 1).join("/")}/`);
  };
  return {
    hasAny: (paths) =>
      paths.some((path) => {
        const folder = pathFolder(path);
        if (folder === null) return files.has(path) || folders.has("") || ancestorsOf(path).some((part) => folders.has(part));
        return folder === ""
          ? ancestors.size + files.size + folders.size > 0
          : ancestors.has(folder) || folders.has("") || [folder, ...ancestorsOf(folder)].some((ancestor) => folders.has(ancestor));
      }),
    add: (paths) => {
      for (const path of paths) {
        const folder = pathFolder(path);
        if (folder === null) files.add(path);
        else folders.add(folder);
        for (const part of ancestorsOf(folder ?? path)) ancestors.add(part);
        if (folder !== null) ancestors.add(folder);
      }
    },
  };
}

/** The folder that a folder or pattern means, with its slash; null for a plain file. */
function pathFolder(path: string): string | null {
  if (path === ".") return "";
  const pattern = path.search(/[*?[{]/);
  if (pattern >= 0) return path.slice(0, path.lastIndexOf("/", pattern) + 1);
  return path.endsWith("/") ? path : null;
}
