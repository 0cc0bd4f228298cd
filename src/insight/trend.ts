// trend: compares this run's metrics with the previous run and with all runs so far. One run alone
// isn't a trend.

import type { RunMetrics, TrendSummary } from "../contracts/roadmap-reports.ts";
import type { FailureCategory } from "../contracts/roadmap-values.ts";
import { roundToHundredths } from "./metrics.ts";

/** `runs` in the order they were recorded, this one last; null below two. */
export function buildTrend(runs: readonly RunMetrics[]): TrendSummary | null {
  const [previous, current] = runs.slice(-2);
  if (previous === undefined || current === undefined) return null;
  const categoriesOf = (run: RunMetrics): readonly FailureCategory[] =>
    Object.entries(run.failure_taxonomy_histogram).flatMap(([name, times]) =>
      (times ?? 0) > 0 ? [name as FailureCategory] : [],
    );
  const previousCategories = new Set(categoriesOf(previous));

  return {
    success_rate_delta: delta(previous.success_rate, current.success_rate),
    avg_alignment_delta: delta(previous.avg_alignment_score, current.avg_alignment_score),
    estimated_cost_delta: current.total_estimated_tokens - previous.total_estimated_tokens,
    recurring_failures: categoriesOf(current).filter((category) =>
      previousCategories.has(category),
    ),
    historical: {
      total_runs: runs.length,
      success_rate: computeSpread(runs.map((run) => run.success_rate)),
      avg_alignment: computeSpread(runs.map((run) => run.avg_alignment_score)),
      total_cost: computeSpread(runs.map((run) => run.total_estimated_tokens)),
    },
  };
}

/** A sentence if the success rate fell; else null. */
export function describeTrendWarning(trend: TrendSummary): string | null {
  const { success_rate_delta: change } = trend;
  if (change === null || change >= 0) return null;
  return `The success rate fell by ${Math.round(-change * 100)} points against the run before.`;
}

const delta = (before: number | null, now: number | null): number | null =>
  before === null || now === null ? null : roundToHundredths(now - before);

function computeSpread(
  values: readonly (number | null)[],
): TrendSummary["historical"]["success_rate"] {
  const numbers = values.flatMap((value) => value ?? []);
  if (numbers.length === 0) return null;
  const avg = roundToHundredths(numbers.reduce((sum, value) => sum + value, 0) / numbers.length);

  return { min: Math.min(...numbers), max: Math.max(...numbers), avg };
}
