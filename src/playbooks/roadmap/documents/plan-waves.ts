// plan-waves: which tasks of a plan may be done at the same time.
//
// Invariants:
//   W1. No task is before one it comes after, nor before one of an earlier `## Wave`.
//   W2. No two tasks of one wave share a file: they go to sub-waves.
//   W3. A complex task runs alone: with four or more files, or a cross-cutting change, nothing is safe beside it.
//   W4. A person's checkpoint runs alone too: it inspects the tree while no task is running.

import type { PlanTask } from "../../../contracts/roadmap.ts";
import { inOrder } from "../../../documents/graph.ts";
import { compareTaskIds } from "./plan-lint.ts";

type Waved = Pick<PlanTask, "id" | "wave" | "after" | "files" | "complexity" | "type">;

type Wave = { readonly ids: string[]; readonly taken: Taken; isFull: boolean };

/** The waves in order, each the ids of its tasks. Lint has refused rings and unknown names; here they would stand last. */
export function planWaves(tasks: readonly Waved[]): readonly (readonly string[])[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const ordered = inOrder(tasks, (a, b) => taskRank(byId.get(a)) - taskRank(byId.get(b)) || compareTaskIds(a, b));
  const waves: Wave[] = [];
  const placed = new Map<string, number>();
  const groups = [...new Set(tasks.map(({ wave }) => wave ?? 0))].sort((a, b) => a - b);
  for (const group of groups) {
    const first = waves.length; // W1
    for (const id of ordered) {
      const task = byId.get(id);
      if (task === undefined || (task.wave ?? 0) !== group) continue;
      let position = Math.max(first, ...task.after.map((other) => (placed.get(other) ?? -1) + 1)); // W1
      const isAlone = task.complexity === "complex" || task.type !== "auto";
      const mayJoin = (wave: Wave): boolean => !isAlone && !wave.isFull && !wave.taken.hasAny(task.files); // W2, W3, W4
      for (let wave = waves[position]; wave !== undefined && !mayJoin(wave); wave = waves[position]) position += 1;
      const wave = (waves[position] ??= { ids: [], taken: openTaken(), isFull: false });
      wave.ids.push(id);
      wave.taken.add(task.files);
      wave.isFull = isAlone;
      placed.set(id, position);
    }
  }
  return waves.map(({ ids }) => ids);
}

/** Small things first within what is possible: they are done while it is still cheap to stop. */
function taskRank(task: Waved | undefined): number {
  if (task?.type !== "auto") return 3;
  return task.complexity === "simple" ? 0 : task.complexity === "complex" ? 2 : 1;
}

type Taken = { readonly hasAny: (files: readonly string[]) => boolean; readonly add: (files: readonly string[]) => void };

/** Files, and folders that stand for all in them: `src/` and `src/**` share with `src/a.ts`. */
function openTaken(): Taken {
  const files = new Set<string>();
  const folders = new Set<string>();
  const above = new Set<string>();
  const pathParts = (path: string): readonly string[] => {
    const steps = path.split("/");
    return steps.slice(0, -1).map((_, n) => `${steps.slice(0, n + 1).join("/")}/`);
  };
  return {
    hasAny: (paths) =>
      paths.some((path) => {
        const folder = pathFolder(path);
        if (folder === null) return files.has(path) || folders.has("") || pathParts(path).some((part) => folders.has(part));
        return folder === ""
          ? above.size + files.size + folders.size > 0
          : above.has(folder) || folders.has("") || [folder, ...pathParts(folder)].some((ancestor) => folders.has(ancestor));
      }),
    add: (paths) => {
      for (const path of paths) {
        const folder = pathFolder(path);
        if (folder === null) files.add(path);
        else folders.add(folder);
        for (const part of pathParts(folder ?? path)) above.add(part);
        if (folder !== null) above.add(folder);
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
