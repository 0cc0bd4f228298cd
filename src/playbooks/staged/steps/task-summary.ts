// task-summary: step that counts what is left to implement, shown before a person decides to begin.

import type { RunView, CursorView } from "../../../core/state.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { sized } from "./batches.ts";
import { readReports } from "./reports.ts";
import { surveyed } from "./state-file.ts";
import { readTasks } from "./task-table.ts";
import { lookAtCommit } from "./tree-look.ts";

/** Tasks are built side by side, each in its own folder: no conversation of an agent can go on in all of them. */
const sessions = "each task has an agent session of its own, with A and with B; B goes on now, and Key Decisions are handed over";

/** How much there is to implement: shown before the decision to begin with it. */
export function taskSummary(workspace: Workspace) {
  return {
    version: 1,
    effect: "none" as const,
    async perform({ commit, state, cursor }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const tree = await lookAtCommit(workspace, commit);
      const { tasks, faults } = await readTasks(tree);
      // A project that is resumed here begins a new conversation anyway.
      const entered = cursor.visit === 1 && surveyed(state)?.facts["entered"] === cursor.phase;
      const facts = { ...sized(tasks, (await readReports(tree)).isDone), sessions, entered };
      return { ok: true, facts, ...(faults.length === 0 ? {} : { detail: faults.join("; ") }) };
    },
  };
}
