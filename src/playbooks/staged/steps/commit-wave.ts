// commit-wave: closes a batch of tasks with its own commit: the runner's report of which tasks were done in it.

import { own } from "../../../core/record.ts";
import { taskPath } from "../../../core/selectors.ts";
import type { RunView, CursorView } from "../../../core/state.ts";
import { invariant } from "../../../kit/invariant.ts";
import type { FunctionInput, FunctionResult } from "../../../ports/functions.ts";
import type { Workspace } from "../../../ports/workspace.ts";
import { batchPath, nextBatch } from "./reports.ts";
import { lookAtCommit } from "./tree-look.ts";

export function commitWave(workspace: Workspace) {
  return {
    version: 1,
    effect: "idempotent" as const,
    async perform({ attempt, state, cursor, commit }: FunctionInput<RunView, CursorView>): Promise<FunctionResult> {
      const tasks = stateTasks(state, cursor);
      const number = nextBatch(await lookAtCommit(workspace, commit));
      const phase = state.phases.find(({ id }) => id === cursor.phase);
      const title = `Batch ${String(number).padStart(2, "0")}`;
      const files = [{ path: batchPath(number), text: reportText(title, `Step ${cursor.phase} ${phase?.name ?? ""}`.trim(), tasks) }];
      const subject = `${title} of step ${cursor.phase}: ${tasks.map(({ id }) => id).join(", ")}`;
      // A commit under this attempt's key is found again, so a second time makes no second one.
      const applied = await workspace.commitFiles({ attempt, since: commit, files, subject });
      if (applied === null) return { ok: true, facts: { batch: number, tasks: tasks.length } };
      if ("conflict" in applied) return { ok: false, facts: {}, reason: "merge_conflict", detail: applied.conflict.join(", ") };
      return { ok: true, facts: { batch: number, tasks: tasks.length }, applied };
    },
  };
}

type Done = { readonly id: string; readonly status: string };

/** The tasks of the wave whose steps these are, with what became of each. */
function stateTasks(state: RunView, cursor: CursorView): readonly Done[] {
  const open = cursor.inside === null ? undefined : own(state.open, cursor.inside);
  const index = Number(/:(\d+)$/.exec(cursor.path)?.[1] ?? Number.NaN) - 1;
  const wave = open?.waves[index];
  invariant(open !== undefined && wave !== undefined, `F1: ${cursor.path} is a wave of an open tasks step`);
  return wave.map((id) => ({ id, status: own(state.cursors, taskPath(open.attempt, id))?.result === "completed" ? "done" : "not done" }));
}

const reportText = (title: string, step: string, tasks: readonly Done[]): string =>
  [
    `# ${title}`,
    "",
    `${step}. Written by the runner when the batch was done and reviewed.`,
    "",
    "| Task | Status |",
    "|------|--------|",
    ...tasks.map(({ id, status }) => `| ${id} | ${status} |`),
    "",
  ].join("\n");
