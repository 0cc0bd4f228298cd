// adopt-snapshots: reads the task pages that another tool left in a portfolio folder.

import { join } from "node:path";
import { portfolioFiles, PortfolioTaskSnapshot } from "../../contracts/portfolio.ts";
import { prioritiesMax, type TaskFields } from "../../contracts/portfolio-journal.ts";
import { isRefused, readLocated } from "../../kit/located.ts";
import { parseCriterion } from "../../portfolio/planner/backlog.ts";
import { readOwnFile } from "../../project/own-file.ts";
import { toActor, type CommandContext } from "../../project/command-context.ts";
import type { OpenPortfolio } from "../../portfolio/store/open.ts";

/** What another tool's task pages have in their front matter, beyond its events. Pages without data are only kept. */
export async function adoptSnapshots(context: CommandContext, { paths, state, write }: OpenPortfolio): Promise<readonly string[]> {
  const warnings: string[] = [];
  for (const task_id of Object.keys(state.tasks)) {
    const name = `${portfolioFiles.tasks}/${task_id}.md`;
    const head = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*$/m.exec(readOwnFile(join(paths.shown, name)) ?? "")?.[1];
    if (head === undefined) continue;
    const read = readLocated(name, head, PortfolioTaskSnapshot);
    if (isRefused(read)) {
      warnings.push(`${name}: ${read.findings[0]?.message ?? "cannot be read"}; only its events count`);
      continue;
    }
    const { objective, acceptance_criteria, dependencies, priority } = read.value;
    const criteria = (Array.isArray(acceptance_criteria) ? acceptance_criteria : []).flatMap((one) => {
      const criterion = typeof one === "string" ? parseCriterion(one) : null;
      return criterion === null || typeof criterion === "string" ? [] : [criterion];
    });
    const known = (Array.isArray(dependencies) ? dependencies : []).filter((id) => state.tasks[id] !== undefined && id !== task_id);
    const changes: Partial<TaskFields> = {
      ...(objective === undefined ? {} : { objective }),
      ...(criteria.length === 0 ? {} : { acceptance_criteria: criteria }),
      ...(known.length === 0 ? {} : { dependencies: known }),
      ...(typeof priority === "number" && Number.isInteger(priority) && priority >= 1 && priority <= prioritiesMax ? { priority } : {}),
    };
    if (Object.keys(changes).length > 0)
      await write({ event: "task_updated", actor: toActor(context), reason_code: "ok", task_id, changes });
  }
  return warnings;
}
