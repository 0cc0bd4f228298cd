// lock-pool: the lock that a pool takes before it begins, and beside it the terms it works under,
// for commands that show a plan.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeDisk } from "../../journal/disk.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { takeLock } from "../../journal/lock.ts";
import { findOwner } from "../../journal/owner.ts";
import type { PortfolioPaths } from "../../portfolio/store/folder.ts";
import { ensureFolderBelow } from "../../project/own-folder.ts";
import { refuse } from "../../project/respond.ts";

const poolFolder = "pool";
const termsFile = "terms.json";

/** The flags of a pool that a plan depends on. */
export type PoolTerms = { readonly jobs?: number | undefined; readonly agent?: string | undefined };

/**
 * Takes the lock and returns its release; refuses while another pool has it. With `isShared`, for
 * pools of a store, other such pools may have it too: the store's lease decides which of them
 * plans.
 */
export async function lockPool(
  { ownFolder }: PortfolioPaths,
  isShared: boolean,
  { jobs, agent }: PoolTerms,
): Promise<() => void> {
  const folder = ensureFolderBelow(ownFolder, poolFolder);
  ensureFolderBelow(ownFolder, "copies");

  try {
    const lock = await takeLock(nodeDisk, folder, { shared: isShared });
    writeFileSync(join(folder, termsFile), JSON.stringify({ pid: process.pid, jobs, agent }), {
      mode: 0o600,
    });

    return () => lock.release();
  } catch (error) {
    if (error instanceof JournalFailure && error.trouble.kind === "run_locked") {
      return refuse("portfolio_busy", {
        message: `Process ${error.trouble.pid ?? "?"} runs this portfolio.`,
        data: { pid: error.trouble.pid },
      });
    }

    throw error;
  }
}

/** The terms of the pool that works here now; null if none does. */
export function readPoolTerms({ ownFolder }: Pick<PortfolioPaths, "ownFolder">): PoolTerms | null {
  const owner = findOwner(join(ownFolder, poolFolder));
  if (owner === null) return null;
  try {
    const { pid, jobs, agent } = JSON.parse(
      readFileSync(join(ownFolder, poolFolder, termsFile), "utf8"),
    ) as Record<string, unknown>;
    if (pid !== owner.pid) return {}; // the terms are an earlier pool's
    return {
      ...(typeof jobs === "number" ? { jobs } : {}),
      ...(typeof agent === "string" ? { agent } : {}),
    };
  } catch {
    return {}; // the pool has the lock and has not written its terms yet
  }
}
