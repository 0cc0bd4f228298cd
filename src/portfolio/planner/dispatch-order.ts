// dispatch-order: the order in which tasks that could start are inspected, and how many of them are
// left to share a budget with. Which of them start is decided in decide-dispatch.ts.
// Invariants P1 and on: portfolio/planner/plan.ts.

import type { Sharers } from "./budgets.ts";
import { mayOverlap } from "./overlap.ts";
import type { PortfolioView, TaskView } from "./state.ts";

/**
 * Overdue tasks first (P3), then by priority; within a priority projects take turns, and each gives
 * its oldest task (P2).
 */
export function* orderCandidates(
  state: PortfolioView,
  candidates: readonly TaskView[],
): Generator<TaskView> {
  const deadline = (task: TaskView): number => task.ready_at_dispatch + task.waits_at_most;
  const isOverdue = (task: TaskView): boolean =>
    task.status === "ready" && state.dispatches >= deadline(task);
  yield* candidates
    .filter(isOverdue)
    .toSorted(
      (a, b) => deadline(a) - deadline(b) || a.priority - b.priority || a.created - b.created,
    );

  const byPriority = new Map<number, TaskView[]>();
  for (const task of candidates) if (!isOverdue(task)) pushTo(byPriority, task.priority, task);

  const lastDispatchByProject = new Map(
    Object.values(state.projects).map(({ project_id, last_dispatch }) => [
      project_id,
      last_dispatch,
    ]),
  );

  let turn = state.dispatches;
  for (const [, tasks] of [...byPriority].toSorted(([a], [b]) => a - b)) {
    const queues = new Map<string, TaskView[]>();
    for (const task of tasks.toSorted((a, b) => b.created - a.created)) {
      pushTo(queues, task.project_id, task);
    } // the oldest last, to be popped first

    const age = (id: string): number => queues.get(id)?.at(-1)?.created ?? 0;
    const isBefore = (id: string, other: string): boolean => {
      const [lastServed, otherLastServed] = [
        lastDispatchByProject.get(id) ?? 0,
        lastDispatchByProject.get(other) ?? 0,
      ];
      return lastServed === otherLastServed ? age(id) < age(other) : lastServed < otherLastServed;
    };

    while (queues.size > 0) {
      let nextProject = "";
      for (const id of queues.keys()) {
        if (nextProject === "" || isBefore(id, nextProject)) nextProject = id;
      }

      const task = queues.get(nextProject)?.pop();
      if (queues.get(nextProject)?.length === 0) queues.delete(nextProject);
      if (task === undefined) continue;
      turn += 1;
      lastDispatchByProject.set(nextProject, turn);
      yield task;
    }
  }
}

/**
 * Counts the candidates that were not inspected yet: those that could start beside a task share its
 * budget with it.
 */
export function openCandidateCounts(
  state: PortfolioView,
  candidates: readonly TaskView[],
  inProject: ReadonlyMap<string, number>,
) {
  const leftInProject = new Map<string, number>();
  for (const { project_id } of candidates) {
    leftInProject.set(project_id, (leftInProject.get(project_id) ?? 0) + 1);
  }

  const freeSlotsOf = (id: string): number =>
    (state.projects[id]?.slots ?? 0) - (inProject.get(id) ?? 0);
  return {
    markInspected: ({ project_id }: TaskView): void =>
      void leftInProject.set(project_id, (leftInProject.get(project_id) ?? 0) - 1),
    /** The task itself counts. */
    sharers: ({ project_id }: TaskView, slots: number): Sharers => ({
      inProject: () =>
        1 + Math.max(0, Math.min(freeSlotsOf(project_id) - 1, leftInProject.get(project_id) ?? 0)),
      inAll: () => {
        let others = 0;
        for (const [id, count] of leftInProject) {
          others += Math.max(0, Math.min(freeSlotsOf(id) - (id === project_id ? 1 : 0), count));
        }

        return 1 + Math.min(slots - 1, others);
      },
    }),
  };
}

export function pushTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** The files that a task may change. */
export type FileClaim = { readonly touches: readonly string[]; readonly task_id: string };

/**
 * If more tasks than these wait before it in its repository, a task waits behind them without
 * comparing files.
 */
const comparisonsMax = 200;

/** The first of the tasks ahead that may change one of this task's files. */
export const findFirstOverlapping = (
  ahead: readonly FileClaim[],
  task: TaskView,
): FileClaim | undefined =>
  ahead.length > comparisonsMax
    ? ahead[0]
    : ahead.find(({ touches }) => mayOverlap(touches, task.touches));
