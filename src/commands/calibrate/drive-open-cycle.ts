// drive-open-cycle: drives an open calibration cycle and responds with its result.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { driveCycle } from "../../calibration/bench/drive.ts";
import type { OpenCycle } from "../../calibration/bench/open-cycle.ts";
import { judgeCycle } from "../../calibration/cycle/decide.ts";
import { cyclesFolder } from "../../calibration/cycle/plan.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { respond } from "../../project/respond.ts";
import { buildCycleData, renderCyclePage } from "./cycle-page.ts";

/**
 * Works until the cycle has a verdict, is interrupted or can't go on; `jobs`: how many runs at
 * once.
 */
export async function driveOpenCycle(
  context: CommandContext,
  openCycle: OpenCycle,
  jobs: number,
): Promise<CommandResponse> {
  const { log } = openCycle;
  const { cycle } = log;
  const result = await driveCycle({ ...openCycle, context, jobs });
  const data = buildCycleData(cycle);
  const responseFields = { data, page: renderCyclePage(cycle) };

  if (result.kind === "interrupted") {
    return respond("calibration_interrupted", {
      ...responseFields,
      message: `The cycle ${cycle.name} was interrupted and stays open.`,
      remediation: [`autopilot calibrate resume ${cycle.name}`],
    });
  }

  if (result.kind !== "ended") {
    return respond(
      result.kind === "preflight" ? "calibration_preflight_failed" : "calibration_stopped",
      {
        data,
        message: result.blocker.problem,
        remediation: [
          result.blocker.remedy,
          `autopilot calibrate resume ${cycle.name}`,
          // A cycle's plan is fixed: a mistake in it takes a new cycle, and nothing measured is
          // lost by that.
          ...(result.kind === "preflight"
            ? [
                `if a flag was wrong: rm -r "${cyclesFolder}/${cycle.name}", then autopilot calibrate start again`,
              ]
            : []),
        ],
      },
    );
  }

  return respond("calibration_ended", {
    ...responseFields,
    message: describeEnd(openCycle),
    remediation: nextSteps(openCycle),
  });
}

function describeEnd({ log: { cycle } }: OpenCycle): string {
  return `The cycle ${cycle.name} ended: ${cycle.end?.verdict ?? "no verdict"}. ${cyclesFolder}/${cycle.name}/audit.md tells why.`;
}

function nextSteps({ log: { cycle } }: OpenCycle): readonly string[] {
  const { applied, end } = cycle;
  if (end?.verdict === "iterate" && judgeCycle(cycle).mean_gain === null)
  // the line's own delta is of recall alone
  {
    return [
      "nothing was measured: fix the benchmarks (the log has the reason of each), then autopilot calibrate start again",
    ];
  }

  if (end?.verdict === "iterate") {
    return [
      `autopilot calibrate start --iteration ${cycle.iteration + 1} … with a better lever`,
      ...(applied === null
        ? []
        : [`git revert ${applied.commit.slice(0, 12)} takes this lever back`]),
    ];
  }

  if (end?.verdict === "halt-iterate-cap" && applied !== null) {
    return [`git revert ${applied.commit.slice(0, 12)} takes the lever back, if you decide so`];
  }

  return [];
}
