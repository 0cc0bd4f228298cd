// needs-person: lists the tasks that only a person can move on although they ask no question, and
// finished work whose landing is held up.

import { listHeldByBudget, type HeldByBudget } from "./held-by-budget.ts";
import { type HeldLanding, listHeldLandings } from "./held-landings.ts";
import type { PortfolioView, TaskView } from "./state.ts";
import { failuresMax } from "./state.ts";

/** How often the merge queue gives a task back to its agent before a person is asked. */
export const adjustmentsMax = 2;

export type TaskNeedingPerson = {
  readonly task: TaskView;
  /** What happened, in a line. */
  readonly why: string;
  /** What a person can do, the likeliest first. */
  readonly commands: readonly string[];
  /** Since when, if that is not its task's last change. */
  readonly since?: string;
};

/** Whether autopilot tries the task again without a person. */
export function isTriedAgain({ status, failures, returned_by, adjustments }: TaskView): boolean {
  if (status === "failed") return failures < failuresMax;
  return status === "needs_adjustment" && returned_by === "queue" && adjustments < adjustmentsMax;
}

/** Without `now` the time of the last tick counts: pages must follow from the journal alone. */
export const listTasksNeedingPerson = (
  state: PortfolioView,
  now: string = state.heartbeat ?? "",
): readonly TaskNeedingPerson[] => [
  ...listHeldLandings(state).flatMap(findLandingNeed),
  ...listHeldByBudget(state, now).flatMap(findBudgetNeed),
  ...Object.values(state.tasks).flatMap((task) => findTaskNeed(state, task)),
];

/** ` (1 more waits behind it)`; nothing if none does. */
const describeOthers = (count: number): string =>
  count === 0 ? "" : ` (${count} more ${count === 1 ? "waits" : "wait"} behind it)`;

/** A landing that waits is reported once, by the first task of its queue. */
function findLandingNeed({
  held,
  tasks: [task, ...others],
}: HeldLanding): readonly TaskNeedingPerson[] {
  if (task === undefined) return [];
  const othersText = describeOthers(others.length);
  return [
    {
      task,
      why: `it is finished, and landing waits: ${held.because}${othersText}`,
      commands: [held.command],
      since: held.since,
    },
  ];
}

/**
 * A budget that is used up is reported once, by the first task that it holds up: one whose run
 * rests, if there is one.
 */
function findBudgetNeed({
  scope,
  because,
  commands,
  tasks: [task, ...others],
}: HeldByBudget): readonly TaskNeedingPerson[] {
  if (task === undefined) return [];

  const later = scope === "day" ? "; it goes on tomorrow, or once you raise it" : "";
  const why = `${because}${later}${describeOthers(others.length)}`;
  if (task.short === null) return [{ task, why, commands }];

  const restText = task.rest_because ?? "its run rests";
  const diff = `autopilot diff --run ${task.task_id}`;
  const cancel = `autopilot portfolio cancel ${task.task_id}`;
  return [{ task, why: `${why}; ${restText}`, commands: [...commands, diff, cancel] }];
}

/** Empty if the task goes on by itself, is over, or waits for the answer to its question. */
export function findTaskNeed(state: PortfolioView, task: TaskView): readonly TaskNeedingPerson[] {
  const { status } = task;
  if (status === "ready") return findReadyTaskNeed(state, task);

  const hasFailed = status === "failed" || status === "needs_adjustment";
  if (!hasFailed || isTriedAgain(task)) return [];

  const { task_id, failures } = task;
  const problem = status === "failed" ? `it failed ${failures} times` : "it needs an adjustment";
  const commands = [
    `autopilot portfolio retry ${task_id}`,
    `autopilot portfolio edit ${task_id} --objective "…"`,
    `autopilot portfolio cancel ${task_id}`,
  ];
  return [{ task, why: `${problem}${describeLastFeedback(task)}`, commands }];
}

function findReadyTaskNeed(state: PortfolioView, task: TaskView): readonly TaskNeedingPerson[] {
  const { task_id, project_id, dependencies } = task;
  const project = state.projects[project_id];
  if (project?.repository === null) {
    const why = `${project_id} names no repository`;
    return [{ task, why, commands: [`autopilot portfolio edit ${project_id} --repo DIR`] }];
  }

  const canceled = dependencies.find((id) => state.tasks[id]?.status === "canceled");
  if (canceled === undefined) return [];
  const commands = [
    `autopilot portfolio edit ${task_id} --after TASK`,
    `autopilot portfolio cancel ${task_id}`,
  ];
  return [{ task, why: `it depends on ${canceled}, which is canceled`, commands }];
}

const feedbackCharsMax = 300;

/** The result of the last attempt, in a line. */
export function describeLastFeedback({ feedback }: Pick<TaskView, "feedback">): string {
  const [firstLine = ""] = (feedback ?? "").split("\n", 1);
  const line = firstLine.trim().replace(/\.+$/, ""); // it is put into a sentence of ours
  if (line === "") return "";
  if (line.length <= feedbackCharsMax) return `: ${line}`;
  return `: ${line.slice(0, feedbackCharsMax - 1)}…`;
}
