// task-changes: the changes of the state that the reducers are made of: a new task, a new status, a
// charge, with every count that depends on them.
// Invariants R1 and on: portfolio/planner/reduce.ts.

import {
  type PortfolioTaskStatus,
  portfolioTransitions,
} from "../../contracts/portfolio/portfolio.ts";
import {
  type PortfolioBudget,
  type PortfolioUsage,
  prioritiesMax,
  type PortfolioChangeOf,
  type TaskFields,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { exactSum } from "../../kit/quantity.ts";
import { invariant } from "../../kit/invariant.ts";
import { parseIsoTime } from "../../kit/iso-time.ts";
import { toBudgetDay } from "./budget-scopes.ts";
import { noUsage, type Portfolio, type Project, type Task } from "./state.ts";

const recentMax = 10;

/** The number and the time of the journal line that makes a change. */
export type Stamp = { readonly seq: number; readonly ts: string };
export type NewTask = Pick<Task, "task_id" | "project_id" | "parent_task_id" | "status"> & {
  readonly fields: TaskFields;
  readonly is_imported?: true;
};

/** The fields of a task that its run is started with: if one is edited, the run is not resumed. */
export const runInputFields: ReadonlySet<string> = new Set([
  "objective",
  "acceptance_criteria",
  "touches",
  "flow",
  "isolation",
]);

/** The statuses in which a task's run, if it has one, can still be resumed. */
const resumableStatuses: ReadonlySet<PortfolioTaskStatus> = new Set([
  "ready",
  "running",
  "blocked_human",
]);

export const mayTransition = (from: PortfolioTaskStatus, to: PortfolioTaskStatus): boolean =>
  portfolioTransitions[from].includes(to);

/** Whether the runner proved every criterion. */
export const isComplete = ({
  proof,
}: {
  readonly proof: { readonly criteria: number; readonly proved: number } | null;
}): boolean => proof !== null && proof.criteria > 0 && proof.proved === proof.criteria;

export function addTask(
  state: Portfolio,
  { task_id, project_id, parent_task_id, status, fields, is_imported }: NewTask,
  stamp: Stamp,
): void {
  invariant(state.tasks[task_id] === undefined, `R4: ${task_id} is new`);
  const project = getProject(state, project_id);
  const task = createInitialTask(fields, stamp);
  task.task_id = task_id;
  task.project_id = project_id;
  task.parent_task_id = parent_task_id;
  task.is_imported = is_imported === true;
  if (fields.link !== undefined) task.link = fields.link;
  if (fields.quoted !== undefined) task.quoted = fields.quoted;
  state.tasks[task_id] = task;
  project.tasks.push(task_id);
  project.changed = stamp.seq;
  state.totals.tasks_created_total += 1;
  registerDependent(state, task);
  if (status !== "proposed") setStatus(state, task, status, stamp);
}

/**
 * Written out, because the engine keeps an object of so many keys as a slow hash table if it is
 * spread together.
 */
const createInitialTask = (fields: TaskFields, stamp: Stamp): Task => ({
  objective: fields.objective,
  acceptance_criteria: deepCopy(fields.acceptance_criteria),
  dependencies: [...fields.dependencies],
  touches: [...fields.touches],
  priority: fields.priority,
  budget: { ...fields.budget },
  agent: fields.agent,
  flow: fields.flow,
  isolation: fields.isolation,
  task_id: "",
  project_id: "",
  parent_task_id: null,
  is_imported: false,
  status: "proposed",
  stage: null,
  created: stamp.seq,
  created_at: stamp.ts,
  changed: stamp.seq,
  changed_at: stamp.ts,
  ready_at_dispatch: 0,
  waits_at_most: 0,
  attempt: 0,
  failures: 0,
  adjustments: 0,
  feedback: null,
  returned_by: null,
  worker_backend: null,
  worker_agent_id: null,
  worker_session_key: null,
  chosen: null,
  run_id: null,
  event_nonce: null,
  ingested: false,
  is_edited: false,
  base: null,
  tip: null,
  copy: null,
  conflicts: [],
  rests_until: null,
  rest_because: null,
  delay: null,
  started_at: null,
  ended_at: null,
  commit: null,
  finished: 0,
  proof: null,
  claim: null,
  summary: null,
  evidence: [],
  blocked_duration_ms: null,
  waits_for: null,
  short: null,
  allowance: null,
  run_spent: noUsage(),
  spent: noUsage(),
  landed: null,
});

export const registerDependent = (state: Portfolio, { task_id, dependencies }: Task): void => {
  for (const id of dependencies) {
    const list = (state.dependents[id] ??= []);
    if (!list.includes(task_id)) list.push(task_id);
  }
};

export function transition(
  state: Portfolio,
  task: Task,
  to: PortfolioTaskStatus,
  stamp: Stamp,
): void {
  invariant(
    mayTransition(task.status, to),
    `R1: ${task.task_id} may go from ${task.status} to ${to}`,
  );

  task.is_imported = false;
  setStatus(state, task, to, stamp);
}

/** The task's run is not resumed, so what it may still use is no longer reserved. */
export function endRun(task: Task): void {
  task.allowance = null;
  task.short = null;
}

/** Raises what the task's run may use in all to at least this. */
export function raiseAllowance(task: Task, allowance: PortfolioBudget): void {
  for (const dimension of ["tokens", "usd"] as const) {
    const amount = allowance[dimension];
    if (amount !== undefined) {
      task.allowance = {
        ...task.allowance,
        [dimension]: Math.max(amount, task.allowance?.[dimension] ?? 0),
      };
    }
  }
}

/** Lets the task's run use this much beside what it has used. */
export function extendAllowance(task: Task, { tokens, usd }: PortfolioBudget): void {
  raiseAllowance(task, {
    ...(tokens === undefined ? {} : { tokens: task.run_spent.tokens + tokens }),
    ...(usd === undefined ? {} : { usd: task.run_spent.usd + usd }),
  });
}

/**
 * The batches that hold a task must not land any more: what is left of each is proved without it.
 */
export function dropBatchesWith(state: Portfolio, task_id: string): void {
  state.batches = state.batches.filter(({ tasks }) => !tasks.includes(task_id));
}

/**
 * Takes a task that has landed out of its batch; the rest of that has landed too, and is recorded
 * next.
 */
export function removeFromBatches(state: Portfolio, task_id: string): void {
  for (const batch of state.batches) batch.tasks = batch.tasks.filter((id) => id !== task_id);
  state.batches = state.batches.filter(({ tasks }) => tasks.length > 0);
}

export const joinFeedback = (summary: string, evidence: readonly string[]): string =>
  [summary, ...evidence].join("\n");

/**
 * Sets the status with everything that follows from it, whether or not the transition is allowed
 * (R1).
 */
export function setStatus(
  state: Portfolio,
  task: Task,
  to: PortfolioTaskStatus,
  stamp: Stamp,
): void {
  if (task.status === "ready") countReady(state, task.priority, -1);
  task.status = to;

  if (to !== "running") task.stage = null;
  if (to !== "running" && to !== "ready") task.delay = null;
  if (!resumableStatuses.has(to)) endRun(task);
  if (task.waits_for !== null) endWait(state, task, task.waits_for, stamp);
  if (to === "ready") becomeReady(state, task);
  if (to === "failed") task.failures += 1;

  countStatus(state, to);
  if (to === "done") recordDone(state, task, stamp);
  markChanged(state, task, stamp);
}

function countReady({ ready }: Portfolio, priority: number, change: number): void {
  ready[priority] = (ready[priority] ?? 0) + change;
}

function countStatus({ totals }: Portfolio, to: PortfolioTaskStatus): void {
  if (to === "failed") totals.tasks_failed_total += 1;
  if (to === "needs_adjustment") totals.tasks_needs_adjustment_total += 1;
  if (to === "blocked_human") totals.tasks_blocked_human_total += 1;
  if (to === "done") totals.tasks_completed_total += 1;
}

function recordDone(state: Portfolio, task: Task, { ts }: Stamp): void {
  const { totals } = state;
  if (!isComplete(task)) totals.verification_incomplete_total += 1;
  totals.cycle_ms += msBetween(task.created_at, ts);
  state.recent = [task.task_id, ...state.recent].slice(0, recentMax);

  for (const id of state.dependents[task.task_id] ?? []) {
    const dependent = state.tasks[id];
    if (dependent?.status === "ready") restartWait(state, dependent);
  }
}

/**
 * A task whose status changes no longer waits for the question that held it up, whatever changed
 * it.
 */
function endWait(state: Portfolio, task: Task, block_id: string, { ts }: Stamp): void {
  const tasks = state.blocks[block_id]?.tasks ?? {};
  const since = tasks[task.task_id]?.since ?? ts;
  task.blocked_duration_ms = (task.blocked_duration_ms ?? 0) + msBetween(since, ts);
  task.waits_for = null;
  delete tasks[task.task_id];
}

/** Never negative: a clock may be set back between the two. */
export const msBetween = (since: string, until: string): number =>
  Math.max(0, (parseIsoTime(until) ?? 0) - (parseIsoTime(since) ?? 0));

function becomeReady(state: Portfolio, task: Task): void {
  countReady(state, task.priority, 1);
  restartWait(state, task);
}

/**
 * From now on it waits for at most as many dispatches as there are ready tasks of its priority or
 * higher.
 */
function restartWait(state: Portfolio, task: Task): void {
  task.ready_at_dispatch = state.dispatches;
  task.waits_at_most = 0;

  for (let priority = 1; priority <= Math.min(task.priority, prioritiesMax); priority++) {
    task.waits_at_most += state.ready[priority] ?? 0;
  }
}

export function markChanged(state: Portfolio, task: Task, { seq, ts }: Stamp): void {
  task.changed = seq;
  task.changed_at = ts;
  markProjectChanged(state, task.project_id, { seq, ts });
}

export function markProjectChanged(
  state: Portfolio,
  project_id: string | null,
  { seq }: Stamp,
): void {
  const project = state.projects[project_id ?? ""];
  if (project !== undefined) project.changed = seq;
}

export const reopenBudget = (state: Portfolio, scope: string): void => {
  state.exhausted = state.exhausted.filter((exhausted) => exhausted !== scope);
};

/**
 * Marks tasks of an edited project that wait for an answer, if the edit may have removed the cause.
 */
export function markWaitingChanged(
  state: Portfolio,
  { tasks }: Project,
  changes: PortfolioChangeOf<"project_updated">["changes"],
  stamp: Stamp,
): void {
  const { repository, target, agent } = changes;
  const changesBranch = repository !== undefined || target !== undefined;
  const isAffected = (task: Task): boolean =>
    changesBranch || (agent !== undefined && task.agent === null);

  markBlockedTasksChanged(state, tasks, stamp, isAffected);
}

/**
 * Marks tasks that wait for the answer to a shared question as changed: then they are tried again
 * without it.
 */
export function markBlockedTasksChanged(
  state: Portfolio,
  tasks: readonly string[],
  stamp: Stamp,
  isAffected: (task: Task) => boolean = () => true,
): void {
  for (const id of tasks) {
    const task = state.tasks[id];
    if (task !== undefined && task.waits_for !== null && isAffected(task)) {
      markChanged(state, task, stamp);
    }
  }
}

/**
 * Charges the new part of a run's whole usage to the task, its project, the portfolio and the day
 * (R2).
 */
export function charge(state: Portfolio, task: Task, usage: PortfolioUsage, ts: string): void {
  const added = {
    tokens: Math.max(0, usage.tokens - task.run_spent.tokens),
    usd: Math.max(0, usage.usd - task.run_spent.usd),
  };
  if (added.tokens > 0 || added.usd > 0) task.delay = null; // its run made progress
  task.run_spent = {
    tokens: Math.max(usage.tokens, task.run_spent.tokens),
    usd: Math.max(usage.usd, task.run_spent.usd),
  };

  const day = (state.days[toBudgetDay(ts)] ??= noUsage());
  for (const spent of [task.spent, getProject(state, task.project_id).spent, state.spent, day]) {
    spent.tokens += added.tokens;
    spent.usd = exactSum(spent.usd, added.usd);
  }
}

export function getProject(state: Portfolio, id: string): Project {
  const project = state.projects[id];
  invariant(project !== undefined, `R4: there is a project ${id}`);
  return project;
}

export function getTask(state: Portfolio, id: string): Task {
  const task = state.tasks[id];
  invariant(task !== undefined, `R4: there is a task ${id}`);
  return task;
}

/**
 * The state keeps a copy of what an entry holds, because the writer of the entry has the same
 * objects.
 */
export function deepCopy<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => deepCopy(item)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => [key, deepCopy(item)]),
  ) as T;
}
