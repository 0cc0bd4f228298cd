// catch-up: brings the copy of a portfolio that is in a store up to date, for whoever only reads it.

import { portfolioMark } from "../../fleet/shared-mark.ts";
import { nodeDisk } from "../../journal/disk.ts";
import { takeLock } from "../../journal/lock.ts";
import { toFailure } from "../../project/respond.ts";
import type { PortfolioPaths } from "./folder.ts";

/** Under which key it is in the store, and why its copy may be behind; null if it is kept in its folder. */
export async function catchUp(
  env: NodeJS.ProcessEnv,
  { own }: PortfolioPaths,
): Promise<{ readonly key: string; readonly behind: string | null } | null> {
  const mark = portfolioMark(own);
  if (mark === null) return null;
  const { key } = mark;
  try {
    const { bringCopy, storeIn } = await import("../../fleet/shared-run.ts");
    const store = await storeIn(env);
    const lock = await takeLock(nodeDisk, own);
    try {
      await bringCopy(store, key, own);
    } finally {
      lock.release();
    }
    return { key, behind: null };
  } catch (error) {
    const { code, message } = toFailure(error);
    return { key, behind: code === "run_locked" ? null : message }; // whoever has it brings it up to date
  }
}
