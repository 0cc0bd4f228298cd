// run-cases: usage and results of earlier runs here, read from their journals: the history for forecasts of whole runs.

import type { RunView } from "../../core/state.ts";
import type { Case, Features } from "../../insight/forecast.ts";
import { listRuns, type ProjectPaths } from "./project-paths.ts";
import { readRunOrNull } from "./read-run.ts";

/** Reading more would take longer than they are worth. */
const runsMax = 80;

/** Oldest first; only finished runs. A stopped one did not succeed. */
export async function runCases(paths: ProjectPaths, flow: string): Promise<readonly Case[]> {
  const cases: Case[] = [];
  for (const run of listRuns(paths).slice(-runsMax)) {
    const read = await readRunOrNull(paths, run);
    if (read === null || read.view.drafted.flow.flow !== flow) continue;
    const { status, ledger, origins } = read.view;
    if (origins !== undefined) continue; // a fork pays only for a part
    if (status !== "completed" && status !== "stopped") continue;
    const { tokens, minutes, usd } = ledger.run;
    cases.push({ ...runFeatures(flow, read.view.drafted.cast), run, tokens, minutes, usd, isDone: status === "completed" });
  }
  return cases;
}

/** A run is like another of the same flow, with the same agents and models. */
export function runFeatures(flow: string, cast: RunView["drafted"]["cast"]): Features {
  const among = (values: readonly (string | undefined)[]): string | null =>
    [...new Set(values.flatMap((value) => value ?? []))].toSorted().join(",") || null;
  const all = Object.values(cast);
  return {
    flow,
    step: "run",
    complexity: null,
    agent: among(all.map(({ agent }) => agent)),
    model: among(all.map(({ override }) => override?.model)),
    size: null,
  };
}
