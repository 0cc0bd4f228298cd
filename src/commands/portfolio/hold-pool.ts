// hold-pool: what a pool needs before it begins: its lock.
// Invariants N1 and on: commands/portfolio/pool.ts.

import { nodeDisk } from "../../journal/disk.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { takeLock } from "../../journal/lock.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { folderBelow } from "../../project/own-folder.ts";
import { refuse } from "../../project/reply.ts";

/** N1. Pools of a store share it and keep out those that know of no store. */
export async function holdPool({ own }: PortfolioPaths, shared: boolean): Promise<() => void> {
  const folder = folderBelow(own, "pool");
  folderBelow(own, "copies");
  try {
    const lock = await takeLock(nodeDisk, folder, { shared });
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
