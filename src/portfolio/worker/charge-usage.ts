// charge-usage: charges tasks with what their runs have used and were not charged for yet.

import type {
  PortfolioChange,
  PortfolioUsage,
} from "../../contracts/portfolio/portfolio-journal.ts";
import type { RunView } from "../../core/state.ts";
import { exactSum } from "../../kit/quantity.ts";
import type { PortfolioView, TaskView } from "../planner/state.ts";
import { listRunningTasks } from "../planner/under-way.ts";
import type { PortfolioPaths } from "../store/folder.ts";
import { loadTaskRun } from "./task-runs.ts";

export const readUsage = ({ ledger }: RunView): PortfolioUsage => ({
  tokens: ledger.run.tokens,
  usd: exactSum(ledger.run.usd),
});

/**
 * The change that charges what a task's run has used and was not charged for yet; empty if that is
 * nothing.
 */
export async function findUnchargedUsage(
  paths: PortfolioPaths,
  task: TaskView,
): Promise<readonly PortfolioChange[]> {
  const loadedRun = await loadTaskRun(paths, task);
  return loadedRun === null || task.run_id === null
    ? []
    : createUsageChange(task, task.run_id, loadedRun.view);
}

/** Charges what running tasks have used so far, so that a plan doesn't count it as left. */
export async function countUsage(
  paths: PortfolioPaths,
  {
    state,
    write,
  }: {
    readonly state: PortfolioView;
    readonly write: (...changes: readonly PortfolioChange[]) => Promise<void>;
  },
): Promise<void> {
  for (const task of listRunningTasks(state).filter(({ stage }) => stage === "working")) {
    const changes = await findUnchargedUsage(paths, task);
    if (changes.length > 0) await write(...changes);
  }
}

export function createUsageChange(
  { task_id, run_spent }: TaskView,
  run_id: string,
  view: RunView,
): readonly PortfolioChange[] {
  const usage = readUsage(view);
  if (usage.tokens <= run_spent.tokens && usage.usd <= run_spent.usd) return [];
  return [{ event: "usage_counted", actor: "system", reason_code: "ok", task_id, run_id, usage }];
}
