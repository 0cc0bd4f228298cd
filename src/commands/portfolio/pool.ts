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

import type { CommandResponse } from "../../contracts/command-response.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { clearLeftovers } from "../../portfolio/merge/clear-leftovers.ts";
import { type PortfolioPaths, requirePortfolio } from "../../portfolio/store/folder.ts";
import { readPortfolio } from "../../portfolio/store/fold.ts";
import { withPortfolio } from "../../portfolio/store/open.ts";
import { emptyCopies } from "../../portfolio/worker/collect-copies.ts";
import type { WorkerPool } from "../../portfolio/worker/dispatch.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { requireAgents } from "../../project/named-agents.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { driveRun } from "./drive-run.ts";
import { lockPool } from "./lock-pool.ts";
import {
  createPool,
  listUnblocked,
  type Pool,
  type PoolInput,
  waitForNews,
  waitUntilAllEnded,
} from "./pool-state.ts";
import { tickOrWait } from "./pool-tick.ts";

export function runPortfolio(
  context: CommandContext,
  options: PoolInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const portfolioPaths = requirePortfolio(context);
    const isShared = readPortfolioMark(portfolioPaths.ownFolder) !== null;
    const isFleet = options.fleet === true || isShared; // in a store it stays there
    const input = { ...options, fleet: isFleet };

    const warnings: string[] = [];
    const isTick = input.ticksMax !== undefined;
    const tell = (warning: string): void => {
      warnings.push(warning);
      if (!isTick) context.show(`! ${warning}`); // a single tick has it in its response; a pool that works for long shows it at once
    };

    const paths: PortfolioPaths = { ...portfolioPaths, tell };
    if (input.agent !== undefined) requireAgents(context.cwd, input.agent);
    if (isFleet) requireStoreAddress(context.env);
    const release = await lockPool(paths, isFleet, input);

    try {
      const response = isFleet
        ? await runWithLease(context, paths, input)
        : await runPool(context, paths, input);

      const data = { ...response.data, found: warnings };
      if (!isTick) return { ...response, data };
      return { ...response, warnings: [...warnings, ...(response.warnings ?? [])], data };
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
  const drive = await chooseDrive(input);
  const pool = createPool(context, paths, input, drive);
  const doneBefore = await withPortfolio(context, paths, ({ state }) =>
    Promise.resolve(state.totals.tasks_completed_total),
  );

  await clearLeftovers(paths, await readPortfolio(paths));
  try {
    await tickUntilDone(pool);
  } catch (error) {
    if (context.interrupted.aborted) await waitUntilAllEnded(pool); // workers end by themselves on an interrupt
    throw error;
  }

  await waitUntilAllEnded(pool);
  if (pool.failure !== null) throw pool.failure.error;
  return respondToEnd(pool, doneBefore);
}

async function chooseDrive({ fleet }: PoolInput): Promise<WorkerPool["drive"]> {
  if (fleet !== true) return driveRun;
  const { driveElsewhere } = await import("../fleet/drive-elsewhere.ts");
  return driveElsewhere(driveRun);
}

/** Until an interrupt, the last tick that was asked for, or with `untilIdle` nothing to do. */
async function tickUntilDone(pool: Pool): Promise<void> {
  const { context, input } = pool;
  const ticksMax = input.ticksMax ?? Number.POSITIVE_INFINITY;

  for (let ticks = 0; !context.interrupted.aborted && ticks < ticksMax; ticks++) {
    const wasBusy = listUnblocked(pool).length > 0; // what ends during the tick is inspected by the next one
    const { hasChanges, isDueLater } = await tickOrWait(pool);

    const isBusy = wasBusy || listUnblocked(pool).length > 0;
    const isIdle = !hasChanges && !isDueLater && !isBusy && !pool.hasNews;
    if (isIdle && input.untilIdle === true) {
      await waitUntilAllEnded(pool); // a blocked landing may be tried again right now
      if (!pool.hasNews) return;
    }

    if (!hasChanges && !pool.hasNews) await waitForNews(pool);
  }
}

function respondToEnd(pool: Pool, doneBefore: number): Promise<CommandResponse> {
  const { context, paths } = pool;
  return withPortfolio(context, paths, ({ state }) => {
    emptyCopies(paths, state);

    const heldReasons = [...pool.heldByQueue.values()].map(({ why }) => why);
    const done = state.totals.tasks_completed_total - doneBefore;
    const left = Object.values(state.tasks).filter(
      ({ status }) => status !== "done" && status !== "canceled",
    ).length;

    const response = respond("ok", {
      message: `${done} ${done === 1 ? "task" : "tasks"} done; ${left} left.`,
      result: left === 0 ? "PASS" : "WARN",
      warnings: heldReasons.map((why) => `Landing waits: ${why}`),
      remediation: left === 0 ? [] : ["autopilot portfolio status", "autopilot inbox"],
      data: { done, left, held: heldReasons.length === 0 ? null : heldReasons.join("; ") },
    });
    return Promise.resolve(response);
  });
}
