// planner-lease: the lease on planning a portfolio whose tasks run on a store's workers. Other
// pools wait to take over.
//
// Invariants:
//   Z1. The database decides who plans. A waiting pool takes over when the lease has lapsed, for
//       whatever reason.
//   Z2. A pool that has lost its lease ends by itself, and sends no requests to runs that its
//       successor waits for.
//   Z3. The journal of a portfolio that is planned under this lease is in the store too. It has a
//       lease of its own, which every writer takes for a moment: one process plans, and others may
//       change the portfolio in between.

import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { sharePortfolio } from "../../fleet/share-portfolio.ts";
import { plannerKey } from "../../fleet/shared-mark.ts";
import { openSharedStore } from "../../fleet/shared-run.ts";
import { bringTasks } from "./bring-tasks.ts";
import { settleHubs } from "./project-hubs.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { toFailure, refuse, findRetryPolicy } from "../../project/respond.ts";
import { systemClock } from "../../project/runs/system-clock.ts";

type PlannerLease = NonNullable<PortfolioPaths["planner"]> & {
  readonly release: () => Promise<void>;
};

const pollMs = 1_000;

/**
 * Calls `plan` while this pool has the portfolio's lease, and waits for the lease again if it was
 * lost or the store was unreachable.
 */
export async function planWithLease(
  outerContext: CommandContext,
  portfolioPaths: PortfolioPaths,
  plan: (context: CommandContext, paths: PortfolioPaths) => Promise<CommandResponse>,
  { isOnce, isolation }: { readonly isOnce: boolean; readonly isolation: string | undefined },
): Promise<CommandResponse> {
  for (;;) {
    const planner = await waitForPortfolio(outerContext, portfolioPaths);
    const context = {
      ...outerContext,
      interrupted: AbortSignal.any([outerContext.interrupted, planner.lease.lost]),
    };

    try {
      const paths = { ...portfolioPaths, planner };
      await bringTasks(context, paths, isolation);
      const response = await plan(context, paths);
      if (!planner.lease.lost.aborted || outerContext.interrupted.aborted) return response;
    } catch (error) {
      const { code, message } = toFailure(error);
      const mayGoOn = planner.lease.lost.aborted || (findRetryPolicy(code) === "always" && !isOnce);
      if (!mayGoOn || outerContext.interrupted.aborted) throw error;
      if (!planner.lease.lost.aborted) outerContext.show(`· waits: ${message}`);
      await sleep(pollMs, undefined, { signal: outerContext.interrupted }).catch(() => undefined);
    } finally {
      await planner.release();
    }

    if (planner.lease.lost.aborted) {
      outerContext.show(
        "! this pool has lost the portfolio to another, or to silence; it wrote nothing more and waits",
      );
    }
  }
}

/** Resolves when this pool may plan; refuses if the pool is interrupted while it waits. */
async function waitForPortfolio(
  context: CommandContext,
  paths: PortfolioPaths,
): Promise<PlannerLease> {
  let lastMessage = "";
  for (;;) {
    try {
      const clocks = { now: () => systemClock.now(), activeMs: () => systemClock.monotonicMs() };
      const store = await openSharedStore(context.env);
      await settleHubs(context, paths);
      const key = await sharePortfolio(store, paths.ownFolder); // Z3
      const { journal, lease } = await store.open(plannerKey(key), "portfolio", clocks); // Z1
      if (lastMessage !== "") context.show("▶ this pool plans the portfolio now");

      return { lease, unbrought: new Map(), release: () => journal.close() };
    } catch (error) {
      const isWaiting =
        error instanceof JournalFailure &&
        (error.kind === "run_locked" || error.kind === "store_unreachable");
      if (!isWaiting) throw error;
      const why =
        error.trouble.kind === "run_locked"
          ? `process ${error.trouble.pid ?? "?"} on ${error.trouble.host ?? "?"} plans this portfolio`
          : error.message;
      if (why !== lastMessage) context.show(`· waits: ${why}`);
      lastMessage = why;
      await sleep(pollMs, undefined, { signal: context.interrupted }).catch(() => undefined);

      if (context.interrupted.aborted) {
        return refuse("portfolio_busy", { message: `This pool only waited: ${why}.` });
      }
    }
  }
}

/** Whether this pool was ended because its lease was lost (Z2). */
export const hasLostPortfolio = ({ interrupted }: Pick<CommandContext, "interrupted">): boolean =>
  interrupted.aborted &&
  interrupted.reason instanceof JournalFailure &&
  interrupted.reason.kind === "lease_lost";
