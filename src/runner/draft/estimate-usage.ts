// estimate-usage: forecasts a run's usage from earlier runs of its flow; falls back to the budget while there are too few.

import type { RunView } from "../../core/state.ts";
import { forecastFor } from "../../insight/forecast.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { runCases, runFeatures } from "../../project/runs/run-cases.ts";
import type { Estimate } from "../../views/preview.ts";

export async function readEstimate(paths: ProjectPaths, { drafted }: Pick<RunView, "drafted">): Promise<Estimate> {
  const flow = drafted.flow.flow;
  const forecast = forecastFor(runFeatures(flow, drafted.cast), await runCases(paths, flow));
  if (forecast === null) return fromBudget(drafted.limits.run);
  const { tokens, minutes, usd, samples, success, alike } = forecast;
  const same = alike.includes("agent") ? " with the same agent" : "";
  return { tokens, minutes, usd, basis: `${samples} earlier ${flow} runs${same}; ${Math.round(success * 100)} % succeed` };
}

/** Without a history of runs, the budget is all that is known of the cost. */
function fromBudget(limits: Readonly<Record<string, number>>): Estimate {
  const most = (name: string): { p50: number; p90: number } | null =>
    limits[name] === undefined ? null : { p50: limits[name] / 2, p90: limits[name] };
  return { tokens: most("tokens"), minutes: most("minutes"), usd: most("usd"), basis: "no history yet: half and all of the budget" };
}
