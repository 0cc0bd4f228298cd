// hold-pool: what a pool needs before it begins: its lock. What it works with is written down beside it, for the screens of others.
// Invariants N1 and on: commands/portfolio/pool.ts.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeDisk } from "../../journal/disk.ts";
import { JournalFailure } from "../../journal/failure.ts";
import { takeLock } from "../../journal/lock.ts";
import { findOwner } from "../../journal/owner.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { ensureFolderBelow } from "../../project/own-folder.ts";
import { refuse } from "../../project/respond.ts";

const poolFolder = "pool";
const termsFile = "terms.json";

/** What a pool was started with, as far as a plan depends on it. */
export type PoolTerms = { readonly jobs?: number | undefined; readonly agent?: string | undefined };

/** N1. Pools of a store share it and keep out those that know of no store. */
export async function holdPool({ own }: PortfolioPaths, shared: boolean, { jobs, agent }: PoolTerms): Promise<() => void> {
  const folder = ensureFolderBelow(own, poolFolder);
  ensureFolderBelow(own, "copies");
  try {
    const lock = await takeLock(nodeDisk, folder, { shared });
    writeFileSync(join(folder, termsFile), JSON.stringify({ pid: process.pid, jobs, agent }), { mode: 0o600 });
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

/** The terms of the pool that works here now; null if none does. */
export function readPoolTerms({ own }: Pick<PortfolioPaths, "own">): PoolTerms | null {
  const owner = findOwner(join(own, poolFolder));
  if (owner === null) return null;
  try {
    const { pid, jobs, agent } = JSON.parse(readFileSync(join(own, poolFolder, termsFile), "utf8")) as Record<string, unknown>;
    if (pid !== owner.pid) return {};
    return { ...(typeof jobs === "number" ? { jobs } : {}), ...(typeof agent === "string" ? { agent } : {}) };
  } catch {
    return {}; // it is just beginning
  }
}
