// pool: `portfolio run`: ticks, workers and the merge queue, until everything is done or a person stops it.
//
// Invariants:
//   N1. One pool a portfolio: it holds a lock of its own; every change takes the journal for a moment only.
//   N2. A tick first looks at what is: runs that ended, workers that are gone, batches that landed unrecorded. Then it plans.
//   N3. Whatever ends the pool, the next tick of any pool goes on from the journals.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../../contracts/answer.ts";
import type { PortfolioChange } from "../../contracts/portfolio-journal.ts";
import { nodeDisk } from "../../journal/disk.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { takeLock } from "../../journal/lock.ts";
import { msOf } from "../../kit/iso-time.ts";
import { type Action, plan, type Plan } from "../../portfolio/planner/plan.ts";
import { remedyOf } from "../../portfolio/planner/recovery.ts";
import type { TaskView } from "../../portfolio/planner/state.ts";
import { unfinished } from "../../portfolio/planner/under-way.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { readRunOrNull } from "../../project/runs/read-run.ts";
import { go } from "../go.ts";
import { resume } from "../resume.ts";
import { answered, refuse, reply } from "../../project/reply.ts";
import { readSettings } from "../../project/config/settings.ts";
import { collectCopies, dispatch, type Workers } from "../../portfolio/worker/dispatch.ts";
import { type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { ingest, newBlockId } from "../../portfolio/worker/ingest.ts";
import { mergeBatch, settleBatches } from "../../portfolio/merge/merge-queue.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { agentDefault, type Drive, homeOfCopy, usageOf, viewOf } from "../../portfolio/worker/worker.ts";

const system = { actor: "system", reason_code: "ok" } as const;
const planner = { actor: "planner", reason_code: "ok" } as const;
const heartbeatMs = 60_000;

export type PoolInput = {
  readonly jobs?: number | undefined;
  readonly untilIdle?: boolean | undefined;
  readonly isolation?: string | undefined;
  readonly agent?: string | undefined;
  readonly ticksMax?: number | undefined;
  readonly everyMs?: number | undefined;
};

type Pool = Workers & { readonly input: PoolInput; held: string | null };

export function runPortfolio(place: CommandContext, input: PoolInput): Promise<Answer> {
  return answered(async () => {
    const paths = requirePortfolio(place.cwd);
    const release = await holdPool(paths);
    const pool: Pool = { place, paths, input, active: new Map(), drive: driveRun, held: null };
    const before = await withPortfolio(place, paths, ({ state }) => Promise.resolve(state.totals.tasks_completed_total));
    try {
      for (let ticks = 0; !place.interrupted.aborted && ticks < (input.ticksMax ?? Number.POSITIVE_INFINITY); ticks++) {
        const moved = await tick(pool);
        if (!moved && pool.active.size === 0 && input.untilIdle === true) break;
        if (!moved) await rest(pool);
      }
      await Promise.all(pool.active.values());
      if (pool.active.size > 0) await tick(pool);
    } finally {
      release();
    }
    return withPortfolio(place, paths, ({ state, warnings }) => {
      collectCopies(state);
      const done = state.totals.tasks_completed_total - before;
      const left = Object.values(state.tasks).filter(({ status }) => status !== "done" && status !== "canceled").length;
      return Promise.resolve(
        reply("ok", {
          message: `${done} ${done === 1 ? "task" : "tasks"} done; ${left} left.`,
          result: left === 0 ? "PASS" : "WARN",
          warnings: [...warnings, ...(pool.held === null ? [] : [`Landing waits: ${pool.held}`])],
          remediation: left === 0 ? [] : ["autopilot portfolio status", "autopilot inbox"],
          data: { done, left, held: pool.held },
        }),
      );
    });
  });
}

/** It is in this process, so whatever kills the pool kills its workers; their journals know the rest. */
const driveRun: Drive = async (place, copy, run) => {
  const here: CommandContext = { ...place, cwd: copy, isTerminal: false, ask: () => Promise.resolve(null) };
  const found = await readRunOrNull(homeOfCopy(copy), run);
  if (found === null || found.view.status === "draft") await go(here, { words: [], yes: true, run });
  else await resume(here, { words: [], yes: true, run, now: true });
};

/** N1. */
async function holdPool({ own }: PortfolioPaths): Promise<() => void> {
  const folder = join(own, "pool");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const lock = await takeLock(nodeDisk, folder);
    return () => lock.release();
  } catch (error) {
    if (error instanceof JournalFailure && error.trouble.kind === "run_locked")
      return refuse("portfolio_busy", {
        message: `Process ${error.trouble.pid ?? "?"} runs this portfolio.`,
        data: { pid: error.trouble.pid },
      });
    throw error;
  }
}

/** Waits until a run ends, somebody interrupts, or it is time to look again. */
async function rest({ active, input, place }: Pool): Promise<void> {
  const woken = new AbortController();
  const pause = sleep(input.everyMs ?? 2_000, undefined, { signal: AbortSignal.any([woken.signal, place.interrupted]) }).catch(
    () => undefined,
  );
  await Promise.race([pause, ...active.values()]);
  woken.abort();
}

/** One look at everything; whether something was done. */
async function tick(pool: Pool): Promise<boolean> {
  const { place, paths, input } = pool;
  await settleBatches({ place, paths, isolation: input.isolation }); // N2
  const { planned, moved } = await withPortfolio(place, paths, async (open) => {
    const looked = await lookAtWorkers(pool, open);
    const made = planFor(place, open, pool, looked.gone);
    const written = await carryOut(open, made);
    return { planned: made, moved: looked.moved || written };
  });
  let hasMoved = moved;
  for (const action of planned.actions) {
    if (place.interrupted.aborted) return true;
    if (action.do === "dispatch") hasMoved = (await dispatch(pool, action.task_id)) || hasMoved;
  }
  pool.held = null;
  for (const action of planned.actions) {
    if (place.interrupted.aborted) return true;
    if (action.do !== "merge") continue;
    const end = await mergeBatch({ place, paths, isolation: input.isolation }, action);
    if (end.held !== null) {
      pool.held = end.held;
      place.show(`! Landing waits: ${end.held}`);
    }
    hasMoved = hasMoved || end.landed > 0 || end.rejected > 0;
  }
  return hasMoved;
}

export function planFor(
  place: CommandContext,
  open: Pick<OpenPortfolio, "state" | "now">,
  given: { readonly input: PoolInput; readonly paths: PortfolioPaths },
  gone: ReadonlySet<string>,
): Plan {
  const read = readSettings(place, given.paths.root);
  const config = read.kind === "settings" ? read.config : {};
  const perAgent = Object.fromEntries(
    Object.entries(config.agents ?? {}).flatMap(([name, { max_parallel }]) => (max_parallel === undefined ? [] : [[name, max_parallel]])),
  );
  return plan(open.state, {
    now: open.now(),
    jobs: given.input.jobs ?? 2,
    gone,
    perAgent,
    agent: given.input.agent ?? config.agent ?? agentDefault,
  });
}

/** N2: every task that the journal says is running, by the recovery table. */
export async function lookAtWorkers(
  pool: Pick<Pool, "paths" | "active">,
  open: Pick<OpenPortfolio, "state" | "now" | "write">,
): Promise<{ readonly gone: ReadonlySet<string>; readonly moved: boolean }> {
  const gone = new Set<string>();
  let moved = false;
  for (const task of unfinished(open.state)) {
    if (task.stage !== "working") continue;
    const found = await viewOf(task);
    const isDriven = pool.active.has(task.run_id ?? "");
    const status = found?.view.status;
    const run =
      status === "completed" || status === "stopped"
        ? "ended"
        : status === "paused"
          ? "rested"
          : status === "running" && found?.view.resting !== null
            ? "rested"
            : "open";
    const { remedy } = remedyOf({
      worker: isDriven ? "alive" : "gone",
      lease: isDriven || (found !== null && found.owner !== null) ? "held" : "lapsed",
      run,
      result: task.ingested ? "ingested" : "missing",
      merge: "none",
    });
    if (remedy === "queue" && task.commit !== null) {
      await open.write({ ...system, event: "merge_queued", task_id: task.task_id, run_id: task.run_id ?? "", commit: task.commit });
      moved = true;
    } else if (remedy === "release") gone.add(task.run_id ?? "");
    else if (remedy === "ingest") {
      const changes = await ingest(pool.paths, open, task);
      if (changes.length > 0) await open.write(...changes);
      else gone.add(task.run_id ?? "");
      moved = true;
    }
  }
  return { gone, moved };
}

/** What needs no worker: released, retried, told, asked. */
async function carryOut({ state, write, now }: OpenPortfolio, { actions, waiting }: Plan): Promise<boolean> {
  const changes: PortfolioChange[] = [];
  for (const action of actions) {
    const change = await changeFor(state.tasks, action, now());
    if (change !== null) changes.push(change);
  }
  const dispatched = actions.flatMap((action) => (action.do === "dispatch" ? action.task_id : []));
  const counts: Record<string, number> = {};
  for (const { code } of waiting) counts[code] = (counts[code] ?? 0) + 1;
  const age = (msOf(now()) ?? 0) - (msOf(state.heartbeat ?? "") ?? 0);
  const isDue = dispatched.length > 0 || changes.length > 0 || age > heartbeatMs || age < 0;
  if (changes.length > 0 || isDue)
    await write(...changes, ...(isDue ? [{ ...planner, event: "planner_tick", dispatched, waiting: counts } as const] : []));
  return changes.length > 0;
}

async function changeFor(tasks: Readonly<Record<string, TaskView>>, action: Action, now: string): Promise<PortfolioChange | null> {
  switch (action.do) {
    case "release": {
      const task = tasks[action.task_id];
      const found = task === undefined ? null : await viewOf(task);
      const usage = found === null ? { tokens: 0, usd: 0 } : usageOf(found.view);
      return {
        ...planner,
        event: "lease_lost",
        task_id: action.task_id,
        run_id: action.run_id,
        because: "its worker is gone; the run goes on where it was",
        usage,
      };
    }
    case "retry":
      return { ...planner, event: "task_status_changed", task_id: action.task_id, to_status: "ready", because: action.because };
    case "tell_budget":
      return { ...planner, event: "budget_exhausted", ...action.ended };
    case "ask_idle":
      return {
        ...planner,
        event: "block_opened",
        block_id: newBlockId(now),
        project_id: action.project_id,
        task_id: null,
        question: `Every task of ${action.project_id} is over. Is its objective met?`,
        expected_action: "answer A, or add the tasks that are missing",
        impact: "nothing more is done for this project",
        options: { A: "it is met" },
        content: action.content,
        asked_by: null,
      };
    default:
      return null;
  }
}
