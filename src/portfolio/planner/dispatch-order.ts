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
  const overdue = candidates.filter((task) => isOverdue(state, task));
  yield* overdue.toSorted(compareOverdue);

  const byPriority = new Map<number, TaskView[]>();
  for (const task of candidates) {
    if (!isOverdue(state, task)) pushTo(byPriority, task.priority, task);
  }

  const turns = openTurns(state);
  for (const [, tasks] of [...byPriority].toSorted(([a], [b]) => a - b)) {
    yield* takeTurns(tasks, turns);
  }
}

const deadlineOf = ({ ready_at_dispatch, waits_at_most }: TaskView): number =>
  ready_at_dispatch + waits_at_most;

const isOverdue = ({ dispatches }: PortfolioView, task: TaskView): boolean =>
  task.status === "ready" && dispatches >= deadlineOf(task);

const compareOverdue = (a: TaskView, b: TaskView): number =>
  deadlineOf(a) - deadlineOf(b) || a.priority - b.priority || a.created - b.created;

/** When each project was served last, counted in dispatches. */
type Turns = { readonly lastByProject: Map<string, number>; turn: number };

function openTurns({ projects, dispatches }: PortfolioView): Turns {
  const lastByProject = new Map<string, number>();
  for (const { project_id, last_dispatch } of Object.values(projects)) {
    lastByProject.set(project_id, last_dispatch);
  }

  return { lastByProject, turn: dispatches };
}

/** The tasks of one priority: the project that was served longest ago gives its oldest task. */
function* takeTurns(tasks: readonly TaskView[], turns: Turns): Generator<TaskView> {
  const queues = new Map<string, TaskView[]>();
  for (const task of tasks.toSorted((a, b) => b.created - a.created)) {
    pushTo(queues, task.project_id, task); // the oldest last, to be popped first
  }

  while (queues.size > 0) {
    const nextProject = findNextProject(queues, turns);
    const queue = queues.get(nextProject);
    const task = queue?.pop();
    if (queue?.length === 0) queues.delete(nextProject);
    if (task === undefined) continue;

    turns.turn += 1;
    turns.lastByProject.set(nextProject, turns.turn);
    yield task;
  }
}

function findNextProject(
  queues: ReadonlyMap<string, readonly TaskView[]>,
  { lastByProject }: Turns,
): string {
  const lastServed = (id: string): number => lastByProject.get(id) ?? 0;
  const oldest = (id: string): number => queues.get(id)?.at(-1)?.created ?? 0;
  const compare = (a: string, b: string): number =>
    lastServed(a) - lastServed(b) || oldest(a) - oldest(b);

  let next: string | undefined;
  for (const id of queues.keys()) {
    if (next === undefined || compare(id, next) < 0) next = id;
  }

  return next ?? "";
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

  function markInspected({ project_id }: TaskView): void {
    leftInProject.set(project_id, (leftInProject.get(project_id) ?? 0) - 1);
  }

  /** How many candidates of a project could start, besides this many that are counted already. */
  function countOthers(project_id: string, counted: number): number {
    const slots = freeSlotsOf(project_id) - counted;
    return Math.max(0, Math.min(slots, leftInProject.get(project_id) ?? 0));
  }

  function countOthersInAll(project_id: string): number {
    let others = 0;
    for (const id of leftInProject.keys()) others += countOthers(id, id === project_id ? 1 : 0);
    return others;
  }

  return {
    markInspected,
    /** The task itself counts. */
    sharers: ({ project_id }: TaskView, slots: number): Sharers => ({
      inProject: () => 1 + countOthers(project_id, 1),
      inAll: () => 1 + Math.min(slots - 1, countOthersInAll(project_id)),
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
