// task-proofs: named proofs about the tasks of a staged project. Each only looks at the tree of a commit.

import picomatch from "picomatch";
import { runOption } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { sized } from "./batches.ts";
import { finalReport, readReports } from "./reports.ts";
import { readTasks, pathStem, tablePath, findTaskFiles } from "./task-table.ts";
import { lookAtCommit, type TreeLook } from "./tree-look.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type Found = { readonly faults: readonly string[]; readonly facts?: FunctionResult["facts"] };

const pointsMax = 5;
const shownMax = 10;

const workspaceProof = (workspace: Workspace, look: (tree: TreeLook, input: StepInput) => Promise<Found>) => ({
  version: 1,
  async prove(input: StepInput): Promise<FunctionResult> {
    const { faults, facts = {} } = await look(await lookAtCommit(workspace, input.commit), input);
    const more = faults.length > shownMax ? `; and ${faults.length - shownMax} more` : "";
    return { ok: faults.length === 0, facts, detail: `${faults.slice(0, shownMax).join("; ")}${more}` };
  },
});

/** Every task is in the table, has its own file, and is small enough. */
export const taskPoints = (workspace: Workspace) =>
  workspaceProof(workspace, async (tree) => {
    const { tasks, faults } = await readTasks(tree);
    if (faults.length > 0) return { faults };
    const known = new Set(tasks.map(({ path }) => path));
    const missing = tasks.filter(({ path }) => path === null).map(({ id }) => `task ${id} has no file _docs/02_tasks/${id}.md`);
    const strangers = findTaskFiles(tree)
      .filter((path) => !known.has(path))
      .map((path) => `${path} is a task without a row in ${tablePath}`);
    const sizes = tasks.flatMap(({ id, points }) => {
      if (points === null || points < 1) return [`task ${id} says no points, expected Complexity 1 to ${pointsMax}`];
      return points > pointsMax ? [`task ${id} has ${points} points, expected at most ${pointsMax}: split it`] : [];
    });
    const none = tasks.length === 0 ? [`${tablePath}: found no task, expected at least 1`] : [];
    return { faults: [...none, ...missing, ...strangers, ...sizes], facts: sized(tasks, () => false) };
  });

/** Every task of the table is said to be done by a report that an agent wrote; the runner's own batch reports aren't a substitute. */
export const everyTaskReported = (workspace: Workspace) =>
  workspaceProof(workspace, async (tree) => {
    const { tasks, faults } = await readTasks(tree);
    const { isDone } = await readReports(tree, "agents");
    const open = tasks.filter(({ id }) => !isDone(id)).map(({ id }) => `no report says that task ${id} is done`);
    return { faults: [...faults, ...open], facts: { tasks: tasks.length } };
  });

/** Every task file is named by some implementation report. */
export async function unnamedTasks(tree: TreeLook): Promise<readonly string[]> {
  const { isNamed } = await readReports(tree);
  const { tasks } = await readTasks(tree);
  const pathId = (path: string): string => tasks.find((task) => task.path === path)?.id ?? pathStem(path);
  return findTaskFiles(tree).filter((path) => !isNamed(pathId(path)) && !isNamed(pathStem(path)));
}

export const everyTaskNamed = (workspace: Workspace) =>
  workspaceProof(workspace, async (tree) => ({
    faults: (await unnamedTasks(tree)).map((path) => `${path} is named by no implementation report`),
  }));

/** There is a task that no implementation report names yet. To find a project at work the report on all of them will do as well. */
export async function openTaskFault(tree: TreeLook, isOnlyFound: boolean): Promise<string | null> {
  if ((await unnamedTasks(tree)).length > 0) return null;
  if (isOnlyFound && ((await tree.read(finalReport)) ?? "") !== "") return null;
  return "found no task in _docs/02_tasks/ that no implementation report names yet";
}

export const openTask = (workspace: Workspace) =>
  workspaceProof(workspace, async (tree, { cursor, state }) => {
    const isOnlyFound = cursor.visit === 0 && runOption(state, "new_task") !== true;
    const fault = await openTaskFault(tree, isOnlyFound);
    return { faults: fault === null ? [] : [fault] };
  });

/** The files a task names are there, and this run has changed something of it. */
export const taskFiles = (workspace: Workspace) =>
  workspaceProof(workspace, async (tree, { cursor, state, changed, commit }) => {
    const { tasks } = await readTasks(tree);
    const files = tasks.find(({ id }) => id === cursor.task)?.files ?? [];
    const missing = files.filter((file) => !tree.paths.some(matcher(file))).map((file) => `${file} is not there`);
    if (changed.length > 0) return { faults: missing };
    const before = (await workspace.differences(state.drafted.base.commit, commit)).map(({ path }) => path);
    const isUntouched = !files.some((file) => before.some(matcher(file)));
    return { faults: [...missing, ...(isUntouched ? [`nothing was changed for task ${cursor.task ?? ""}`] : [])] };
  });

function matcher(file: string): (path: string) => boolean {
  const pattern = file.replace(/^\.\//, "");
  if (pattern.endsWith("/")) return (path) => path.startsWith(pattern);
  return /[*?[{]/.test(pattern) ? picomatch(pattern, { dot: true }) : (path) => path === pattern;
}
