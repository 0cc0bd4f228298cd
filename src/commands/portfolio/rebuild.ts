// rebuild: regenerates every snapshot of a portfolio from its events.

import type { Answer } from "../../contracts/answer.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { answered, reply } from "../../project/reply.ts";
import { operatorOf } from "./add.ts";
import { redraw } from "../../portfolio/store/draw.ts";
import { requirePortfolio } from "../../portfolio/store/folder.ts";
import { allLines, withPortfolio } from "../../portfolio/store/open.ts";

/** Regenerates every file from the journal, and returns which of them were different. */
export function rebuildPortfolio(context: CommandContext): Promise<Answer> {
  return answered(async () => {
    const paths = requirePortfolio(context);
    const { different, warnings } = await withPortfolio(context, paths, async (open) => {
      const made = redraw(paths, open.state, await allLines(paths));
      open.isDrawn = true;
      return { different: made.different, warnings: [...open.warnings, ...made.warnings] };
    });
    const message =
      different.length === 0
        ? "Every file is as the journal tells it."
        : `${different.length} ${different.length === 1 ? "file was" : "files were"} different and drawn anew: ${different.slice(0, 5).join(", ")}.`;
    return reply("ok", { message, warnings, data: { different } });
  });
}

/** Writes a checkpoint: what there is, in numbers. No event is ever deleted. */
export function compactPortfolio(context: CommandContext): Promise<Answer> {
  return answered(async () =>
    withPortfolio(context, requirePortfolio(context), async ({ state, write, now, warnings }) => {
      const window_start = state.checkpoints.at(-1)?.window_end ?? state.created_at;
      await write({ ...operatorOf(context), event: "checkpoint_compacted", window_start, window_end: now() });
      return reply("ok", { message: "Wrote a checkpoint.", warnings, data: { window_start } });
    }),
  );
}
