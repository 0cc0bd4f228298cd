// retry-during-outage: waits for a store or a hub that is away, and holds that against no task.
// Invariants Y1 and on: commands/fleet/drive-elsewhere.ts.

import { setTimeout as sleep } from "node:timers/promises";
import type { CommandContext } from "../../project/command-context.ts";
import { toFailure, findRetryPolicy } from "../../project/respond.ts";

const pollMs = 500;

/** Repeats the work while the store or hub is away, until the pool is asked to end (Y5). */
export const retryDuringOutage =
  ({ interrupted, show }: Pick<CommandContext, "interrupted" | "show">) =>
  async <Value>(work: () => Promise<Value>): Promise<Value> => {
    for (let lastCode = ""; ;) {
      try {
        return await work();
      } catch (error) {
        const { code, message } = toFailure(error);
        if (findRetryPolicy(code) !== "always" || interrupted.aborted) throw error;
        if (code !== lastCode) show(`· waits: ${message}`);
        lastCode = code;
        await sleep(pollMs);
      }
    }
  };
