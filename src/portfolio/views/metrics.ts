// metrics: counts and mean durations of a portfolio's tasks, for its pages and dashboards.

import {
  portfolioTaskStatuses,
  type PortfolioTaskStatus,
} from "../../contracts/portfolio/portfolio.ts";
import type { PortfolioView } from "../planner/state.ts";

/** The eight numbers a dashboard shows of a portfolio. */
export function computeMetrics({ totals }: PortfolioView) {
  const mean = (sum: number, count: number): number | null =>
    count === 0 ? null : Math.round(sum / count);
  return {
    tasks_created_total: totals.tasks_created_total,
    tasks_completed_total: totals.tasks_completed_total,
    tasks_failed_total: totals.tasks_failed_total,
    tasks_needs_adjustment_total: totals.tasks_needs_adjustment_total,
    tasks_blocked_human_total: totals.tasks_blocked_human_total,
    verification_incomplete_total: totals.verification_incomplete_total,
    mean_task_cycle_time_ms: mean(totals.cycle_ms, totals.tasks_completed_total),
    mean_block_resolution_time_ms: mean(totals.block_ms, totals.blocks_resolved),
  };
}

export type StatusCounts = Readonly<Record<PortfolioTaskStatus, number>>;

/** How many of these tasks, by default all, are in each status. */
export function countByStatus(
  state: PortfolioView,
  ids: readonly string[] = Object.keys(state.tasks),
): StatusCounts {
  const counts = Object.fromEntries(portfolioTaskStatuses.map((status) => [status, 0])) as Record<
    PortfolioTaskStatus,
    number
  >;

  for (const id of ids) {
    const status = state.tasks[id]?.status;
    if (status !== undefined) counts[status] += 1;
  }

  return counts;
}
