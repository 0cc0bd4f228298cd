// dispatch: starts a worker for a task: prepares its copy, journals the dispatch, drafts the run
// and drives it. A task that cannot be started is tried again, or a person is asked.
// Invariants K1 and on: portfolio/worker/prepare-task.ts.

import type { PortfolioBudget, PortfolioChange } from "../../contracts/portfolio-journal.ts";
import type { DispatchAction } from "../planner/plan-actions.ts";
import { isApproved } from "../planner/questions.ts";
import type { TaskView } from "../planner/state.ts";
import { atOnce, type CommandContext } from "../../project/command-context.ts";
import { toFailure } from "../../project/respond.ts";
import { type PortfolioPaths, requirePlanner } from "../store/folder.ts";
import { readPortfolio } from "../store/fold.ts";
import { withPortfolio } from "../store/open.ts";
import { withHub } from "./exchange-for.ts";
import { tryAgainOrAsk } from "./try-again.ts";
import { findUnchargedUsage } from "./charge-usage.ts";
import { agentDefault, backendDefault } from "./run-input.ts";
import { type Drive } from "./task-runs.ts";
import { prepareTask, type PreparedTask } from "./prepare-task.ts";
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

async function prepareAndStart(
  pool: WorkerPool,
  { task_id, agent: chosen, allowance }: DispatchOrder,
): Promise<boolean> {
  const { paths, input, active } = pool;
  const state = await readPortfolio(paths);
  const task = structuredClone(state.tasks[task_id]); // as it is now: the state goes on changing
  const project = task === undefined ? undefined : structuredClone(state.projects[task.project_id]);
  if (task === undefined || project === undefined || active.has(task_id)) return false;
  if (isApproved(state, task) && task.commit !== null) {
    return queueApproved(pool, task, task.commit);
  }

  let context = pool.context;
  let prepared: PreparedTask;

  try {
    context = withHub(context, paths, state, project.repository);
    await paths.planner?.unbrought.get(task_id)?.();
    paths.planner?.unbrought.delete(task_id);
    prepared = await prepareTask(
      context,
      paths,
      { task, project, state },
      { isolation: input.isolation, agent: chosen, allowance },
    );
  } catch (error) {
    await tryAgainOrAsk(pool, task_id, "start", toFailure(error));
    return true;
  }

  const { run, copy, isResumed } = prepared;
  const isJournaled = await withPortfolio(context, paths, async (portfolio) => {
    const current = portfolio.state.tasks[task_id];
    if (current?.status !== "ready" && current?.stage !== "resting") return false; // another process was quicker
    const usageChanges = run === current.run_id ? [] : await findUnchargedUsage(paths, current);
    await portfolio.write(
      ...usageChanges,
      createDispatch(task_id, { ...prepared, chosen, allowance }),
    ); // K1

    return true;
  });
  if (!isJournaled) {
    if (run !== task.run_id) eraseSync(copy);
    return false;
  }

  try {
    await prepared.begin(); // K5
  } catch (error) {
    // After a question the task begins with a new run; if it is tried again, it keeps this run's
    // name.
    if ((await tryAgainOrAsk(pool, task_id, "start", toFailure(error))) === "asked" && !isResumed) {
      eraseSync(copy);
    }

    return true;
  }

  await requirePlanner(paths); // drafting takes a while
  const insteadText =
    task.chosen !== null && task.chosen !== chosen
      ? ` with ${prepared.agent}, in place of ${task.chosen}`
      : "";

  context.show(`▶ ${task_id}: ${isResumed ? "resumes" : "starts"} ${run}${insteadText}`);
  startWorker(pool, context, task_id, { run, copy });
  return true;
}

/** Drives the run in the background, and adds it to the workers until it ends. */
function startWorker(
  pool: WorkerPool,
  context: CommandContext,
  task_id: string,
  { run, copy }: Pick<PreparedTask, "run" | "copy">,
): void {
  const { active, warnings } = pool;
  const cancelled = new AbortController();

  const taskContext: CommandContext = {
    ...context,
    show: (line) => {
      if (warnings.has(line)) return;
      if (line.startsWith("! ")) warnings.add(line);
      context.show(`${task_id} │ ${line}`);
    },
    live: () => undefined,
    interrupted: AbortSignal.any([context.interrupted, cancelled.signal]),
  };
  const ended = pool
    .drive(taskContext, copy, run)
    .catch(toFailure)
    .then((failure) =>
      failure === null || taskContext.interrupted.aborted
        ? undefined
        : tryAgainOrAsk(pool, task_id, "start", failure),
    )
    .then(() => chargeCanceled(pool, task_id, run))
    .catch((error: unknown) => context.show(`! ${task_id}: ${toFailure(error).message}`))
    .finally(() => active.delete(task_id));

  active.set(task_id, { run, ended, cancel: () => cancelled.abort(atOnce) });
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
  const task = (await readPortfolio(paths)).tasks[task_id];
  if (task === undefined || task.run_id !== run || task.status === "running") return;
  await withPortfolio(context, paths, async ({ state, write }) => {
    const currentTask = state.tasks[task_id];
    const changes = currentTask?.run_id === run ? await findUnchargedUsage(paths, currentTask) : [];
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
  worker_backend: backendDefault,
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
  await withPortfolio(context, paths, async ({ state, write }) => {
    if (state.tasks[task.task_id]?.status !== "ready") return;
    const lastDispatch = {
      run: task.run_id ?? "",
      nonce: task.event_nonce ?? "",
      agent: task.worker_agent_id ?? agentDefault,
      chosen: task.chosen,
      base: task.base ?? "",
      tip: null,
      copy: task.copy ?? "",
      conflicts: task.conflicts,
      allowance: {},
    };
    await write(createDispatch(task.task_id, lastDispatch), {
      ...systemFields,
      event: "merge_queued",
      task_id: task.task_id,
      run_id: lastDispatch.run,
      commit,
    });
  });

  return true;
}
