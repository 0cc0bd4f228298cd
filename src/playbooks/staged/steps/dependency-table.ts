// dependency-table: reads the tasks of the dependency table that are not yet implemented.

import type { RunView } from "../../../core/state.ts";
import type { Functions } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { startedTasks } from "./batches.ts";
import { readReports } from "./reports.ts";
import { readTasks } from "./task-table.ts";
import { lookAtCommit } from "./tree-look.ts";

type Reader = Functions<RunView, unknown>["tasks"][string];

/** The tasks of the dependency table that no implementation report says are done, from the run's newest commit. */
export function dependencyTable(workspace: Workspace): Reader {
  return async (run) => {
    const tree = await lookAtCommit(workspace, run.tip.commit);
    const { tasks, faults } = await readTasks(tree);
    if (faults.length > 0) return { problem: faults.join("; ") };
    return { tasks: startedTasks(tasks, (await readReports(tree)).isDone) };
  };
}
