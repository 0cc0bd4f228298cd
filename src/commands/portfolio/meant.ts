// meant: whether an answer or a question is about a portfolio rather than a single run.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { journalFile } from "../../journal/journal.ts";
import { portfolioAt } from "../../portfolio/store/folder.ts";

/** Whether a question that is answered or asked for belongs to a portfolio: by its id, or because the command is given in its folder. */
export function isPortfolioMeant(
  cwd: string,
  { run, block }: { readonly run?: string | undefined; readonly block?: string | undefined },
): boolean {
  if (block !== undefined) return block.startsWith("block-");
  return run === undefined && existsSync(join(portfolioAt(resolve(cwd)).own, journalFile));
}
