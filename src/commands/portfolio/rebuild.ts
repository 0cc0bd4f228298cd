// rebuild: regenerates a portfolio's files from its journal, or journals a checkpoint.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";
import { operatorFields } from "./portfolio-input.ts";
import { redraw } from "../../portfolio/store/draw.ts";
import { requirePortfolio } from "../../portfolio/store/folder.ts";
import { type OpenPortfolio, withPortfolio } from "../../portfolio/store/open.ts";
import { firstFew, plural } from "../../views/wording.ts";

const filesShownMax = 5;

/** Regenerates every file from the journal, and returns which of them were different. */
export function rebuildPortfolio(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = requirePortfolio(context);
    const redrawAll = async (portfolio: OpenPortfolio) => {
      const redrawn = redraw(paths, portfolio.state, await portfolio.eventLines());
      portfolio.isDrawn = true;
      portfolio.warnings.push(...redrawn.warnings);
      return { different: redrawn.different, warnings: portfolio.warnings };
    };

    const { different, warnings } = await withPortfolio(context, paths, redrawAll, "nothing");
    const message =
      different.length === 0
        ? "Every file is as the journal tells it."
        : `${plural(different.length, "file was", "files were")} different and drawn anew: ${firstFew(different, filesShownMax)}.`;

    // Another rebuild would find none different, so all of them are named now.
    const page = different.length > filesShownMax ? { page: [message, "", ...different] } : {};
    return respond("ok", { message, warnings, ...page, data: { different } });
  });
}

/** Writes a checkpoint: what there is, in numbers. No event is ever deleted. */
export function compactPortfolio(context: CommandContext): Promise<CommandResponse> {
  return catchRefusals(async () =>
    withPortfolio(context, requirePortfolio(context), async ({ state, write, now, warnings }) => {
      const window_start = state.checkpoints.at(-1)?.window_end ?? state.created_at;
      await write({
        ...operatorFields(context),
        event: "checkpoint_compacted",
        window_start,
        window_end: now(),
      });

      return respond("ok", { message: "Wrote a checkpoint.", warnings, data: { window_start } });
    }),
  );
}
