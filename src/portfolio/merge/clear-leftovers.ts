// clear-leftovers: cleans up after a killed pool: folders of abandoned merges, folders and branches
// of landings, and refs of finished tasks.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { dropLandingBranch } from "../../workspace/landing/land-branch.ts";
import type { PortfolioView } from "../planner/state.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { openProjectExchange } from "../worker/exchange-for.ts";
import { landingName, landingsFolder } from "./land-batch.ts";
import { eraseSync } from "../../workspace/folder.ts";

/**
 * Only for the process that holds the pool's lock, since only that one merges. Returns why some
 * repositories could not be inspected.
 */
export async function clearLeftovers(
  paths: PortfolioPaths,
  state: PortfolioView,
): Promise<readonly string[]> {
  for (const name of readdirSync(paths.ownFolder)) {
    if (name.startsWith("merge-")) eraseSync(join(paths.ownFolder, name));
  }

  const finishedIds = listFinishedIds(state);
  const landings = listAbandonedLandings(paths, state);
  const problems: string[] = [];
  if (finishedIds.size === 0 && landings.length === 0) return problems;

  for (const repository of listRepositories(state)) {
    try {
      const exchange = await openProjectExchange(paths, state, repository);
      const keptNames = await exchange.listKeptNames();
      await exchange.forget(...keptNames.filter((name) => finishedIds.has(name)));
      for (const name of landings) await dropLandingBranch(exchange.repository, name);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error)); // the repository's own tasks report it too
    }
  }

  if (problems.length === 0) {
    for (const name of landings) eraseSync(join(paths.ownFolder, landingsFolder, name));
  }

  return problems;
}

function listRepositories({ projects }: PortfolioView): ReadonlySet<string> {
  return new Set(Object.values(projects).flatMap(({ repository }) => repository ?? []));
}

function listFinishedIds({ tasks }: PortfolioView): ReadonlySet<string> {
  const finished = Object.values(tasks).filter(
    ({ status }) => status === "done" || status === "canceled",
  );
  return new Set(finished.map(({ task_id }) => task_id));
}

/**
 * Landings whose batch is no longer among the proved ones; those of proved batches are continued.
 */
function listAbandonedLandings(paths: PortfolioPaths, state: PortfolioView): readonly string[] {
  const folder = join(paths.ownFolder, landingsFolder);
  const current = new Set(state.batches.map((batch) => landingName(paths, batch)));
  return existsSync(folder) ? readdirSync(folder).filter((name) => !current.has(name)) : [];
}
