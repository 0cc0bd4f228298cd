// pool: `portfolio run`: ticks, workers and the merge queue, until everything is done or a person stops it.
//
// Invariants:
//   N1. One pool a portfolio: it holds its own lock; every change takes the journal for a moment only. With a store it holds the
//       portfolio's lease there instead; a second pool waits for it, and one that has lost it writes nothing more.
//   N2. A tick first looks at what is: runs that ended, workers that are gone, batches that landed unrecorded. Then it plans.
//   N3. Whatever ends the pool, the next tick of any pool goes on from the journals.
//   N4. One repository that is gone, full or held up stops its own tasks only.
//   N5. Proving and landing do not keep workers waiting: one batch a repository is under way beside them.
//   N6. What holds a landing up is said once, and again only when it changes.
//   N7. Starting a task takes a while: some are started at once, and ticks go on beside them. Until all of a plan are started nothing more is
//       dispatched, since a plan counts only those that the journal knows.

import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { Action } from "../../portfolio/planner/plan-actions.ts";
import { type PortfolioView, queueOf, type TaskView } from "../../portfolio/planner/state.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { go } from "../go.ts";
import { resume } from "../resume.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import { portfolioMark } from "../../fleet/shared-mark.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { catchRefusals, toFailure, respond, findRetryPolicy } from "../../project/respond.ts";
import { recordPlan } from "./record-plan.ts";
import { holdPool } from "./hold-pool.ts";
import { beginMerge, type Landings, redTargets, settle } from "./landings.ts";
import { lookAtWorkers } from "./look-at-workers.ts";
import { planFor } from "./plan-for.ts";
import { emptyCopies, whyNoRoom } from "../../portfolio/worker/collect-copies.ts";
import { dispatch, type Workers } from "../../portfolio/worker/dispatch.ts";
import { type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { clearLeftovers } from "../../portfolio/merge/leftovers.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { restorePages } from "../../portfolio/store/draw.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { countUsage } from "../../portfolio/worker/charge-usage.ts";
import { type Drive, homeOfCopy } from "../../portfolio/worker/worker.ts";

const roomEveryMs = 30_000;
const pagesEveryMs = 60_000;
const usageEveryMs = 5_000;
const startsAtOnce = Math.max(2, availableParallelism()); // starts are git and this process in turn: so many keep the cores busy

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

type Pool = Workers &
  Landings & {
    readonly input: PoolInput;
    /** Why nothing new may start, and when that was found out: measuring copies takes a while. */
    room: { readonly at: number; readonly why: string | null };
    /** When runs at work were last charged. */
    usageAt: number;
    /** When the pages were last compared with the journal. */
    pagesAt: number | null;
    /** Tasks of a plan that are being given to workers. N7 */
    starts: Promise<void> | null;
    /** What went wrong there: the pool ends with it. */
    failure: { readonly error: unknown } | null;
    /** The outage that its last tick met. */
    waitsFor: string | null;
    wake: () => void;
  };

export function runPortfolio(context: CommandContext, options: PoolInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const warnings: string[] = [];
    const own = requirePortfolio(context);
    const input = { ...options, fleet: options.fleet === true || portfolioMark(own.own) !== null }; // one that is in a store stays there
    const paths: PortfolioPaths = {
      ...own,
      // A single tick says it in its response; a pool that works for long says it at once.
      tell: (warning) => void (warnings.push(warning), input.ticksMax === undefined && context.show(`! ${warning}`)),
    };
    if (input.agent !== undefined) requireAgents(context.cwd, input.agent);
    if (input.fleet) requireStoreAddress(context.env);
    const release = await holdPool(paths, input.fleet, input);
    try {
      const plan = (planning: CommandContext, at: PortfolioPaths): Promise<CommandResponse> => work(planning, at, input);
      const response = input.fleet
        ? await (
            await import("../fleet/planner-lease.ts")
          ).planWithLease(context, paths, plan, {
            isOnce: input.ticksMax !== undefined,
            isolation: input.isolation,
          })
        : await plan(context, paths);
      const isTick = input.ticksMax !== undefined;
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

async function work(context: CommandContext, paths: PortfolioPaths, input: PoolInput): Promise<CommandResponse> {
  const pool: Pool = {
    context,
    paths,
    input,
    active: new Map(),
    drive: input.fleet === true ? (await import("../fleet/drive-elsewhere.ts")).driveElsewhere(driveRun) : driveRun,
    merging: new Map(),
    held: new Map(),
    red: new Map(),
    room: { at: 0, why: null },
    pagesAt: null,
    usageAt: systemClock.monotonicMs(),
    starting: new Set(),
    warnings: new Set(),
    starts: null,
    failure: null,
    waitsFor: null,
    hasNews: false,
    wake: () => undefined,
  };
  const before = await withPortfolio(context, paths, ({ state }) => Promise.resolve(state.totals.tasks_completed_total));
  await clearLeftovers(paths, await readPortfolio(paths));
  try {
    for (let ticks = 0; !context.interrupted.aborted && ticks < (input.ticksMax ?? Number.POSITIVE_INFINITY); ticks++) {
      const wasBusy = underWay(pool, true).length > 0; // what ended during the tick has not been inspected yet
      const { moved, goesOn } = await tick(pool).catch((error: unknown) => sitOut(pool, error));
      const isIdle = !moved && !goesOn && !wasBusy && !pool.hasNews && underWay(pool, true).length === 0;
      if (isIdle && input.untilIdle === true) await allEnded(pool); // a landing that was held up may still be
      if (isIdle && input.untilIdle === true && !pool.hasNews) break;
      if (!moved && !pool.hasNews) await rest(pool);
    }
  } catch (error) {
    if (context.interrupted.aborted) await allEnded(pool); // they end by themselves then
    throw error;
  }
  await allEnded(pool);
  if (pool.failure !== null) throw pool.failure.error;
  return withPortfolio(context, paths, ({ state }) => {
    emptyCopies(paths, state);
    const heldReasons = [...pool.held.values()].map(({ why }) => why);
    const done = state.totals.tasks_completed_total - before;
    const left = Object.values(state.tasks).filter(({ status }) => status !== "done" && status !== "canceled").length;
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

/** An outage that keeps the pool from writing is waited out: nothing is lost meanwhile, and no task is to blame. */
function sitOut(pool: Pool, error: unknown): { readonly moved: boolean; readonly goesOn: boolean } {
  const { code, message } = toFailure(error);
  if (findRetryPolicy(code) !== "always" || pool.context.interrupted.aborted || pool.input.ticksMax !== undefined) throw error;
  if (pool.waitsFor !== message) pool.context.show(`· waits: ${message}`);
  pool.waitsFor = message;
  pool.failure = null;
  return { moved: false, goesOn: true };
}

/** It is in this process, so whatever kills the pool kills its workers; their journals know the rest. */
const driveRun: Drive = async (context, copy, run) => {
  const here: CommandContext = { ...context, cwd: copy, isTerminal: false, sendsNoNotices: true, ask: () => Promise.resolve(null) };
  const order = { words: [], yes: true, run, leavesParked: true, isCopy: true } as const;
  const before = await readRunOrNull(homeOfCopy(copy), run);
  const status = before?.view.status ?? "draft";
  if (status === "completed" || status === "stopped") return null;
  const { result, message, reason_code: code } = status === "draft" ? await go(here, order) : await resume(here, { ...order, now: true });
  const after = await readRunOrNull(homeOfCopy(copy), run);
  return result === "FAIL" && after?.view.seq === before?.view.seq ? { code, message } : null;
};

/** Waits until a run ends, an interrupt, or the next poll. */
async function rest(pool: Pool): Promise<void> {
  const { input, context } = pool;
  const woken = new AbortController();
  pool.wake = () => woken.abort();
  const pause = sleep(input.everyMs ?? 2_000, undefined, { signal: AbortSignal.any([woken.signal, context.interrupted]) }).catch(
    () => undefined,
  );
  await Promise.race([pause, ...underWay(pool, true)]);
  woken.abort();
}

/** `isBusy`: without landings that were held up before and are only tried again, for what holds them up is the user's to change. */
const underWay = ({ active, merging, starts, held }: Pool, isBusy = false): readonly Promise<void>[] => [
  ...[...active.values()].map(({ ended }) => ended),
  ...[...merging].flatMap(([repository, ended]) => (isBusy && isHeld(held, repository) ? [] : [ended])),
  ...(starts === null ? [] : [starts]),
];

const isHeld = (held: Pool["held"], name: string): boolean =>
  [...held.values()].some(({ repository, goesOn }) => repository === name && !goesOn);

async function allEnded(pool: Pool): Promise<void> {
  while (underWay(pool).length > 0) await Promise.all(underWay(pool));
}

function wakePool(pool: Pool): void {
  pool.hasNews = true;
  pool.wake();
}

/** One look at everything; whether something was done, and whether something goes on by itself later. */
async function tick(pool: Pool): Promise<{ readonly moved: boolean; readonly goesOn: boolean }> {
  const { context, paths, input } = pool;
  if (pool.failure !== null) throw pool.failure.error;
  const hadNews = pool.hasNews;
  pool.hasNews = false;
  const waiting = await settle(pool); // N2
  const red = await redTargets(pool);
  const { planned, moved } = await withPortfolio(context, paths, async (open) => {
    cancelWorkers(pool, open.state.tasks);
    const looked = await lookAtWorkers(pool, open);
    emptyCopies(paths, open.state);
    if (systemClock.monotonicMs() - pool.usageAt > usageEveryMs) {
      await countUsage(paths, open);
      pool.usageAt = systemClock.monotonicMs();
    }
    const fullPlan = planFor(context, open, { input, paths, red, noRoom: (quotaMb) => roomOf(pool, open.state, quotaMb) }, looked.gone);
    const made = pool.starts === null ? fullPlan : { ...fullPlan, actions: fullPlan.actions.filter((action) => action.do !== "dispatch") }; // N7
    const written = await recordPlan(paths, open, made);
    if (pool.pagesAt === null || systemClock.monotonicMs() - pool.pagesAt > pagesEveryMs) {
      pool.pagesAt = systemClock.monotonicMs();
      open.warnings.push(...restorePages(paths, open.state));
    }
    return { planned: made, moved: looked.moved || written };
  });
  pool.waitsFor = null;
  const goesOn = planned.waiting.some(({ code }) => code === "resting" || code === "delayed") || triesToLand(pool, planned.actions);
  if (context.interrupted.aborted) return { moved: moved || hadNews, goesOn };
  for (const action of planned.actions) if (action.do === "merge") beginMerge(pool, action, waiting);
  const starts = planned.actions.flatMap((action) => (action.do === "dispatch" ? [action] : []));
  if (starts.length > 0) pool.starts = start(pool, starts);
  return { moved: moved || hadNews, goesOn };
}

/** Whether finished work waits for an outage to end. */
const triesToLand = ({ held }: Pool, actions: readonly Action[]): boolean =>
  actions.some((action) => action.do === "merge" && held.get(queueOf(action))?.goesOn === true);

/** N7. */
async function start(pool: Pool, actions: readonly Extract<Action, { readonly do: "dispatch" }>[]): Promise<void> {
  const left = actions.values();
  let hasMoved = false;
  const next = async (): Promise<void> => {
    for (const action of left) {
      if (pool.context.interrupted.aborted || pool.failure !== null) return;
      hasMoved = (await dispatch(pool, action)) || hasMoved;
      void pool.active.get(action.task_id)?.ended.then(() => wakePool(pool));
    }
  };
  const failed = (error: unknown): void => void (pool.failure ??= { error });
  await Promise.all(Array.from({ length: startsAtOnce }, () => next().catch(failed)));
  pool.starts = null;
  if (hasMoved || pool.failure !== null) wakePool(pool);
}

function roomOf(pool: Pool, state: PortfolioView, quotaMb: number | undefined): string | null {
  const at = systemClock.monotonicMs();
  if (quotaMb !== undefined && (pool.room.at === 0 || at - pool.room.at > roomEveryMs))
    pool.room = { at, why: whyNoRoom(pool.context, pool.paths, state, quotaMb) };
  return pool.room.why;
}

/** A worker whose task was canceled, or given to another run, is stopped at once. */
function cancelWorkers({ active, context }: Pool, tasks: Readonly<Record<string, TaskView>>): void {
  for (const [task_id, { run, cancel }] of active) {
    const task = tasks[task_id];
    if ((task?.status === "running" && task.run_id === run) || canceled.has(cancel)) continue;
    context.show(`! ${task_id} is ${task?.status ?? "gone"}; its worker is stopped`);
    canceled.add(cancel); // it takes a while to end, and is said once
    cancel();
  }
}

const canceled = new WeakSet<() => void>();
