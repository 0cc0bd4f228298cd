// estimate-of: a cost estimate from the budget alone, for when there is no history.

import type { Estimate } from "../../views/preview.ts";

/** Before there is any history of runs, the budget itself is all that can be said of the cost. */
export function estimateOf(limits: Readonly<Record<string, number>>): Estimate {
  const most = (name: string): { p50: number; p90: number } | null =>
    limits[name] === undefined ? null : { p50: limits[name] / 2, p90: limits[name] };
  return { tokens: most("tokens"), minutes: most("minutes"), usd: most("usd"), basis: "no history yet: half and all of the budget" };
}
