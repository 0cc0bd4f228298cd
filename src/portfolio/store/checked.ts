// checked: reads the journal of an untrusted portfolio: every line is validated before the state is
// folded.

import * as v from "valibot";
import {
  BatchPart,
  findChangeFault,
  type PortfolioChange,
  portfolioChangeNames,
} from "../../contracts/portfolio-journal.ts";
import { readJournal } from "../../journal/read.ts";
import { refuse } from "../../project/respond.ts";
import type { PortfolioView } from "../planner/state.ts";
import { readPortfolio } from "./fold.ts";
import type { PortfolioPaths } from "./folder.ts";

const knownEvents: ReadonlySet<string> = new Set(portfolioChangeNames);
/** Fields that the journal adds to an event. */
const journalKeys: ReadonlySet<string> = new Set([
  "journal",
  "ts",
  "epoch",
  "prev",
  "crc",
  "active_ms",
]);

/** Refuses a journal with a line that is no valid change, or whose lines contradict each other. */
export async function readCheckedPortfolio(paths: PortfolioPaths): Promise<PortfolioView> {
  readJournal(paths.ownFolder, {
    from: "start",
    onEntry: (entry) => {
      const { event, actor, reason_code, seq, ...otherFields } =
        entry as unknown as PortfolioChange & { readonly seq: number };
      if (!knownEvents.has(event)) return;
      const { part, ...fields } = Object.fromEntries(
        Object.entries(otherFields).filter(([key]) => !journalKeys.has(key)),
      );
      const isPart = part === undefined || v.is(BatchPart, part);
      const fault = isPart
        ? findChangeFault({ event, actor, reason_code, ...fields } as PortfolioChange)
        : "its place in a batch";
      if (fault !== null) {
        refuse("portfolio_foreign", {
          message: `Line ${seq} of its journal is not in order: ${fault}`,
        });
      }
    },
  });

  try {
    return await readPortfolio(paths);
  } catch (error) {
    return refuse("portfolio_foreign", {
      message: `Its journal contradicts itself: ${error instanceof Error ? error.message : String(error)}`,
    });
  }
}
