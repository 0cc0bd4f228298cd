// trend: compares the runs of a flow, and what changed between them; reads only.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { buildRunTrend } from "../../insight/run-trend.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse, respond, screenRows } from "../../project/respond.ts";
import { findProject } from "../../project/runs/project-paths.ts";
import { readRunPoints } from "../../project/runs/run-points.ts";
import { trendPage } from "../../views/experiment/trend-page.ts";

/** The runs of one flow, by default of the flow that was run last. */
export function trend(
  context: CommandContext,
  input: { readonly flow?: string | undefined },
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = findProject(context.cwd);
    const pointsByFlow = paths === null ? new Map<string, never>() : await readRunPoints(paths);
    const [newestFlow] = [...pointsByFlow].toSorted(([, left], [, right]) =>
      newestRun(left) < newestRun(right) ? 1 : -1,
    );
    const flow = input.flow ?? newestFlow?.[0];
    const runs = flow === undefined ? undefined : pointsByFlow.get(flow);
    if (flow === undefined || runs === undefined) {
      return refuse("run_missing", {
        message:
          flow === undefined
            ? "No run has ended here."
            : `No run of the flow ${flow} has ended here.${didYouMean(flow, [...pointsByFlow.keys()])}`,
        remediation:
          pointsByFlow.size === 0
            ? ["autopilot runs"]
            : [...pointsByFlow.keys()].map((name) => `autopilot runs --trend --flow ${name}`),
      });
    }

    const runTrend = buildRunTrend(runs);
    return respond("ok", {
      message: `${runs.length} runs of ${flow}.`,
      page: trendPage(flow, runTrend),
      rowsMax: screenRows,
      data: { flow, trend: runTrend },
    });
  });
}

const newestRun = (runs: readonly { readonly run: string }[]): string => runs.at(-1)?.run ?? "";
