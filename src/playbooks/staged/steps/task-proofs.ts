// task-proofs: named proofs about the tasks of a staged project, on the tree of a commit.

import picomatch from "picomatch";
import { optionValue } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { measureTasks } from "./batches.ts";
import { finalReport, readReports } from "./reports.ts";
import { readTasks, stemOf, tablePath, findTaskFiles } from "./task-table.ts";
import { viewCommit, type TreeView } from "./tree-view.ts";

type StepInput = FunctionInput<RunView, CursorView>;
type ProofFindings = {
  readonly faults: readonly string[];
  readonly facts?: FunctionResult["facts"];
};

const pointsMax = 5;
const faultsShownMax = 10;

/** A proof that holds if `inspect` finds no fault in the commit. */
const createProof = (
  workspace: Workspace,
  inspect: (tree: TreeView, input: StepInput) => Promise<ProofFindings>,
) => ({
  version: 1,
  async prove(input: StepInput): Promise<FunctionResult> {
    const { faults, facts = {} } = await inspect(await viewCommit(workspace, input.commit), input);
    const more =
      faults.length > faultsShownMax ? `; and ${faults.length - faultsShownMax} more` : "";
    return {
      ok: faults.length === 0,
      facts,
      detail: `${faults.slice(0, faultsShownMax).join("; ")}${more}`,
    };
  },
});

/** The proof `task_points`: every task is in the table, has its own file, and is small enough. */
export const createTaskPointsProof = (workspace: Workspace) =>
  createProof(workspace, async (tree) => {
    const { tasks, faults } = await readTasks(tree);
    if (faults.length > 0) return { faults };
    const listedPaths = new Set(tasks.map(({ path }) => path));
    const missing = tasks
      .filter(({ path }) => path === null)
      .map(({ id }) => `task ${id} has no file _docs/02_tasks/${id}.md`);

    const unlisted = findTaskFiles(tree)
      .filter((path) => !listedPaths.has(path))
      .map((path) => `${path} is a task without a row in ${tablePath}`);

    const wrongSizes = tasks.flatMap(({ id, points }) => {
      if (points === null || points < 1) {
        return [`task ${id} says no points, expected Complexity 1 to ${pointsMax}`];
      }

      return points > pointsMax
        ? [`task ${id} has ${points} points, expected at most ${pointsMax}: split it`]
        : [];
    });

    const noTasks = tasks.length === 0 ? [`${tablePath}: found no task, expected at least 1`] : [];
    return {
      faults: [...noTasks, ...missing, ...unlisted, ...wrongSizes],
      facts: measureTasks(tasks, () => false),
    };
  });

/**
 * The proof `every_task_reported`: a report written by an agent says that each task of the table is
 * done; the runner's own batch reports do not count.
 */
export const createEveryTaskReportedProof = (workspace: Workspace) =>
  createProof(workspace, async (tree) => {
    const { tasks, faults } = await readTasks(tree);
    const { isDone } = await readReports(tree, "agents");
    const unreported = tasks
      .filter(({ id }) => !isDone(id))
      .map(({ id }) => `no report says that task ${id} is done`);

    return { faults: [...faults, ...unreported], facts: { tasks: tasks.length } };
  });

/** The task files that no implementation report names. */
export async function findUnnamedTasks(tree: TreeView): Promise<readonly string[]> {
  const { isNamed } = await readReports(tree);
  const { tasks } = await readTasks(tree);
  const taskId = (path: string): string =>
    tasks.find((task) => task.path === path)?.id ?? stemOf(path);

  return findTaskFiles(tree).filter((path) => !isNamed(taskId(path)) && !isNamed(stemOf(path)));
}

/** The proof `every_task_named`. */
export const createEveryTaskNamedProof = (workspace: Workspace) =>
  createProof(workspace, async (tree) => ({
    faults: (await findUnnamedTasks(tree)).map(
      (path) => `${path} is named by no implementation report`,
    ),
  }));

/**
 * Null if there is a task that no implementation report names yet, or, if accepted, the final
 * report exists.
 */
export async function findOpenTaskFault(
  tree: TreeView,
  acceptsFinalReport: boolean,
): Promise<string | null> {
  if ((await findUnnamedTasks(tree)).length > 0) return null;
  if (acceptsFinalReport && ((await tree.read(finalReport)) ?? "") !== "") return null;
  return "found no task in _docs/02_tasks/ that no implementation report names yet";
}

/** The proof `open_task`: something is left to implement. */
export const createOpenTaskProof = (workspace: Workspace) =>
  createProof(workspace, async (tree, { cursor, state }) => {
    const acceptsFinalReport = cursor.visit === 0 && optionValue(state, "new_task") !== true;
    const fault = await findOpenTaskFault(tree, acceptsFinalReport);
    return { faults: fault === null ? [] : [fault] };
  });

/**
 * The proof `task_files`: the files that a task names exist, and this run changed at least one of
 * them.
 */
export const createTaskFilesProof = (workspace: Workspace) =>
  createProof(workspace, async (tree, { cursor, state, changed, commit }) => {
    const { tasks } = await readTasks(tree);
    const files = tasks.find(({ id }) => id === cursor.task)?.files ?? [];
    const missing = files
      .filter((file) => !tree.paths.some(pathMatcher(file)))
      .map((file) => `${file} is not there`);

    if (changed.length > 0) return { faults: missing };
    const changedPaths = (await workspace.differences(state.drafted.base.commit, commit)).map(
      ({ path }) => path,
    );
    const isUntouched = !files.some((file) => changedPaths.some(pathMatcher(file)));

    return {
      faults: [
        ...missing,
        ...(isUntouched ? [`nothing was changed for task ${cursor.task ?? ""}`] : []),
      ],
    };
  });

/** Matches the paths that a task's file, folder or pattern means. */
function pathMatcher(file: string): (path: string) => boolean {
  const pattern = file.replace(/^\.\//, "");
  if (pattern.endsWith("/")) return (path) => path.startsWith(pattern);
  return /[*?[{]/.test(pattern) ? picomatch(pattern, { dot: true }) : (path) => path === pattern;
}
