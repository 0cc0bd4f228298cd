// leftovers: what a pool that was killed has left: folders of merges that nobody makes any more, and refs of tasks that are over.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { PortfolioView } from "../planner/state.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { hubOf, openExchange } from "../worker/git-exchange.ts";

/** Only for whoever holds the pool: nobody else merges. Gives what could not be looked at. */
export async function clearLeftovers(paths: PortfolioPaths, state: PortfolioView): Promise<readonly string[]> {
  for (const name of readdirSync(paths.own)) if (name.startsWith("merge-")) rmSync(join(paths.own, name), { recursive: true, force: true });
  const repositories = new Set(Object.values(state.projects).flatMap(({ repository }) => repository ?? []));
  const over = new Set(
    Object.values(state.tasks).flatMap(({ task_id, status }) => (status === "done" || status === "canceled" ? task_id : [])),
  );
  const problems: string[] = [];
  if (over.size === 0) return problems;
  for (const repository of repositories) {
    try {
      const exchange = await openExchange(repository, hubOf(paths, repository));
      await exchange.forget(...(await exchange.kept()).filter((name) => over.has(name)));
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error)); // its own tasks say so too
    }
  }
  return problems;
}
