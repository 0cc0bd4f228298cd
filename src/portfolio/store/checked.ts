// checked: reads the journal of an untrusted portfolio: every line is validated before the state is
// folded.

import * as v from "valibot";
import {
  BatchPart,
  findChangeFault,
  type PortfolioChange,
  portfolioChangeNames,
} from "../../contracts/portfolio/portfolio-journal.ts";
import type { Entry } from "../../contracts/event.ts";
import { readJournal } from "../../journal/read.ts";
import { refuse } from "../../project/respond.ts";
import type { PortfolioView } from "../planner/state.ts";
import { readPortfolio } from "./fold.ts";
import type { PortfolioPaths } from "./folder.ts";

const knownEvents: ReadonlySet<string> = new Set(portfolioChangeNames);
/** Fields that the journal adds to an event. */
const journalKeys: ReadonlySet<string> = new Set([
  "journal",
  "seq",
  "ts",
  "epoch",
  "prev",
  "crc",
  "active_ms",
]);

/** Refuses a journal with a line that is no valid change, or whose lines contradict each other. */
export async function readCheckedPortfolio(paths: PortfolioPaths): Promise<PortfolioView> {
  readJournal(paths.ownFolder, { startAt: "start", onEntry: requireValidLine });

  try {
    return await readPortfolio(paths);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return refuse("portfolio_foreign", { message: `Its journal contradicts itself: ${why}` });
  }
}

function requireValidLine(entry: Entry): void {
  const fault = findLineFault(entry);
  if (fault === null) return;

  refuse("portfolio_foreign", {
    message: `Line ${entry.seq} of its journal is not in order: ${fault}`,
  });
}

function findLineFault(entry: Entry): string | null {
  if (!knownEvents.has(entry.event)) return null;

  const ownFields = Object.entries(entry).filter(([key]) => !journalKeys.has(key));
  const { part, ...change } = Object.fromEntries(ownFields);
  if (part !== undefined && !v.is(BatchPart, part)) return "its place in a batch";
  return findChangeFault(change as PortfolioChange);
}
