// portfolio-page: the state of a portfolio, as pages show it: projects by state, the merge queue,
// workers, and why the rest waits.

import type {
  PortfolioBudget,
  PortfolioUsage,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import { toBudgetDay } from "../../portfolio/planner/budget-scopes.ts";
import { listTasksNeedingPerson } from "../../portfolio/planner/needs-person.ts";
import {
  listOpenBlocks,
  type PortfolioView,
  toQueueKey,
  type TaskView,
} from "../../portfolio/planner/state.ts";
import { type StatusCounts, countByStatus, computeMetrics } from "../../portfolio/views/metrics.ts";
import { describePhase } from "../../portfolio/views/pages.ts";

export type PortfolioTask = {
  readonly id: string;
  readonly project: string;
  readonly title: string;
  readonly status: string;
  readonly key: string | null;
  readonly at: string | null;
  readonly note: string;
};

export type PortfolioPage = {
  readonly at: string;
  readonly name: string;
  readonly paused: boolean;
  readonly planned_at: string | null;
  readonly counts: StatusCounts;
  /** Questions and tasks that wait for a person. */
  readonly needs_you: number;
  readonly spent: PortfolioUsage;
  readonly budget: PortfolioBudget;
  readonly today: PortfolioUsage;
  readonly day_budget: PortfolioBudget;
  readonly metrics: ReturnType<typeof computeMetrics>;
  readonly projects: readonly {
    readonly id: string;
    readonly name: string;
    readonly priority: number;
    readonly phase: string;
    readonly paused: boolean;
    readonly counts: StatusCounts;
    readonly spent: PortfolioUsage;
    readonly budget: PortfolioBudget;
  }[];
  readonly queue: readonly PortfolioTask[];
  /** Tasks of a batch that passed on the merged tree and is landing. */
  readonly batch: readonly string[];
  readonly returned: readonly PortfolioTask[];
  readonly landed: readonly PortfolioTask[];
  /** Age in milliseconds since the run's last line, by this machine's clock. */
  readonly workers: readonly (PortfolioTask & {
    readonly agent: string;
    readonly age_ms: number | null;
    readonly alive: boolean;
    readonly is_resting: boolean;
  })[];
  readonly waiting: readonly { readonly because: string; readonly count: number }[];
};

/** When the run of a task last wrote a line, and whether a process works on it. */
export type WorkerActivity = { readonly updatedAt: string; readonly isAlive: boolean };

const rowsShownMax = 20;

/**
 * Builds the page from the folded portfolio; `waiting` is why each task that is ready isn't
 * started.
 */
export function buildPortfolioPage(
  state: PortfolioView,
  waiting: readonly { readonly because: string }[],
  activityOf: (task: TaskView) => WorkerActivity | null,
  now: string,
): PortfolioPage {
  const tasks = Object.values(state.tasks);
  const atWork = tasks.filter(({ status, stage }) => status === "running" && stage !== "queued");
  const workers = atWork.slice(0, rowsShownMax);

  return {
    at: now,
    name: state.name,
    paused: state.paused,
    planned_at: state.heartbeat,
    counts: countByStatus(state),
    needs_you: listOpenBlocks(state).length + listTasksNeedingPerson(state).length,
    spent: state.spent,
    budget: state.budget,
    today: state.days[toBudgetDay(now)] ?? { tokens: 0, usd: 0 },
    day_budget: state.day_budget,
    metrics: computeMetrics(state),
    projects: listProjects(state),
    queue: listQueue(state, tasks),
    batch: state.batches.flatMap((batch) => batch.tasks),
    returned: listReturned(tasks),
    landed: listLanded(tasks),
    workers: workers.map((task) => workerRow(task, activityOf(task), now)),
    waiting: countReasons(waiting),
  };
}

function listProjects(state: PortfolioView): PortfolioPage["projects"] {
  const projects = Object.values(state.projects).map((project) => ({
    id: project.project_id,
    name: project.name,
    priority: project.priority,
    phase: describePhase(state, project),
    paused: project.paused,
    counts: countByStatus(state, project.tasks),
    spent: project.spent,
    budget: project.budget,
  }));

  return projects.toSorted((a, b) => a.priority - b.priority);
}

function listQueue(state: PortfolioView, tasks: readonly TaskView[]): readonly PortfolioTask[] {
  const queued = tasks
    .filter(({ stage }) => stage === "queued")
    .toSorted((a, b) => a.priority - b.priority || a.finished - b.finished)
    .slice(0, rowsShownMax);

  return queued.map((task) => taskRow(task, whyLandingWaits(state, task) ?? "waits to be merged"));
}

function listReturned(tasks: readonly TaskView[]): readonly PortfolioTask[] {
  const returned = tasks.filter(({ status, returned_by }) => {
    const isReadyAgain = status === "ready" && returned_by !== null;
    return status === "needs_adjustment" || isReadyAgain;
  });

  return takeNewest(returned).map((task) => taskRow(task, task.feedback ?? "sent back"));
}

function listLanded(tasks: readonly TaskView[]): readonly PortfolioTask[] {
  const landed = tasks.filter((task) => task.landed !== null);
  return takeNewest(landed).map((task) => taskRow(task, task.summary ?? "landed"));
}

const takeNewest = (tasks: readonly TaskView[]): readonly TaskView[] =>
  tasks.toSorted((a, b) => b.changed - a.changed).slice(0, rowsShownMax);

function workerRow(
  task: TaskView,
  activity: WorkerActivity | null,
  now: string,
): PortfolioPage["workers"][number] {
  const isResting = task.stage === "resting";
  const restReason = task.delay?.because ?? task.rest_because ?? "rests";
  const nowMs = parseIsoTime(now) ?? 0;
  const updatedMs = parseIsoTime(activity?.updatedAt ?? "");

  return {
    ...taskRow(task, isResting ? restReason : "at work"),
    agent: task.agent ?? task.worker_agent_id ?? "",
    age_ms: updatedMs === null ? null : Math.max(0, nowMs - updatedMs),
    alive: activity?.isAlive ?? false,
    is_resting: isResting,
  };
}

/** How many tasks wait for the same reason, the most frequent first. */
function countReasons(
  waiting: readonly { readonly because: string }[],
): readonly { readonly because: string; readonly count: number }[] {
  const countsByReason = new Map<string, number>();
  for (const { because } of waiting) {
    countsByReason.set(because, (countsByReason.get(because) ?? 0) + 1);
  }

  const counts = [...countsByReason].map(([because, count]) => ({ because, count }));
  return counts.toSorted((a, b) => b.count - a.count);
}

const whyLandingWaits = (state: PortfolioView, { project_id }: TaskView): string | null => {
  const obstacle = state.held[toQueueKey(state.projects[project_id])];
  return obstacle === undefined ? null : `landing waits: ${obstacle.because}; ${obstacle.command}`;
};

/** The key under which pages find a task's run; null before it has one. */
export const findRunKey = ({
  task_id,
  run_id,
}: Pick<TaskView, "task_id" | "run_id">): string | null =>
  run_id === null ? null : `${task_id}:${run_id}`;

const taskRow = (task: TaskView, note: string): PortfolioTask => ({
  id: task.task_id,
  project: task.project_id,
  title: task.objective,
  status: task.status,
  key: findRunKey(task),
  at: task.changed_at,
  note,
});
