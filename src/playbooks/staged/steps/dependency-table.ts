// dependency-table: reads the tasks of the dependency table that are not yet implemented.

import type { RunView } from "../../../core/state.ts";
import type { Functions } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { scheduleTasks } from "./batches.ts";
import { readReports } from "./reports.ts";
import { readTasks } from "./task-table.ts";
import { viewCommit } from "./tree-view.ts";

type Reader = Functions<RunView, unknown>["tasks"][string];

/**
 * The reader `dependency_table`. It reads from the run's newest commit. A task counts as
 * implemented if a report says that it is done.
 */
export function createDependencyTableReader(workspace: Workspace): Reader {
  return async (run) => {
    const tree = await viewCommit(workspace, run.tip.commit);
    const { tasks, faults } = await readTasks(tree);
    if (faults.length > 0) return { problem: faults.join("; ") };

    return { tasks: scheduleTasks(tasks, (await readReports(tree)).isDone) };
  };
}
