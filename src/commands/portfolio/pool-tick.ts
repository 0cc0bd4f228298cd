// pool-tick: one tick of a pool: finds out what happened, plans, and begins what the plan says.
// Invariants N1 and on: commands/portfolio/pool.ts.

import { availableParallelism } from "node:os";
import type { DispatchAction, Plan, PlanAction } from "../../portfolio/planner/plan-actions.ts";
import { type PortfolioView, toQueueKey, type TaskView } from "../../portfolio/planner/state.ts";
import { restorePages } from "../../portfolio/store/draw.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { countUsage } from "../../portfolio/worker/charge-usage.ts";
import { emptyCopies, makeRoom } from "../../portfolio/worker/collect-copies.ts";
import { dispatch } from "../../portfolio/worker/dispatch.ts";
import { findRetryPolicy, toFailure } from "../../project/respond.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { beginMerge, findRedTargets, settleLandings } from "./landings.ts";
import { planPortfolio } from "./plan-portfolio.ts";
import { type Pool, wakePool } from "./pool-state.ts";
import { recordPlan } from "./record-plan.ts";
import { recoverTasks } from "./recover-tasks.ts";

const roomCheckMs = 30_000;
const pagesCheckMs = 60_000;
const usageCheckMs = 5_000;
/** A start keeps git and this process busy in turn: so many at once use all cores. */
const startsAtOnceMax = Math.max(2, availableParallelism());

type TickResult = {
  readonly hasChanges: boolean;
  /** Whether something is due by itself later, without a person's doing. */
  readonly isDueLater: boolean;
};

type RedTargets = Awaited<ReturnType<typeof findRedTargets>>;

/**
 * A tick; if an outage keeps it from writing, the pool waits instead: nothing is lost meanwhile, and
 * no task fails because of it.
 */
export async function tickOrWait(pool: Pool): Promise<TickResult> {
  try {
    return await tick(pool);
  } catch (error) {
    const { code, message } = toFailure(error);
    const mayWait =
      findRetryPolicy(code) === "always" &&
      !pool.context.interrupted.aborted &&
      pool.input.ticksMax === undefined;
    if (!mayWait) throw error;

    if (pool.outage !== message) pool.context.show(`· waits: ${message}`);
    pool.outage = message;
    pool.failure = null;
    return { hasChanges: false, isDueLater: true };
  }
}

/** N2 */
async function tick(pool: Pool): Promise<TickResult> {
  if (pool.failure !== null) throw pool.failure.error;
  const hadNews = pool.hasNews;
  pool.hasNews = false;

  const waitingRepositories = await settleLandings(pool);
  const red = await findRedTargets(pool);
  const { plan, hasWritten } = await withPortfolio(pool.context, pool.paths, (portfolio) =>
    recoverAndPlan(pool, portfolio, red),
  );

  pool.outage = null;
  const hasChanges = hasWritten || hadNews;
  const isDueLater = isAnythingDueLater(pool, plan); // before a merge begins: it may change what is held
  if (pool.context.interrupted.aborted) return { hasChanges, isDueLater };

  for (const action of plan.actions) {
    if (action.do === "merge") beginMerge(pool, action, waitingRepositories); // N5
  }

  const starts = plan.actions.filter((action) => action.do === "dispatch");
  if (starts.length > 0) pool.starts = startTasks(pool, starts);
  return { hasChanges, isDueLater };
}

/** The part of a tick that has the portfolio's journal to itself. */
async function recoverAndPlan(
  pool: Pool,
  portfolio: OpenPortfolio,
  red: RedTargets,
): Promise<{ readonly plan: Plan; readonly hasWritten: boolean }> {
  const { paths } = pool;
  cancelWorkers(pool, portfolio.state.tasks);
  const recovered = await recoverTasks(pool, portfolio); // N2
  emptyCopies(paths, portfolio.state);
  await countUsageWhenDue(pool, portfolio);

  const plan = planTick(pool, portfolio, red, recovered.gone);
  const hasPlanChanges = await recordPlan(paths, portfolio, plan);
  restorePagesWhenDue(pool, portfolio);

  return { plan, hasWritten: recovered.hasWritten || hasPlanChanges };
}

/** `gone`: tasks that are running by the journal and that no worker works on. */
function planTick(
  pool: Pool,
  portfolio: OpenPortfolio,
  red: RedTargets,
  gone: ReadonlySet<string>,
): Plan {
  const { context, paths, input } = pool;
  const makeRoomForPlan = (quotaMb: number | undefined): string | null =>
    makeRoomWhenDue(pool, portfolio.state, quotaMb);

  const conditions = { input, paths, red, makeRoom: makeRoomForPlan };
  const plan = planPortfolio(context, portfolio, conditions, gone);
  if (pool.starts === null) return plan;

  const actions = plan.actions.filter((action) => action.do !== "dispatch"); // N6
  return { ...plan, actions };
}

async function countUsageWhenDue(pool: Pool, portfolio: OpenPortfolio): Promise<void> {
  if (systemClock.monotonicMs() - pool.usageCountedMs <= usageCheckMs) return;
  await countUsage(pool.paths, portfolio);
  pool.usageCountedMs = systemClock.monotonicMs();
}

function restorePagesWhenDue(pool: Pool, portfolio: OpenPortfolio): void {
  const nowMs = systemClock.monotonicMs();
  if (pool.pagesCheckedMs !== null && nowMs - pool.pagesCheckedMs <= pagesCheckMs) return;
  pool.pagesCheckedMs = nowMs;
  portfolio.warnings.push(...restorePages(pool.paths, portfolio.state));
}

/** Makes room on the disk for new copies, now and then only; returns why there is none. */
function makeRoomWhenDue(
  pool: Pool,
  state: PortfolioView,
  quotaMb: number | undefined,
): string | null {
  const nowMs = systemClock.monotonicMs();
  const isOutdated = pool.room.measuredMs === 0 || nowMs - pool.room.measuredMs > roomCheckMs;
  if (quotaMb !== undefined && isOutdated) {
    pool.room = { measuredMs: nowMs, problem: makeRoom(pool.context, pool.paths, state, quotaMb) };
  }

  return pool.room.problem;
}

/** A worker whose task was canceled, or given to another run, is stopped at once. */
function cancelWorkers({ active, context }: Pool, tasks: Readonly<Record<string, TaskView>>): void {
  for (const [task_id, { run, cancel }] of active) {
    const task = tasks[task_id];
    const isWanted = task?.status === "running" && task.run_id === run;
    if (isWanted || canceledWorkers.has(cancel)) continue;

    context.show(`! ${task_id} is ${task?.status ?? "gone"}; its worker is stopped`);
    canceledWorkers.add(cancel); // it takes a while to end, and the line above is shown once
    cancel();
  }
}

const canceledWorkers = new WeakSet<() => void>();

function isAnythingDueLater({ heldByQueue }: Pool, { waiting, actions }: Plan): boolean {
  const isTaskResting = waiting.some(({ code }) => code === "resting" || code === "delayed");

  const isAfterOutage = (action: PlanAction): boolean =>
    action.do === "merge" && heldByQueue.get(toQueueKey(action))?.isRetried === true;
  return isTaskResting || actions.some(isAfterOutage);
}

/** Starts tasks, several at once; a failure ends the pool at its next tick (N6). */
async function startTasks(pool: Pool, actions: readonly DispatchAction[]): Promise<void> {
  const queue = actions.values(); // shared: each of the loops below takes the next action
  let hasChanges = false;

  const startNext = async (): Promise<void> => {
    for (const action of queue) {
      if (pool.context.interrupted.aborted || pool.failure !== null) return;
      const hasWritten = await dispatch(pool, action);
      hasChanges = hasChanges || hasWritten;
      void pool.active.get(action.task_id)?.ended.then(() => wakePool(pool));
    }
  };

  const noteFailure = (error: unknown): void => {
    pool.failure ??= { error };
  };

  const loops = Array.from({ length: startsAtOnceMax }, () => startNext().catch(noteFailure));
  await Promise.all(loops);
  pool.starts = null;
  if (hasChanges || pool.failure !== null) wakePool(pool);
}
