// commit-wave: step that commits a report of the tasks done in a batch.

import { ownValue } from "../../../core/own-values.ts";
import { taskPath } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { invariant } from "../../../kit/invariant.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { batchPath, findNextBatchNumber } from "./reports.ts";
import { viewCommit } from "./tree-view.ts";

/** The step `commit_wave`. */
export function createCommitWaveStep(workspace: Workspace) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform({
      attempt,
      state,
      cursor,
      commit,
    }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const tasks = waveTasks(state, cursor);
      const batchNumber = findNextBatchNumber(await viewCommit(workspace, commit));
      const phase = state.phases.find(({ id }) => id === cursor.phase);
      const title = `Batch ${String(batchNumber).padStart(2, "0")}`;
      const stepName = `Step ${cursor.phase} ${phase?.name ?? ""}`.trim();
      const files = [{ path: batchPath(batchNumber), text: renderReport(title, stepName, tasks) }];
      const subject = `${title} of step ${cursor.phase}: ${tasks.map(({ id }) => id).join(", ")}`;
      // The attempt is the commit's key: running this again after a crash makes no second commit.
      const applied = await workspace.commitFiles({ attempt, since: commit, files, subject });
      if (applied === null) return { ok: true, facts: { batch: batchNumber, tasks: tasks.length } };
      if ("conflict" in applied) {
        return {
          ok: false,
          facts: {},
          reason: "merge_conflict",
          detail: applied.conflict.join(", "),
        };
      }

      return { ok: true, facts: { batch: batchNumber, tasks: tasks.length }, applied };
    },
  };
}

type TaskResult = { readonly id: string; readonly status: string };

/** The tasks of the wave that this cursor belongs to, each with its result. */
function waveTasks(state: RunView, cursor: CursorView): readonly TaskResult[] {
  const tasksStep = cursor.inside === null ? undefined : ownValue(state.open, cursor.inside);
  const waveIndex = Number(/:(\d+)$/.exec(cursor.path)?.[1] ?? Number.NaN) - 1; // 6@1/implement#1/wave:2
  const wave = tasksStep?.waves[waveIndex];
  invariant(
    tasksStep !== undefined && wave !== undefined,
    `a wave belongs to an open tasks step: ${cursor.path}`,
  );

  return wave.map((id) => ({
    id,
    status:
      ownValue(state.cursors, taskPath(tasksStep.attempt, id))?.result === "completed"
        ? "done"
        : "not done",
  }));
}

const renderReport = (title: string, stepName: string, tasks: readonly TaskResult[]): string =>
  [
    `# ${title}`,
    "",
    `${stepName}. Written by the runner when the batch was done and reviewed.`,
    "",
    "| Task | Status |",
    "|------|--------|",
    ...tasks.map(({ id, status }) => `| ${id} | ${status} |`),
    "",
  ].join("\n");
