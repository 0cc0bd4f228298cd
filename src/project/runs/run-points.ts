// run-points: reads the finished runs of each flow from their journals, as points of a trend.

import type { RunView } from "../../core/state.ts";
import type { RunSetup, RunPoint } from "../../insight/run-trend.ts";
import { listRuns, type ProjectPaths } from "./project-paths.ts";
import { readRunOrNull } from "./read-run.ts";

/** Reading more would take longer than they are worth. */
const runsMax = 200;

/**
 * Reads each flow's finished runs among the newest `runsMax` runs, oldest first. A fork pays only
 * for a part and is left out.
 */
export async function readRunPoints(
  paths: ProjectPaths,
): Promise<ReadonlyMap<string, readonly RunPoint[]>> {
  const points = new Map<string, RunPoint[]>();
  for (const run of listRuns(paths).slice(-runsMax)) {
    const view = (await readRunOrNull(paths, run))?.view;
    if (
      view === undefined ||
      view.origins !== undefined ||
      (view.status !== "completed" && view.status !== "stopped")
    ) {
      continue;
    }

    const { tokens, usd, minutes } = view.ledger.run;
    const point = {
      run,
      at: view.updatedAt,
      verdict: view.verdict,
      isDone: view.status === "completed",
      tokens,
      usd,
      minutes,
    };

    const flow = view.drafted.flow.flow;
    points.set(flow, [...(points.get(flow) ?? []), { ...toRunSetup(view), ...point }]);
  }

  return points;
}

export function toRunSetup({
  drafted: { flow, flow_hash, prompts, cast },
}: Pick<RunView, "drafted">): RunSetup {
  const players = Object.entries(cast);
  return {
    flow: flow.flow,
    flow_hash,
    prompts,
    agents: Object.fromEntries(
      players.map(([role, { agent, script }]) => [
        role,
        script === undefined ? agent : `${agent} ${script.slice(0, 8)}`,
      ]),
    ),
    models: Object.fromEntries(
      players.flatMap(([role, { override }]) =>
        override?.model === undefined ? [] : [[role, override.model]],
      ),
    ),
  };
}
