// folder: where a portfolio lies. The files people and other tools read are in `.openclaw-autopilot/`; the journal, which is the truth, and
// everything disposable are in `.autopilot/portfolio/` beside it.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { portfolioFolder } from "../../contracts/portfolio.ts";
import { journalFile } from "../../journal/journal.ts";
import { refuse } from "../../project/reply.ts";

export type PortfolioPaths = {
  readonly root: string;
  /** `.openclaw-autopilot/` */
  readonly shown: string;
  /** `.autopilot/portfolio/` */
  readonly own: string;
};

export const portfolioAt = (root: string): PortfolioPaths => ({
  root,
  shown: join(root, portfolioFolder),
  own: join(root, ".autopilot", "portfolio"),
});

/** The portfolio around a folder; null where there is none. */
export function findPortfolio(cwd: string): PortfolioPaths | null {
  for (let at = resolve(cwd); ; at = dirname(at)) {
    const paths = portfolioAt(at);
    if (existsSync(join(paths.own, journalFile))) return paths;
    if (dirname(at) === at) return null;
  }
}

export function requirePortfolio(cwd: string): PortfolioPaths {
  const paths = findPortfolio(cwd);
  if (paths !== null) return paths;
  return refuse("portfolio_missing", { message: `There is no portfolio in ${cwd} or above it.` });
}
