// checkpoints: the lines of checkpoints.jsonl, made from a portfolio's events.

import type { PortfolioCheckpoint } from "../../contracts/portfolio/portfolio.ts";
import type { PortfolioView } from "../planner/state.ts";

/** Our lines of the file: the metrics as they were when each checkpoint was made. */
export const renderCheckpointLines = (state: PortfolioView): readonly string[] =>
  state.checkpoints.map(({ ts, window_start, window_end, summary, key_metrics }) =>
    JSON.stringify({
      ts,
      scope: "portfolio",
      scope_id: "portfolio",
      window_start,
      window_end,
      summary,
      key_metrics,
    } satisfies PortfolioCheckpoint),
  );
