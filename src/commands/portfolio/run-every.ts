// run-every: works on a portfolio until it is idle, rests, and starts again until it is interrupted.

import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { runPortfolio, type PoolInput } from "./pool.ts";

type EveryInput = Pick<PoolInput, "jobs" | "agent" | "isolation" | "fleet"> & { readonly everyMs: number };
type Run = (context: CommandContext, input: PoolInput) => Promise<CommandResponse>;

/** While another process runs the portfolio there is nothing to do; anything else that is refused would be refused again. */
export async function runEvery(
  context: CommandContext,
  { everyMs, ...input }: EveryInput,
  run: Run = runPortfolio,
): Promise<CommandResponse> {
  for (;;) {
    const began = performance.now();
    const response = await run(context, { ...input, untilIdle: true });
    if (context.interrupted.aborted || (response.result === "FAIL" && response.reason_code !== "portfolio_busy")) return response;
    context.show(`· ${response.message}`);
    const restMs = Math.max(0, everyMs - (performance.now() - began)); // from one beginning to the next
    await sleep(restMs, undefined, { signal: context.interrupted }).catch(() => undefined);
    if (context.interrupted.aborted) return response;
  }
}
