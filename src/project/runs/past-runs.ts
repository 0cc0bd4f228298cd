// past-runs: reads usage and results of earlier runs from their journals, as the history for
// forecasts of whole runs.

import type { RunView } from "../../core/state.ts";
import type { PastCase, CaseFeatures } from "../../insight/forecast.ts";
import { listRuns, type ProjectPaths } from "./project-paths.ts";
import { readRunOrNull } from "./read-run.ts";

/** Reading more runs would take longer than a better forecast is worth. */
const runsMax = 80;

/**
 * Reads a flow's finished runs among the newest `runsMax` runs, oldest first. A stopped one did not
 * succeed.
 */
export async function readRunCases(
  paths: ProjectPaths,
  flow: string,
): Promise<readonly PastCase[]> {
  const cases: PastCase[] = [];
  for (const run of listRuns(paths).slice(-runsMax)) {
    const loaded = await readRunOrNull(paths, run);
    if (loaded === null || loaded.view.drafted.flow.flow !== flow) continue;
    const { status, ledger, origins } = loaded.view;
    if (origins !== undefined) continue; // a fork pays only for a part
    if (status !== "completed" && status !== "stopped") continue;
    const { tokens, minutes, usd } = ledger.run;
    cases.push({
      ...describeRunFeatures(flow, loaded.view.drafted.cast),
      run,
      tokens,
      minutes,
      usd,
      isDone: status === "completed",
    });
  }

  return cases;
}

/**
 * Describes a run for forecasts: it is like another of the same flow, with the same agents and
 * models.
 */
export function describeRunFeatures(flow: string, cast: RunView["drafted"]["cast"]): CaseFeatures {
  const joinDistinct = (values: readonly (string | undefined)[]): string | null =>
    [...new Set(values.flatMap((value) => value ?? []))].toSorted().join(",") || null;
  const players = Object.values(cast);
  return {
    flow,
    step: "run",
    complexity: null,
    agent: joinDistinct(players.map(({ agent }) => agent)),
    model: joinDistinct(players.map(({ override }) => override?.model)),
    size: null,
  };
}
