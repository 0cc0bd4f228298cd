// trend: this run beside the one before and all there were. One run alone isn't a trend.

import type { RunMetrics, TrendSummary } from "../contracts/roadmap-reports.ts";
import type { FailureCategory } from "../contracts/roadmap-values.ts";
import { rounded } from "./metrics.ts";

/** `runs` in the order they were recorded, this one last; null below two. */
export function runTrend(runs: readonly RunMetrics[]): TrendSummary | null {
  const [previous, current] = runs.slice(-2);
  if (previous === undefined || current === undefined) return null;
  const present = (run: RunMetrics): readonly FailureCategory[] =>
    Object.entries(run.failure_taxonomy_histogram).flatMap(([name, times]) => ((times ?? 0) > 0 ? [name as FailureCategory] : []));
  const before = new Set(present(previous));
  return {
    success_rate_delta: delta(previous.success_rate, current.success_rate),
    avg_alignment_delta: delta(previous.avg_alignment_score, current.avg_alignment_score),
    estimated_cost_delta: current.total_estimated_tokens - previous.total_estimated_tokens,
    recurring_failures: present(current).filter((category) => before.has(category)),
    historical: {
      total_runs: runs.length,
      success_rate: spreadOf(runs.map((run) => run.success_rate)),
      avg_alignment: spreadOf(runs.map((run) => run.avg_alignment_score)),
      total_cost: spreadOf(runs.map((run) => run.total_estimated_tokens)),
    },
  };
}

/** One sentence where things got worse; null if they did not. */
export function trendWarning(trend: TrendSummary): string | null {
  const { success_rate_delta: fell } = trend;
  if (fell === null || fell >= 0) return null;
  return `The success rate fell by ${Math.round(-fell * 100)} points against the run before.`;
}

const delta = (before: number | null, now: number | null): number | null =>
  before === null || now === null ? null : rounded(now - before);

function spreadOf(values: readonly (number | null)[]): TrendSummary["historical"]["success_rate"] {
  const known = values.flatMap((value) => value ?? []);
  if (known.length === 0) return null;
  const avg = rounded(known.reduce((sum, value) => sum + value, 0) / known.length);
  return { min: Math.min(...known), max: Math.max(...known), avg };
}
