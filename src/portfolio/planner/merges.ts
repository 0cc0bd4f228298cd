// merges: which finished tasks are merged together next, by branch.
// Invariants S1 and on: portfolio/planner/bisect.ts.

import { type PortfolioView, queueOf, type TaskView } from "./state.ts";

export const batchTasksMax = 8;

/** A branch that fails by itself: tasks that were found to fail on it as they would without their work. */
export type RedTarget = { readonly because: string; readonly tasks: ReadonlySet<string> };

export type LandingFacts = {
  /** By queue: what blocks landing in each repository. Without a look, the journal's knowledge is used. */
  readonly held?: ReadonlyMap<string, string>;
  /** By queue: branches that are as red by themselves as they were when somebody looked. */
  readonly red?: ReadonlyMap<string, RedTarget>;
};
export type MergeAction = { readonly do: "merge"; readonly repository: string; readonly target: string; readonly tasks: readonly string[] };

/** The finished tasks of each branch, in the order in which they are merged: priority, then who finished first. */
export function merges(state: PortfolioView, running: readonly TaskView[], { held, red }: LandingFacts): readonly MergeAction[] {
  const queues = new Map<string, { repository: string; target: string; tasks: TaskView[] }>();
  for (const task of running) {
    const project = state.projects[task.project_id];
    if (task.stage !== "queued" || project === undefined || project.repository === null) continue;
    const key = queueOf(project);
    if (held?.has(key) === true) continue;
    const queue = queues.get(key) ?? { repository: project.repository, target: project.target, tasks: [] };
    queue.tasks.push(task);
    queues.set(key, queue);
  }
  return [...queues].flatMap(([key, { repository, target, tasks }]): MergeAction[] => {
    const heldTasks = red?.get(key)?.tasks;
    const heldRank = ({ task_id }: TaskView): number => (heldTasks?.has(task_id) === true ? 1 : 0);
    if (tasks.every((task) => heldRank(task) === 1)) return []; // S4: the branch is as red as before, and no new task could mend it
    const ids = tasks
      .toSorted((a, b) => heldRank(a) - heldRank(b) || a.priority - b.priority || a.finished - b.finished)
      .slice(0, batchTasksMax)
      .map(({ task_id }) => task_id);
    return [{ do: "merge", repository, target, tasks: ids }];
  });
}
