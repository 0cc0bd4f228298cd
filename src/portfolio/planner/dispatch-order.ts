// dispatch-order: in which order tasks that could start are inspected.

import type { PortfolioView, TaskView } from "./state.ts";

/** The overdue first, then by priority, projects in turn, age. */
export function* inOrder(state: PortfolioView, candidates: readonly TaskView[]): Generator<TaskView> {
  const deadline = (task: TaskView): number => task.ready_at_dispatch + task.waits_at_most;
  const isOverdue = (task: TaskView): boolean => task.status === "ready" && state.dispatches >= deadline(task);
  yield* candidates.filter(isOverdue).toSorted((a, b) => deadline(a) - deadline(b) || a.priority - b.priority || a.created - b.created);
  const byPriority = new Map<number, TaskView[]>();
  for (const task of candidates) if (!isOverdue(task)) push(byPriority, task.priority, task);
  const served = new Map(Object.values(state.projects).map(({ project_id, last_dispatch }) => [project_id, last_dispatch]));
  let turn = state.dispatches;
  for (const [, tasks] of [...byPriority].toSorted(([a], [b]) => a - b)) {
    const queues = new Map<string, TaskView[]>();
    for (const task of tasks.toSorted((a, b) => b.created - a.created)) push(queues, task.project_id, task); // the oldest last: popped first
    const age = (id: string): number => queues.get(id)?.at(-1)?.created ?? 0;
    const isBefore = (id: string, other: string): boolean => {
      const [mine, theirs] = [served.get(id) ?? 0, served.get(other) ?? 0];
      return mine === theirs ? age(id) < age(other) : mine < theirs;
    };
    while (queues.size > 0) {
      let next = "";
      for (const id of queues.keys()) if (next === "" || isBefore(id, next)) next = id;
      const task = queues.get(next)?.pop();
      if (queues.get(next)?.length === 0) queues.delete(next);
      if (task === undefined) continue;
      turn += 1;
      served.set(next, turn);
      yield task;
    }
  }
}

export function push<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}
