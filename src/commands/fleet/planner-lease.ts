// planner-lease: the lease on planning a portfolio whose tasks run on a store's workers. Other pools wait to take over.
//
// Invariants:
//   Z1. The database decides who plans. A waiting pool takes over when the lease has lapsed, for whatever reason.
//   Z2. A pool that has lost its lease ends by itself, and sends no requests to runs that its successor waits for.

import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { storeIn } from "../../fleet/shared-run.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { journalFile } from "../../journal/journal.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { refuse } from "../../project/reply.ts";
import { systemClock } from "../../project/runs/system-clock.ts";

export type PlannerLease = NonNullable<PortfolioPaths["planner"]> & {
  /** Fires with a JournalFailure, `lease_lost`. */
  readonly lost: AbortSignal;
  readonly release: () => Promise<void>;
};

const pollMs = 1_000;
const confirmPollMs = 50;

/** Resolves when this pool may plan. Refused if it is interrupted before. */
export async function waitForPortfolio(context: CommandContext, paths: PortfolioPaths): Promise<PlannerLease> {
  const store = await storeIn(context.env);
  const key = portfolioKey(paths);
  let lastMessage = "";
  for (;;) {
    try {
      const clocks = { now: () => systemClock.now(), activeMs: () => systemClock.monotonicMs() };
      const { journal, lease } = await store.open(key, "portfolio", clocks); // Z1
      if (lastMessage !== "") context.show("▶ this pool plans the portfolio now");
      const requireLease = async (): Promise<void> => {
        while (!lease.isConfirmed()) {
          lease.lost.throwIfAborted();
          await sleep(confirmPollMs); // after a jump of the clock, until the store has confirmed it
        }
      };
      return { epoch: lease.epoch, requireLease, lost: lease.lost, release: () => journal.close() };
    } catch (error) {
      const waits = error instanceof JournalFailure && (error.kind === "run_locked" || error.kind === "store_unreachable");
      if (!waits) throw error;
      const why =
        error.trouble.kind === "run_locked"
          ? `process ${error.trouble.pid ?? "?"} on ${error.trouble.host ?? "?"} plans this portfolio`
          : error.message;
      if (why !== lastMessage) context.show(`· waits: ${why}`);
      lastMessage = why;
      await sleep(pollMs, undefined, { signal: context.interrupted }).catch(() => undefined);
      if (context.interrupted.aborted) return refuse("portfolio_busy", { message: `This pool only waited: ${why}.` });
    }
  }
}

/** Z2 */
export const hasLostPortfolio = ({ interrupted }: Pick<CommandContext, "interrupted">): boolean =>
  interrupted.aborted && interrupted.reason instanceof JournalFailure && interrupted.reason.kind === "lease_lost";

/** The folder and its creation: a copy elsewhere is another portfolio, with its own planner. */
function portfolioKey({ own }: PortfolioPaths): string {
  const [first = ""] = readFileSync(join(own, journalFile), "utf8").split("\n", 1);
  return `portfolio-${createHash("sha256")
    .update(`${realpathSync(own)}\0${first}`)
    .digest("hex")
    .slice(0, 16)}`;
}
