// start-request: reads from the flags of `calibrate start` what the new cycle is asked to do.

import { isAbsolute } from "node:path";
import { isMetricName } from "../../calibration/cycle/metric.ts";
import {
  benchmarksMax,
  cycleNameCharsMax,
  cycleNamePattern,
  hangMsDefault,
  parseDuration,
  recallTarget,
  repeatMax,
} from "../../calibration/cycle/plan.ts";
import { iterationsMax, noiseFloorDefault } from "../../calibration/cycle/verdict.ts";
import type { CommandContext } from "../../project/command-context.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { parseNoiseFloor } from "./noise-floor.ts";
import { refuseInput, type StartInput } from "./start-flags.ts";
import { readLever } from "./start-lever.ts";

export function readRequest(context: CommandContext, paths: ProjectPaths, input: StartInput) {
  const lever = readLever(context, paths, input);
  const name = readName(input.name ?? defaultName(lever.id));
  const hypothesis = readHypothesis(input.hypothesis ?? "");
  const benchmarks = splitBenchmarks(input.benchmarks ?? "");
  const iteration = readIteration(input.iteration ?? 1);
  const repeat = readRepeat(input.repeat ?? 1);
  const { target, noiseFloor } = readTarget(input);
  const hangMs = readHangMs(input.hangAfter);
  const findings = readFindings(input.findings);
  const agentField = input.agent === undefined ? {} : { agent: input.agent };

  return {
    name,
    lever,
    hypothesis,
    iteration,
    noiseFloor,
    benchmarks,
    description: input.description ?? hypothesis,
    command: input.command ?? null,
    ...agentField,
    findings,
    target,
    repeat,
    jobs: input.jobs ?? 1,
    hang_ms: hangMs,
  };
}

function defaultName(leverId: string): string {
  const slug = leverId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")
    .slice(0, 60);

  return `${systemClock.now().slice(0, 10)}-${slug}`;
}

function readName(name: string): string {
  if (name.length > cycleNameCharsMax) {
    refuseInput(
      `The cycle's name has ${name.length} characters, at most ${cycleNameCharsMax} are allowed.`,
    );
  }

  if (!cycleNamePattern.test(name)) {
    refuseInput(
      `The cycle's name is ${JSON.stringify(name)}, expected letters, digits, - _ and . only.`,
      "--name 2026-05-15-slug: a date and a few words",
    );
  }

  return name;
}

function readHypothesis(hypothesis: string): string {
  if (hypothesis.trim() === "") {
    refuseInput(
      "A cycle needs a hypothesis that its figures can contradict.",
      '--hypothesis "what you expect, and why"',
    );
  }

  return hypothesis;
}

function splitBenchmarks(list: string): readonly string[] {
  const words = list
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");

  if (words.length === 0) {
    refuseInput(
      "A cycle needs benchmarks.",
      "--benchmarks a,b,c: folders of this repository, folders elsewhere, or commits",
    );
  }

  if (words.length > benchmarksMax) {
    refuseInput(`${words.length} benchmarks were given, at most ${benchmarksMax} are run.`);
  }

  return words;
}

function readIteration(iteration: number): number {
  if (iteration > iterationsMax) {
    refuseInput(
      `The iteration is ${iteration}, expected 1 to ${iterationsMax}.`,
      "after the third a person decides",
    );
  }

  return iteration;
}

function readRepeat(repeat: number): number {
  if (repeat > repeatMax) refuseInput(`--repeat is ${repeat}, expected 1 to ${repeatMax}.`);
  return repeat;
}

/** Which metric is compared, in which direction, and how large a difference must be to count. */
function readTarget(input: StartInput) {
  const metric = input.metric ?? recallTarget;
  const isRecall = metric === recallTarget;

  if (!isMetricName(metric)) {
    refuseInput(
      `The metric is called ${JSON.stringify(metric)}, expected a letter, then letters, digits, . _ or -.`,
    );
  }

  if (!isRecall && input.command === undefined) {
    refuseInput(`The metric ${metric} must be printed by a command.`, "--command CMD");
  }

  if (isRecall && input.better === "lower") {
    refuseInput("A lower recall is not better.", "--metric NAME --better lower");
  }

  const defaultFloor = isRecall ? String(noiseFloorDefault) : `${noiseFloorDefault * 100}%`;
  const { floor: noiseFloor, isRelative } = parseNoiseFloor(input.noiseFloor, defaultFloor);
  if (isRecall && !isRelative && noiseFloor >= 1) {
    refuseInput(
      `--noise-floor is ${noiseFloor}, and no recall can rise by more than 1.`,
      "--noise-floor 0.05, or a share: --noise-floor 5%",
    );
  }

  const better = input.better === "lower" ? ("lower" as const) : ("higher" as const);
  return { noiseFloor, target: { metric, better, relative: isRelative } };
}

function readHangMs(hangAfter: string | undefined): number {
  if (hangAfter === undefined) return hangMsDefault;

  const hangMs = parseDuration(hangAfter);
  if (hangMs === null) {
    return refuseInput(`--hang-after is ${hangAfter}, expected a time such as 90m, 2h or 45s.`);
  }

  return hangMs;
}

function readFindings(findings: string | undefined): string | null {
  if (findings === undefined) return null;

  if (isAbsolute(findings) || findings.split("/").includes("..")) {
    refuseInput(`--findings is ${findings}, expected a path below the benchmark's folder.`);
  }

  return findings;
}
