// merge-in-order: merges the commits of tasks onto a commit, one after the other, without moving
// any branch.

import type { TaskView } from "../planner/state.ts";
import type { Exchange, MergeOutcome } from "../worker/git-exchange.ts";

const objectiveCharsMax = 2_000;

/** The commit that has all of them, or the paths in which one conflicts with those before it. */
export async function mergeOnto(
  exchange: Exchange,
  tip: string,
  tasks: readonly TaskView[],
): Promise<{ readonly commit: string } | { readonly conflict: readonly string[] }> {
  let commit = tip;
  for (const task of tasks) {
    const merged = await mergeTask(exchange, commit, task);
    if ("conflicts" in merged) return { conflict: merged.conflicts };
    commit = merged.commit;
  }

  return { commit };
}

export const mergeTask = (
  exchange: Exchange,
  onto: string,
  task: TaskView,
): Promise<MergeOutcome> =>
  exchange.merge({
    onto,
    commit: task.commit ?? "",
    message: composeMergeMessage(task),
    tip: task.tip,
  });

function composeMergeMessage({ task_id, objective, run_id }: TaskView): string {
  const trailers = `Autopilot-Task: ${task_id}\nAutopilot-Run: ${run_id ?? ""}\n`;
  return `Merge ${task_id}\n\n${objective.slice(0, objectiveCharsMax)}\n\n${trailers}`;
}
