// batch: changes that were written together count together. A process that is killed in the middle of writing them leaves lines that never
// count.

import type { PortfolioEntry } from "../../contracts/portfolio-journal.ts";
import type { Portfolio } from "./state.ts";

/** What counts with this entry: itself, or with the last of a batch all of it. Whatever else comes first, the batch was cut off. */
export function settled(state: Portfolio, entry: PortfolioEntry): readonly PortfolioEntry[] {
  const { part } = entry;
  const before = state.unfinished;
  const isNext = part !== undefined && before.length === part.at - 1 && (before.length === 0 || before[0]?.part?.of === part.of);
  if (isNext) before.push(entry);
  else state.unfinished = part?.at === 1 ? [entry] : [];
  if (part !== undefined && state.unfinished.length < part.of) return [];
  const batch = state.unfinished;
  state.unfinished = [];
  return part === undefined ? [entry] : batch;
}
