// merge-order: decides which finished tasks of each branch are merged together next.

import { type PortfolioView, toQueueKey, type TaskView } from "./state.ts";

export const batchTasksMax = 8;

/** A branch whose own checks fail, and the tasks that were found to fail only because of that. */
export type RedTarget = { readonly because: string; readonly tasks: ReadonlySet<string> };

export type LandingFacts = {
  /**
   * What holds up each queue, if the repositories were inspected. Without it every queue is tried,
   * and waiting tasks show the journal's word.
   */
  readonly obstacleByQueue?: ReadonlyMap<string, string>;
  /**
   * By queue: branches whose own checks failed when they were last inspected, and that have not
   * moved since.
   */
  readonly redTargetByQueue?: ReadonlyMap<string, RedTarget>;
};
export type MergeAction = {
  readonly do: "merge";
  readonly repository: string;
  readonly target: string;
  readonly tasks: readonly string[];
};

/**
 * The finished tasks of each branch, in the order in which they are merged: priority, then who
 * finished first.
 */
export function listMerges(
  state: PortfolioView,
  running: readonly TaskView[],
  { obstacleByQueue, redTargetByQueue }: LandingFacts,
): readonly MergeAction[] {
  const queues = new Map<string, { repository: string; target: string; tasks: TaskView[] }>();
  for (const task of running) {
    const project = state.projects[task.project_id];
    if (task.stage !== "queued" || project === undefined || project.repository === null) continue;
    const key = toQueueKey(project);
    if (obstacleByQueue?.has(key) === true) continue;

    const queue = queues.get(key) ?? {
      repository: project.repository,
      target: project.target,
      tasks: [],
    };
    queue.tasks.push(task);
    queues.set(key, queue);
  }

  return [...queues].flatMap(([key, { repository, target, tasks }]): MergeAction[] => {
    const heldTasks = redTargetByQueue?.get(key)?.tasks;
    const heldRank = ({ task_id }: TaskView): number => (heldTasks?.has(task_id) === true ? 1 : 0);
    if (tasks.every((task) => heldRank(task) === 1)) return []; // the branch is still red, and there is no new task that could mend it

    const ids = tasks
      .toSorted(
        (a, b) => heldRank(a) - heldRank(b) || a.priority - b.priority || a.finished - b.finished,
      )
      .slice(0, batchTasksMax)
      .map(({ task_id }) => task_id);

    return [{ do: "merge", repository, target, tasks: ids }];
  });
}
