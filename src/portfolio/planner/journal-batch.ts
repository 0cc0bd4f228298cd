// journal-batch: makes changes that were written together count together: a batch that a killed
// process left incomplete never counts.

import type { PortfolioEntry } from "../../contracts/portfolio/portfolio-journal.ts";
import type { Portfolio } from "./state.ts";

/**
 * The entries that count now: this one; the whole batch if it is the last of one; none if more of
 * its batch must follow. An incomplete batch is dropped when an entry follows that isn't its next.
 */
export function completeBatch(state: Portfolio, entry: PortfolioEntry): readonly PortfolioEntry[] {
  const { part } = entry;
  const earlierParts = state.unfinished;
  const isNext =
    part !== undefined &&
    earlierParts.length === part.at - 1 &&
    (earlierParts.length === 0 || earlierParts[0]?.part?.of === part.of);
  if (isNext) earlierParts.push(entry);
  else state.unfinished = part?.at === 1 ? [entry] : [];

  if (part !== undefined && state.unfinished.length < part.of) return [];
  const batch = state.unfinished;
  state.unfinished = [];

  return part === undefined ? [entry] : batch;
}
