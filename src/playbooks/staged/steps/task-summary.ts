// task-summary: step that counts what is left to implement, shown before a person decides to begin.

import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { measureTasks } from "./batches.ts";
import { readReports } from "./reports.ts";
import { findSurveyOutcome } from "./state-file.ts";
import { readTasks } from "./task-table.ts";
import { viewCommit } from "./tree-view.ts";

/**
 * Shown with the question: tasks run in parallel in their own folders, so one agent session cannot
 * continue in all of them.
 */
const sessionsNote =
  "each task has an agent session of its own, with A and with B; B goes on now, and Key Decisions are handed over";

/** The step `task_summary`. */
export function createTaskSummaryStep(workspace: Workspace) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({
      commit,
      state,
      cursor,
    }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const tree = await viewCommit(workspace, commit);
      const { tasks, faults } = await readTasks(tree);
      // A project that is resumed at this step starts new sessions anyway.
      const entered =
        cursor.visit === 1 && findSurveyOutcome(state)?.facts["entered"] === cursor.phase;

      const facts = {
        ...measureTasks(tasks, (await readReports(tree)).isDone),
        sessions: sessionsNote,
        entered,
      };

      return { ok: true, facts, ...(faults.length === 0 ? {} : { detail: faults.join("; ") }) };
    },
  };
}
