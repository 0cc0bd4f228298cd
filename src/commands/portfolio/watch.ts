// watch: shows a live board of all projects and tasks.

import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../../contracts/answer.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { answered, reply } from "../../project/reply.ts";
import { visiblePortfolio } from "../../portfolio/store/folder.ts";
import type { PoolInput } from "./pool.ts";
import { showPortfolio } from "./show.ts";

const lookEveryMs = 1000;

/** A board that fits the terminal, drawn anew while things change. Without a terminal it is shown once. */
export function watchPortfolio(place: CommandContext, input: PoolInput): Promise<Answer> {
  return answered(async () => {
    visiblePortfolio(place);
    const { board } = place;
    if (board === undefined || !place.isTerminal) return showPortfolio(place, input);
    for (let before = ""; !place.interrupted.aborted;) {
      const rows = Math.max(1, board.rows() - 1);
      const { page = [], message } = await showPortfolio(place, { ...input, rows });
      const lines = (page.length === 0 ? [message] : page).slice(0, rows);
      if (lines.join("\n") !== before) board.draw(lines);
      before = lines.join("\n");
      await sleep(lookEveryMs, undefined, { signal: place.interrupted }).catch(() => undefined);
    }
    return reply("ok", { message: "The portfolio goes on without being watched." });
  });
}
