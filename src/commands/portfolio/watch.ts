// watch: `portfolio watch`: shows a live board of all projects and tasks, as far as it fits the
// terminal.

import { setTimeout as sleep } from "node:timers/promises";
import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { findVisiblePortfolio } from "../../portfolio/store/folder.ts";
import type { PoolInput } from "./pool-state.ts";
import { showPortfolio } from "./show.ts";

const refreshMs = 1000;

/**
 * A board that fits the terminal, drawn again while things change. Without a terminal it is shown
 * once.
 */
export function watchPortfolio(
  context: CommandContext,
  input: PoolInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    findVisiblePortfolio(context);
    const { board } = context;
    if (board === undefined || !context.isTerminal) return showPortfolio(context, input);
    for (let drawnText = ""; !context.interrupted.aborted;) {
      const rows = Math.max(1, board.rowsMax() - 1);
      const { page = [], message } = await showPortfolio(context, { ...input, rows });
      const lines = (page.length === 0 ? [message] : page).slice(0, rows);
      const text = lines.join("\n");
      if (text !== drawnText) board.draw(lines);
      drawnText = text;
      await sleep(refreshMs, undefined, { signal: context.interrupted }).catch(() => undefined);
    }

    return respond("ok", { message: "The portfolio goes on without being watched." });
  });
}
