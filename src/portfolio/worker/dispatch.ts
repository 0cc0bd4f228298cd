// dispatch: starts a worker for a task: prepares its copy, journals the dispatch, drafts the run
// and drives it. A task that cannot be started is tried again, or a person is asked.
// Invariants K1 and on: portfolio/worker/prepare-task.ts.

import type {
  PortfolioBudget,
  PortfolioChange,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { portfolioAgentDefault, portfolioBackendDefault } from "../../contracts/config-defaults.ts";
import type { DispatchAction } from "../planner/plan-actions.ts";
import { isApproved } from "../planner/questions.ts";
import type { TaskView } from "../planner/state.ts";
import { stopAtOnce, type CommandContext } from "../../project/command-context.ts";
import { toFailure } from "../../project/respond.ts";
import { type PortfolioPaths, requirePlanner } from "../store/folder.ts";
import { readPortfolio } from "../store/fold.ts";
import { withPortfolio } from "../store/open.ts";
import { withHub } from "./exchange-for.ts";
import { tryAgainOrAsk } from "./try-again.ts";
import { findUnchargedUsage } from "./charge-usage.ts";
import type { Drive } from "./task-runs.ts";
import { prepareTask, type PreparedTask, type TaskToPrepare } from "./prepare-task.ts";
import { eraseSync } from "../../workspace/folder.ts";

const systemFields = { actor: "system", reason_code: "ok" } as const;
const plannerFields = { actor: "planner", reason_code: "ok" } as const;

export type WorkerPool = {
  readonly context: CommandContext;
  readonly paths: PortfolioPaths;
  readonly input: { readonly isolation?: string | undefined; readonly agent?: string | undefined };
  /** Workers of this process, by task, since runs of two copies may have the same id. */
  readonly active: Map<string, Worker>;
  /** Tasks whose worker is just being started. */
  readonly starting: Set<string>;
  readonly drive: Drive;
  /** Warnings that a worker has shown: many runs on one machine would repeat them. */
  readonly warnings: Set<string>;
};

export type Worker = {
  readonly run: string;
  readonly ended: Promise<void>;
  readonly cancel: () => void;
};

/** Which task to dispatch, with which agent, and what its run may use. */
type DispatchOrder = Pick<DispatchAction, "task_id" | "agent" | "allowance">;

/** Starts a worker for a task. Returns whether anything was journaled. */
export async function dispatch(pool: WorkerPool, order: DispatchOrder): Promise<boolean> {
  const { task_id } = order;
  if (pool.starting.has(task_id)) return false;
  pool.starting.add(task_id); // until its worker is active: a task that is running by the journal without a worker counts as gone

  try {
    return await prepareAndStart(pool, order);
  } finally {
    pool.starting.delete(task_id);
  }
}

async function prepareAndStart(pool: WorkerPool, order: DispatchOrder): Promise<boolean> {
  const { task_id } = order;
  const state = await readPortfolio(pool.paths);
  const task = structuredClone(state.tasks[task_id]); // as it is now: the state goes on changing
  const project = structuredClone(state.projects[task?.project_id ?? ""]);
  if (task === undefined || project === undefined || pool.active.has(task_id)) return false;
  if (isApproved(state, task) && task.commit !== null) {
    return queueApproved(pool, task, task.commit);
  }

  const prepared = await tryToPrepare(pool, { task, project, state }, order);
  if (prepared === null) return true;

  const { run, copy } = prepared;
  if (!(await journalDispatch(pool, prepared, order))) {
    if (run !== task.run_id) eraseSync(copy);
    return false;
  }

  if (!(await tryToBegin(pool, task_id, prepared))) return true;
  await requirePlanner(pool.paths); // drafting takes a while

  pool.context.show(describeStart(task, prepared, order.agent));
  startWorker(pool, prepared.context, task_id, { run, copy });
  return true;
}

type PreparedDispatch = PreparedTask & { readonly context: CommandContext };

/** Null if it failed: then the task is tried again, or a person is asked. */
async function tryToPrepare(
  pool: WorkerPool,
  taskFacts: TaskToPrepare,
  { task_id, agent, allowance }: DispatchOrder,
): Promise<PreparedDispatch | null> {
  const { paths, input } = pool;
  const { state, project } = taskFacts;

  try {
    const context = withHub(pool.context, paths, state, project.repository);
    await paths.planner?.unbrought.get(task_id)?.();
    paths.planner?.unbrought.delete(task_id);

    const request = { isolation: input.isolation, agent, allowance };
    return { ...(await prepareTask(context, paths, taskFacts, request)), context };
  } catch (error) {
    await tryAgainOrAsk(pool, task_id, "start", toFailure(error));
    return null;
  }
}

/** Journals which run works on the task from now on (K1). False if another process was quicker. */
async function journalDispatch(
  { paths }: WorkerPool,
  prepared: PreparedDispatch,
  { task_id, agent: chosen, allowance }: DispatchOrder,
): Promise<boolean> {
  return withPortfolio(prepared.context, paths, async ({ state, write }) => {
    const task = state.tasks[task_id];
    if (task?.status !== "ready" && task?.stage !== "resting") return false;

    const isSameRun = prepared.run === task.run_id;
    const usageChanges = isSameRun ? [] : await findUnchargedUsage(paths, task);
    await write(...usageChanges, createDispatch(task_id, { ...prepared, chosen, allowance }));
    return true;
  });
}

/**
 * Drafts the run that the journal names now (K5). False if that failed: after a question the task
 * begins with a new run; if it is tried again, it keeps this run's name.
 */
async function tryToBegin(
  pool: WorkerPool,
  task_id: string,
  { begin, copy, isResumed }: PreparedDispatch,
): Promise<boolean> {
  try {
    await begin();
    return true;
  } catch (error) {
    const next = await tryAgainOrAsk(pool, task_id, "start", toFailure(error));
    if (next === "asked" && !isResumed) eraseSync(copy);
    return false;
  }
}

function describeStart(
  { task_id, chosen: lastChosen }: TaskView,
  { run, agent, isResumed }: PreparedTask,
  chosen: string,
): string {
  const startText = `▶ ${task_id}: ${isResumed ? "resumes" : "starts"} ${run}`;
  if (lastChosen === null || lastChosen === chosen) return startText;
  return `${startText} with ${agent}, in place of ${lastChosen}`;
}

/** Drives the run in the background, and adds it to the workers until it ends. */
function startWorker(
  pool: WorkerPool,
  context: CommandContext,
  task_id: string,
  { run, copy }: Pick<PreparedTask, "run" | "copy">,
): void {
  const cancelled = new AbortController();
  const taskContext: CommandContext = {
    ...context,
    show: (line) => showOfTask(pool, context, task_id, line),
    showLive: () => undefined,
    interrupted: AbortSignal.any([context.interrupted, cancelled.signal]),
  };

  const ended = driveToEnd(pool, taskContext, task_id, { run, copy })
    .catch((error: unknown) => context.show(`! ${task_id}: ${toFailure(error).message}`))
    .finally(() => pool.active.delete(task_id));

  pool.active.set(task_id, { run, ended, cancel: () => cancelled.abort(stopAtOnce) });
}

/** Shows a line of a task's run; a warning only once, whichever run shows it first. */
function showOfTask(
  { warnings }: WorkerPool,
  context: CommandContext,
  task_id: string,
  line: string,
): void {
  if (warnings.has(line)) return;
  if (line.startsWith("! ")) warnings.add(line);
  context.show(`${task_id} │ ${line}`);
}

async function driveToEnd(
  pool: WorkerPool,
  context: CommandContext,
  task_id: string,
  { run, copy }: Pick<PreparedTask, "run" | "copy">,
): Promise<void> {
  const failure = await pool.drive(context, copy, run).catch(toFailure);
  if (failure !== null && !context.interrupted.aborted) {
    await tryAgainOrAsk(pool, task_id, "start", failure);
  }

  await chargeCanceled(pool, task_id, run);
}

/**
 * Charges a worker whose task was canceled or taken back for what it used until it stopped; all
 * others are charged with their result.
 */
async function chargeCanceled(
  { context, paths }: WorkerPool,
  task_id: string,
  run: string,
): Promise<void> {
  const { tasks } = await readPortfolio(paths);
  const task = tasks[task_id];
  if (task === undefined || task.run_id !== run || task.status === "running") return;

  await withPortfolio(context, paths, async ({ state, write }) => {
    const currentTask = state.tasks[task_id];
    if (currentTask?.run_id !== run) return;

    const changes = await findUnchargedUsage(paths, currentTask);
    if (changes.length > 0) await write(...changes);
  });
}

type DispatchFacts = Pick<
  PreparedTask,
  "run" | "nonce" | "agent" | "base" | "tip" | "copy" | "conflicts"
> & {
  readonly chosen: string | null;
  readonly allowance: PortfolioBudget;
};

const createDispatch = (
  task_id: string,
  { run, nonce, agent, chosen, base, tip, copy, conflicts, allowance }: DispatchFacts,
): PortfolioChange => ({
  ...plannerFields,
  event: "task_dispatched",
  task_id,
  run_id: run,
  event_nonce: nonce,
  worker_backend: portfolioBackendDefault,
  worker_agent_id: agent,
  worker_session_key: `worker-${task_id}`,
  ...(chosen === null ? {} : { agent: chosen }),
  base,
  ...(tip === null ? {} : { tip }),
  copy,
  ...(conflicts.length === 0 ? {} : { conflicts: [...conflicts] }),
  ...(Object.keys(allowance).length === 0 ? {} : { allowance }),
});

/** Queues work that a person has approved; no agent runs again. */
async function queueApproved(
  { context, paths }: WorkerPool,
  task: TaskView,
  commit: string,
): Promise<boolean> {
  const { task_id } = task;
  const run_id = task.run_id ?? "";
  const dispatched = createDispatch(task_id, {
    run: run_id,
    nonce: task.event_nonce ?? "",
    agent: task.worker_agent_id ?? portfolioAgentDefault,
    chosen: task.chosen,
    base: task.base ?? "",
    tip: null,
    copy: task.copy ?? "",
    conflicts: task.conflicts,
    allowance: {},
  });
  const queued = { ...systemFields, event: "merge_queued", task_id, run_id, commit } as const;

  await withPortfolio(context, paths, async ({ state, write }) => {
    if (state.tasks[task_id]?.status === "ready") await write(dispatched, queued);
  });

  return true;
}
