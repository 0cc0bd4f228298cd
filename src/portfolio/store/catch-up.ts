// catch-up: brings this machine's copy of a portfolio in a store up to date, for commands that only
// read it.

import { readPortfolioMark } from "../../fleet/shared-mark.ts";
import { nodeDisk } from "../../journal/disk.ts";
import { takeLock } from "../../journal/lock.ts";
import { toFailure } from "../../project/respond.ts";
import type { PortfolioPaths } from "./folder.ts";

/**
 * The portfolio's key in the store, and why its copy may be behind; null if the portfolio isn't in
 * a store.
 */
export async function catchUp(
  env: NodeJS.ProcessEnv,
  { ownFolder }: PortfolioPaths,
): Promise<{ readonly key: string; readonly behind: string | null } | null> {
  const mark = readPortfolioMark(ownFolder);
  if (mark === null) return null;
  const { key } = mark;

  try {
    const { bringCopy, openSharedStore } = await import("../../fleet/shared-run.ts");
    const store = await openSharedStore(env);
    const lock = await takeLock(nodeDisk, ownFolder);

    try {
      await bringCopy(store, key, ownFolder);
    } finally {
      lock.release();
    }

    return { key, behind: null };
  } catch (error) {
    const { code, message } = toFailure(error);
    return { key, behind: code === "run_locked" ? null : message }; // the process that has the lock brings it up to date
  }
}
