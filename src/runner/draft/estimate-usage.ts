// estimate-usage: forecasts a run's usage from earlier runs of its flow; falls back to the budget
// while there are too few.

import type { RunView } from "../../core/state.ts";
import { forecastCase } from "../../insight/forecast.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { readRunCases, describeRunFeatures } from "../../project/runs/past-runs.ts";
import type { Estimate } from "../../views/preview.ts";

export async function estimateUsage(
  paths: ProjectPaths,
  { drafted }: Pick<RunView, "drafted">,
): Promise<Estimate> {
  const flow = drafted.flow.flow;
  const forecast = forecastCase(
    describeRunFeatures(flow, drafted.cast),
    await readRunCases(paths, flow),
  );
  if (forecast === null) return estimateFromBudget(drafted.limits.run);
  const { tokens, minutes, usd, samples, success, alike } = forecast;
  const qualifier = alike.includes("agent") ? " with the same agent" : "";

  return {
    tokens,
    minutes,
    usd,
    basis: `${samples} earlier ${flow} runs${qualifier}; ${Math.round(success * 100)} % succeed`,
  };
}

/** Estimates from the budget: without a history of runs, nothing else is known of the cost. */
function estimateFromBudget(limits: Readonly<Record<string, number>>): Estimate {
  const toHalfAndAll = (name: string): { p50: number; p90: number } | null =>
    limits[name] === undefined ? null : { p50: limits[name] / 2, p90: limits[name] };
  return {
    tokens: toHalfAndAll("tokens"),
    minutes: toHalfAndAll("minutes"),
    usd: toHalfAndAll("usd"),
    basis: "no history yet: half and all of the budget",
  };
}
