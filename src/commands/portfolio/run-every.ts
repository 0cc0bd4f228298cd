// run-every: works on a portfolio until it is idle, rests, and starts again until it is
// interrupted.

import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { runPortfolio } from "./pool.ts";
import type { PoolInput } from "./pool-state.ts";

type EveryInput = Pick<PoolInput, "jobs" | "agent" | "isolation" | "fleet"> & {
  readonly everyMs: number;
};
type RunPool = (context: CommandContext, input: PoolInput) => Promise<CommandResponse>;

/**
 * Ends on an interrupt or a refusal. That another process runs the portfolio is no reason to end:
 * the next round may find it free.
 */
export async function runEvery(
  context: CommandContext,
  { everyMs, ...input }: EveryInput,
  run: RunPool = runPortfolio,
): Promise<CommandResponse> {
  for (;;) {
    const startedMs = performance.now();
    const response = await run(context, { ...input, untilIdle: true });
    if (
      context.interrupted.aborted ||
      (response.result === "FAIL" && response.reason_code !== "portfolio_busy")
    ) {
      return response;
    }

    context.show(`· ${response.message}`);
    const restMs = Math.max(0, everyMs - (performance.now() - startedMs)); // `everyMs` counts from start to start
    await sleep(restMs, undefined, { signal: context.interrupted }).catch(() => undefined);
    if (context.interrupted.aborted) return response;
  }
}
