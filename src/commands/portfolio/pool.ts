// pool: `portfolio run`: ticks, workers and the merge queue, until everything is done or a person
// stops it.
//
// Invariants:
//   N1. A portfolio has one pool, which holds a lock of its own; each change locks the journal for
//       a moment only. With a store the pool holds the portfolio's lease there instead; a second
//       pool waits for it, and one that has lost it writes nothing more.
//   N2. A tick first finds out what happened: runs that ended, workers that are gone, batches that
//       landed unrecorded. Then it plans.
//   N3. Whatever ends the pool, the next tick of any pool continues from the journals
//       (recover-tasks.ts).
//   N4. A repository that is gone, full or blocked stops its own tasks only (landings.ts,
//       recover-tasks.ts).
//   N5. Proving and landing do not keep workers waiting: one batch in each repository is under way
//       beside them.
//   N6. Starting a task takes a while: several are started at once, and ticks go on meanwhile.
//       Until all tasks of a plan are started nothing more is dispatched, since a plan counts only
//       those that the journal knows.

import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { PlanAction } from "../../portfolio/planner/plan-actions.ts";
import { type PortfolioView, toQueueKey, type TaskView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { catchRefusals, toFailure, respond, findRetryPolicy } from "../../project/respond.ts";
import { driveRun } from "./drive-run.ts";
import { recordPlan } from "./record-plan.ts";
import { lockPool } from "./lock-pool.ts";
import { beginMerge, type Landings, findRedTargets, settleLandings } from "./landings.ts";
import { recoverTasks } from "./recover-tasks.ts";
import { planPortfolio } from "./plan-portfolio.ts";
import { emptyCopies, makeRoom } from "../../portfolio/worker/collect-copies.ts";
import { dispatch, type WorkerPool } from "../../portfolio/worker/dispatch.ts";
import { type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { clearLeftovers } from "../../portfolio/merge/clear-leftovers.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { restorePages } from "../../portfolio/store/draw.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { countUsage } from "../../portfolio/worker/charge-usage.ts";

const roomCheckMs = 30_000;
const pagesCheckMs = 60_000;
const usageCheckMs = 5_000;
/** A start keeps git and this process busy in turn: so many at once use all cores. */
const startsAtOnceMax = Math.max(2, availableParallelism());
const pollMsDefault = 2_000;

export type PoolInput = {
  readonly jobs?: number | undefined;
  readonly untilIdle?: boolean | undefined;
  readonly isolation?: string | undefined;
  readonly agent?: string | undefined;
  readonly ticksMax?: number | undefined;
  /** Whether workers of a store work on the tasks. */
  readonly fleet?: boolean | undefined;
  readonly everyMs?: number | undefined;
};

type Pool = WorkerPool &
  Landings & {
    readonly input: PoolInput;
    /**
     * Why the disk has no room for new tasks, and when that was measured: measuring copies takes a
     * while.
     */
    room: { readonly measuredMs: number; readonly problem: string | null };
    /** When runs at work were last charged. */
    usageCountedMs: number;
    /** When the pages were last compared with the journal. */
    pagesCheckedMs: number | null;
    /** Ends when the tasks of the last plan are started; null if none are being started (N6). */
    starts: Promise<void> | null;
    /** What went wrong while tasks were started: the pool ends with it. */
    failure: { readonly error: unknown } | null;
    /** The outage that the last tick met; shown once. */
    outage: string | null;
    wake: () => void;
  };

export function runPortfolio(
  context: CommandContext,
  options: PoolInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const warnings: string[] = [];
    const portfolioPaths = requirePortfolio(context);
    const input = {
      ...options,
      fleet: options.fleet === true || readPortfolioMark(portfolioPaths.ownFolder) !== null,
    }; // in a store it stays there
    const isTick = input.ticksMax !== undefined;
    const tell = (warning: string): void => {
      warnings.push(warning);
      if (!isTick) context.show(`! ${warning}`); // a single tick has it in its response; a pool that works for long shows it at once
    };

    const paths: PortfolioPaths = { ...portfolioPaths, tell };
    if (input.agent !== undefined) requireAgents(context.cwd, input.agent);
    if (input.fleet) requireStoreAddress(context.env);
    const release = await lockPool(paths, input.fleet, input);

    try {
      const response = input.fleet
        ? await runWithLease(context, paths, input)
        : await runPool(context, paths, input);

      return {
        ...response,
        ...(isTick ? { warnings: [...warnings, ...(response.warnings ?? [])] } : {}),
        data: { ...response.data, found: warnings },
      };
    } finally {
      release();
    }
  });
}

/** Runs the pool while it has the portfolio's lease in the store (N1). */
async function runWithLease(
  context: CommandContext,
  paths: PortfolioPaths,
  input: PoolInput,
): Promise<CommandResponse> {
  const { planWithLease } = await import("../fleet/planner-lease.ts");
  return planWithLease(
    context,
    paths,
    (leaseContext, leasePaths) => runPool(leaseContext, leasePaths, input),
    {
      isOnce: input.ticksMax !== undefined,
      isolation: input.isolation,
    },
  );
}

async function runPool(
  context: CommandContext,
  paths: PortfolioPaths,
  input: PoolInput,
): Promise<CommandResponse> {
  const pool: Pool = {
    context,
    paths,
    input,
    active: new Map(),
    drive:
      input.fleet === true
        ? (await import("../fleet/drive-elsewhere.ts")).driveElsewhere(driveRun)
        : driveRun,
    merging: new Map(),
    held: new Map(),
    red: new Map(),
    room: { measuredMs: 0, problem: null },
    pagesCheckedMs: null,
    usageCountedMs: systemClock.monotonicMs(),
    starting: new Set(),
    warnings: new Set(),
    starts: null,
    failure: null,
    outage: null,
    hasNews: false,
    wake: () => undefined,
  };

  const doneBefore = await withPortfolio(context, paths, ({ state }) =>
    Promise.resolve(state.totals.tasks_completed_total),
  );

  await clearLeftovers(paths, await readPortfolio(paths));
  try {
    for (
      let ticks = 0;
      !context.interrupted.aborted && ticks < (input.ticksMax ?? Number.POSITIVE_INFINITY);
      ticks++
    ) {
      const wasBusy = listUnderWay(pool, true).length > 0; // what ends during the tick is inspected by the next one
      const { hasChanges, isDueLater } = await tick(pool).catch((error: unknown) =>
        waitOutOutage(pool, error),
      );

      const isIdle =
        !hasChanges &&
        !isDueLater &&
        !wasBusy &&
        !pool.hasNews &&
        listUnderWay(pool, true).length === 0;
      if (isIdle && input.untilIdle === true) await waitUntilAllEnded(pool); // a blocked landing may be tried again right now
      if (isIdle && input.untilIdle === true && !pool.hasNews) break;
      if (!hasChanges && !pool.hasNews) await waitForNews(pool);
    }
  } catch (error) {
    if (context.interrupted.aborted) await waitUntilAllEnded(pool); // workers end by themselves on an interrupt
    throw error;
  }

  await waitUntilAllEnded(pool);
  if (pool.failure !== null) throw pool.failure.error;
  return withPortfolio(context, paths, ({ state }) => {
    emptyCopies(paths, state);
    const heldReasons = [...pool.held.values()].map(({ why }) => why);
    const done = state.totals.tasks_completed_total - doneBefore;
    const left = Object.values(state.tasks).filter(
      ({ status }) => status !== "done" && status !== "canceled",
    ).length;

    return Promise.resolve(
      respond("ok", {
        message: `${done} ${done === 1 ? "task" : "tasks"} done; ${left} left.`,
        result: left === 0 ? "PASS" : "WARN",
        warnings: heldReasons.map((why) => `Landing waits: ${why}`),
        remediation: left === 0 ? [] : ["autopilot portfolio status", "autopilot inbox"],
        data: { done, left, held: heldReasons.length === 0 ? null : heldReasons.join("; ") },
      }),
    );
  });
}

type TickResult = {
  readonly hasChanges: boolean;
  /** Whether something is due by itself later, without a person's doing. */
  readonly isDueLater: boolean;
};

/**
 * The pool waits while an outage keeps it from writing: nothing is lost meanwhile, and no task
 * fails because of it.
 */
function waitOutOutage(pool: Pool, error: unknown): TickResult {
  const { code, message } = toFailure(error);
  if (
    findRetryPolicy(code) !== "always" ||
    pool.context.interrupted.aborted ||
    pool.input.ticksMax !== undefined
  ) {
    throw error;
  }

  if (pool.outage !== message) pool.context.show(`· waits: ${message}`);
  pool.outage = message;
  pool.failure = null;

  return { hasChanges: false, isDueLater: true };
}

/** Waits until something under way ends, an interrupt, or the next poll. */
async function waitForNews(pool: Pool): Promise<void> {
  const { input, context } = pool;
  const woken = new AbortController();
  pool.wake = () => woken.abort();
  const pause = sleep(input.everyMs ?? pollMsDefault, undefined, {
    signal: AbortSignal.any([woken.signal, context.interrupted]),
  }).catch(() => undefined);
  await Promise.race([pause, ...listUnderWay(pool, true)]);
  woken.abort();
}

/**
 * Runs, landings and starts under way. `withoutHeld`: leaves out landings that a person must
 * unblock, and that are only tried again.
 */
const listUnderWay = (
  { active, merging, starts, held }: Pool,
  withoutHeld = false,
): readonly Promise<void>[] => [
  ...[...active.values()].map(({ ended }) => ended),
  ...[...merging].flatMap(([repository, ended]) =>
    withoutHeld && isHeld(held, repository) ? [] : [ended],
  ),
  ...(starts === null ? [] : [starts]),
];

const isHeld = (held: Pool["held"], name: string): boolean =>
  [...held.values()].some(({ repository, isRetried }) => repository === name && !isRetried);

async function waitUntilAllEnded(pool: Pool): Promise<void> {
  while (listUnderWay(pool).length > 0) await Promise.all(listUnderWay(pool));
}

function wakePool(pool: Pool): void {
  pool.hasNews = true;
  pool.wake();
}

/** Finds out what happened, plans, and begins what the plan says (N2). */
async function tick(pool: Pool): Promise<TickResult> {
  const { context, paths, input } = pool;
  if (pool.failure !== null) throw pool.failure.error;
  const hadNews = pool.hasNews;
  pool.hasNews = false;
  const waiting = await settleLandings(pool);
  const red = await findRedTargets(pool);

  const { planned, hasWritten } = await withPortfolio(context, paths, async (portfolio) => {
    cancelWorkers(pool, portfolio.state.tasks);
    const recovered = await recoverTasks(pool, portfolio); // N2
    emptyCopies(paths, portfolio.state);

    if (systemClock.monotonicMs() - pool.usageCountedMs > usageCheckMs) {
      await countUsage(paths, portfolio);
      pool.usageCountedMs = systemClock.monotonicMs();
    }

    const makeRoomForPlan = (quotaMb: number | undefined): string | null =>
      makeRoomWhenDue(pool, portfolio.state, quotaMb);
    const fullPlan = planPortfolio(
      context,
      portfolio,
      { input, paths, red, makeRoom: makeRoomForPlan },
      recovered.gone,
    );

    const isStarting = pool.starts !== null; // N6
    const actions = isStarting
      ? fullPlan.actions.filter((action) => action.do !== "dispatch")
      : fullPlan.actions;

    const planToRecord = { ...fullPlan, actions };
    const hasPlanChanges = await recordPlan(paths, portfolio, planToRecord);

    if (
      pool.pagesCheckedMs === null ||
      systemClock.monotonicMs() - pool.pagesCheckedMs > pagesCheckMs
    ) {
      pool.pagesCheckedMs = systemClock.monotonicMs();
      portfolio.warnings.push(...restorePages(paths, portfolio.state));
    }

    return { planned: planToRecord, hasWritten: recovered.hasWritten || hasPlanChanges };
  });

  pool.outage = null;
  const result = {
    hasChanges: hasWritten || hadNews,
    isDueLater:
      planned.waiting.some(({ code }) => code === "resting" || code === "delayed") ||
      isLandingRetried(pool, planned.actions),
  };
  if (context.interrupted.aborted) return result;
  for (const action of planned.actions) {
    if (action.do === "merge") beginMerge(pool, action, waiting);
  } // N5

  const starts = planned.actions.flatMap((action) => (action.do === "dispatch" ? [action] : []));
  if (starts.length > 0) pool.starts = startTasks(pool, starts);
  return result;
}

/** Whether finished work waits for an outage to end. */
const isLandingRetried = ({ held }: Pool, actions: readonly PlanAction[]): boolean =>
  actions.some(
    (action) => action.do === "merge" && held.get(toQueueKey(action))?.isRetried === true,
  );

/** Starts tasks, several at once; a failure ends the pool at its next tick (N6). */
async function startTasks(
  pool: Pool,
  actions: readonly Extract<PlanAction, { readonly do: "dispatch" }>[],
): Promise<void> {
  const queue = actions.values(); // shared: each of the loops below takes the next action
  let hasChanges = false;

  const startNext = async (): Promise<void> => {
    for (const action of queue) {
      if (pool.context.interrupted.aborted || pool.failure !== null) return;
      hasChanges = (await dispatch(pool, action)) || hasChanges;
      void pool.active.get(action.task_id)?.ended.then(() => wakePool(pool));
    }
  };

  const noteFailure = (error: unknown): void => void (pool.failure ??= { error });
  await Promise.all(Array.from({ length: startsAtOnceMax }, () => startNext().catch(noteFailure)));
  pool.starts = null;
  if (hasChanges || pool.failure !== null) wakePool(pool);
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
    if ((task?.status === "running" && task.run_id === run) || canceledWorkers.has(cancel)) {
      continue;
    }

    context.show(`! ${task_id} is ${task?.status ?? "gone"}; its worker is stopped`);
    canceledWorkers.add(cancel); // it takes a while to end, and the line above is shown once
    cancel();
  }
}

const canceledWorkers = new WeakSet<() => void>();
