// batch: changes that were written together count together: a batch that a killed process left incomplete never counts.

import type { PortfolioEntry } from "../../contracts/portfolio-journal.ts";
import type { Portfolio } from "./state.ts";

/** The entries that count now: this one, or all of its batch if it is the last. A batch that another entry interrupts was cut off and is dropped. */
export function completeBatch(state: Portfolio, entry: PortfolioEntry): readonly PortfolioEntry[] {
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
