// leftovers: cleans up after a killed pool: folders of abandoned merges, folders and branches of landings, and refs of finished tasks.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { dropLandingBranch } from "../../workspace/landing/land-branch.ts";
import type { PortfolioView } from "../planner/state.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { exchangeFor } from "../worker/exchange-for.ts";
import { landingName, landingsFolder } from "./land-batch.ts";
import { eraseSync } from "../../workspace/folder.ts";

/** Only for the holder of the pool, which alone merges. Returns what could not be inspected. */
export async function clearLeftovers(paths: PortfolioPaths, state: PortfolioView): Promise<readonly string[]> {
  for (const name of readdirSync(paths.own)) if (name.startsWith("merge-")) eraseSync(join(paths.own, name));
  const repositories = new Set(Object.values(state.projects).flatMap(({ repository }) => repository ?? []));
  const over = new Set(
    Object.values(state.tasks).flatMap(({ task_id, status }) => (status === "done" || status === "canceled" ? task_id : [])),
  );
  const landings = cutLandings(paths, state);
  const problems: string[] = [];
  if (over.size === 0 && landings.length === 0) return problems;
  for (const repository of repositories) {
    try {
      const exchange = await exchangeFor(paths, state, repository);
      await exchange.forget(...(await exchange.kept()).filter((name) => over.has(name)));
      for (const name of landings) await dropLandingBranch(exchange.repository, name);
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error)); // its own tasks say so too
    }
  }
  if (problems.length === 0) for (const name of landings) eraseSync(join(paths.own, landingsFolder, name));
  return problems;
}

/** Landings whose batch is not under way any more; one that is goes on by itself. */
function cutLandings(paths: PortfolioPaths, state: PortfolioView): readonly string[] {
  const folder = join(paths.own, landingsFolder);
  const current = new Set(state.batches.map((batch) => landingName(paths, batch)));
  return existsSync(folder) ? readdirSync(folder).filter((name) => !current.has(name)) : [];
}
