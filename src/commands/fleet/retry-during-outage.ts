// retry-during-outage: repeats work while the store or a hub cannot be reached, so that an outage
// fails no task.

import { setTimeout as sleep } from "node:timers/promises";
import type { CommandContext } from "../../project/command-context.ts";
import { toFailure, findRetryPolicy } from "../../project/respond.ts";

const pollMs = 500;

/** Whether an error says that the store or a hub cannot be reached now. */
export const isOutage = (error: unknown): boolean =>
  findRetryPolicy(toFailure(error).code) === "always";

/**
 * Returns a function that repeats `work` until it succeeds, fails for another reason, or the pool
 * is asked to end.
 */
export const retryDuringOutage =
  ({ interrupted, show }: Pick<CommandContext, "interrupted" | "show">) =>
  async <Value>(work: () => Promise<Value>): Promise<Value> => {
    for (let lastCode = ""; ;) {
      try {
        return await work();
      } catch (error) {
        const { code, message } = toFailure(error);
        if (!isOutage(error) || interrupted.aborted) throw error;
        if (code !== lastCode) show(`· waits: ${message}`);
        lastCode = code;
        await sleep(pollMs);
      }
    }
  };
