// start: starts a calibration cycle: validates and records the request, then drives the cycle to
// its verdict.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { cycleEventNames, qualityLogVersion } from "../../contracts/quality/quality-run.ts";
import { readCycles } from "../../calibration/bench/log-file.ts";
import { withCycle } from "../../calibration/bench/open-cycle.ts";
import { bindCycle, isOwnCycle } from "../../calibration/bench/own-cycles.ts";
import type { Trees } from "../../calibration/bench/trees.ts";
import type { BenchmarkPlan, CyclePlan } from "../../calibration/cycle/plan.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse } from "../../project/respond.ts";
import { requireProject, type ProjectPaths } from "../../project/runs/project-paths.ts";
import { driveOpenCycle } from "./drive-open-cycle.ts";
import { readBenchmarks } from "./start-benchmarks.ts";
import type { StartInput } from "./start-flags.ts";
import { readRequest } from "./start-request.ts";

/** Records the cycle before anything is run, so that an interrupted one can be resumed. */
export function startCalibration(
  context: CommandContext,
  input: StartInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = await requireProject(context.cwd);
    const request = readRequest(context, paths, input);
    let benchmarks: BenchmarkPlan[] = [];
    let branch: string | null = null;

    // Called once the cycle is locked and its working trees are there, before its log is begun.
    const prepare = async (trees: Trees): Promise<void> => {
      branch = trees.repository.branch;
      refuseWhileOpen(context, paths);

      const places = { cwd: context.cwd, paths, trees };
      const { benchmarks: words, target } = request;
      const baselines = input.baselines ?? [];
      benchmarks = await readBenchmarks(places, { words, baselines, metric: target.metric });
    };

    const cycle = { name: request.name, isNew: true, prepare };
    return withCycle(context, paths, cycle, async (open) => {
      const { index, cycleStart } = createFirstEvents(request, benchmarks, branch);
      const logStart = open.log.preview(index, cycleStart);
      bindCycle(context.env, paths.root, { ...logStart, name: request.name });
      open.log.append(index, cycleStart);

      return driveOpenCycle(context, open, request.jobs);
    });
  });
}

/**
 * Refuses while another cycle's lever is applied: the effects of two could not be told apart.
 * Another user's log doesn't count.
 */
function refuseWhileOpen(context: CommandContext, paths: ProjectPaths): void {
  for (const cycle of readCycles(paths.root).cycles) {
    const isLeverApplied = cycle.end === null && cycle.applied !== null && cycle.reverted === null;
    if (!isLeverApplied || !isOwnCycle(context.env, paths.root, cycle)) continue;

    refuse("calibration_busy", {
      message: `The cycle ${cycle.name} is open and its lever is on the branch; what is measured now would be measured with it.`,
      remediation: [`autopilot calibrate resume ${cycle.name}`],
    });
  }
}

/** The first two lines of the cycle's log; with them it can be continued after a crash. */
function createFirstEvents(
  request: ReturnType<typeof readRequest>,
  benchmarks: BenchmarkPlan[],
  branch: string | null,
) {
  const {
    lever,
    name,
    iteration,
    hypothesis,
    noiseFloor,
    benchmarks: _words,
    ...planFields
  } = request;

  const plan: CyclePlan = {
    ...planFields,
    lever: lever.plan,
    benchmarks,
    seed: name,
    ...(branch === null ? {} : { branch }),
  };

  const index = {
    event: "_index",
    schema_version: qualityLogVersion,
    event_types: [...cycleEventNames],
    cycle_name: name,
    lever_under_test: lever.id,
    benchmarks: benchmarks.map((benchmark) => benchmark.name),
    iteration,
  } as const;

  const cycleStart = {
    event: "cycle_start",
    hypothesis,
    noise_floor_threshold: noiseFloor,
    plan,
  } as const;

  return { index, cycleStart };
}
