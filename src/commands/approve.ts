// approve: approves what waits for approval: answers with what was named, else what is recommended,
// else the first option.

import type { CommandResponse } from "../contracts/command-response.ts";
import type { CommandContext } from "../project/command-context.ts";
import { catchRefusals, refuse } from "../project/respond.ts";
import { loadRun } from "../project/runs/loaded-run.ts";
import { findOpenBlock, recordAnswer } from "./answer.ts";

type Input = { readonly run?: string | undefined; readonly answer?: string | undefined };

/**
 * Answers the only open question; without a recommended answer its first option counts as approval.
 */
export function approve(context: CommandContext, input: Input): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const loaded = await loadRun(context, input.run);
    const block = findOpenBlock(loaded, undefined);
    const choice = input.answer ?? block.recommend ?? Object.keys(block.options)[0];
    if (choice === undefined) {
      return refuse("human_block_open", {
        message: `"${block.question}" needs a free-text answer: autopilot answer "…"`,
        run_id: loaded.run,
      });
    }

    return recordAnswer(context, loaded, { block, text: choice, issues: [] });
  });
}
