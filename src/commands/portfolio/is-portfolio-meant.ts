// is-portfolio-meant: whether a command that takes a run or a question (`inbox`, `answer`,
// `report`) is about a portfolio here.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { journalFile } from "../../journal/journal.ts";
import { portfolioAt } from "../../portfolio/store/folder.ts";

/**
 * A question is a portfolio's by its id; without one the portfolio is meant if the command is given
 * in its folder and names no run.
 */
export function isPortfolioMeant(
  cwd: string,
  { run, block }: { readonly run?: string | undefined; readonly block?: string | undefined },
): boolean {
  if (block !== undefined) return block.startsWith("block-");
  return run === undefined && existsSync(join(portfolioAt(resolve(cwd)).ownFolder, journalFile));
}
