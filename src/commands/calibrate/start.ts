// start: starts a calibration cycle: validates and records the request, then drives the cycle to
// its verdict.

import { existsSync, statSync } from "node:fs";
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import type { CommandResponse } from "../../contracts/command-response.ts";
import { cycleEventNames, runStateVersion } from "../../contracts/quality-run.ts";
import { findDefaultBaseline } from "../../calibration/bench/preflight.ts";
import { readCycles } from "../../calibration/bench/log-file.ts";
import { withCycle } from "../../calibration/bench/open-cycle.ts";
import { bindCycle, isOwnCycle } from "../../calibration/bench/own-cycles.ts";
import { parseTypedLever } from "../../calibration/bench/typed-lever.ts";
import type { Trees } from "../../calibration/bench/trees.ts";
import { isMetricName } from "../../calibration/cycle/metric.ts";
import {
  benchmarkNamePattern,
  type BenchmarkPlan,
  benchmarksMax,
  type CyclePlan,
  cycleNamePattern,
  cycleNameCharsMax,
  parseDuration,
  hangMsDefault,
  recallTarget,
  repeatMax,
} from "../../calibration/cycle/plan.ts";
import { iterationsMax, noiseFloorDefault } from "../../calibration/cycle/verdict.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, refuse } from "../../project/respond.ts";
import { requireProject, type ProjectPaths } from "../../project/runs/project-paths.ts";
import { systemClock } from "../../project/runs/system-clock.ts";
import { driveOpenCycle } from "./drive-open-cycle.ts";
import { parseNoiseFloor } from "./noise-floor.ts";

/** The flags of `calibrate start`, as they were typed. */
export type StartInput = {
  readonly name?: string | undefined;
  readonly lever?: string | undefined;
  readonly to?: string | undefined;
  readonly benchmarks?: string | undefined;
  readonly hypothesis?: string | undefined;
  readonly description?: string | undefined;
  readonly apply?: string | undefined;
  readonly patch?: string | undefined;
  readonly commit?: string | undefined;
  readonly command?: string | undefined;
  readonly agent?: string | undefined;
  readonly findings?: string | undefined;
  readonly baselines?: readonly string[] | undefined;
  readonly metric?: string | undefined;
  readonly better?: string | undefined;
  readonly noiseFloor?: string | undefined;
  readonly iteration?: number | undefined;
  readonly jobs?: number | undefined;
  readonly repeat?: number | undefined;
  readonly hangAfter?: string | undefined;
};

const refuseInput = (message: string, remedy?: string): never =>
  refuse("calibration_input_invalid", {
    message,
    ...(remedy === undefined ? {} : { remediation: [remedy] }),
  });

/** Records the cycle before anything is run, so that an interrupted one can be resumed. */
export function startCalibration(
  context: CommandContext,
  input: StartInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const paths = await requireProject(context.cwd);
    const request = validateInput(context, paths, input);
    let benchmarks: BenchmarkPlan[] = [];
    let branch: string | null = null;

    // Called once the cycle is locked and its working trees are there, before its log is begun.
    const prepare = async (trees: Trees): Promise<void> => {
      branch = trees.repository.branch;
      refuseWhileOpen(context, paths);
      const { benchmarks: words, target } = request;
      benchmarks = await readBenchmarks(
        { cwd: context.cwd, paths, trees },
        { words, baselines: input.baselines ?? [], metric: target.metric },
      );
    };

    return withCycle(context, paths, { name: request.name, isNew: true, prepare }, async (open) => {
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
        schema_version: runStateVersion,
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

      bindCycle(context.env, paths.root, { ...open.log.preview(index, cycleStart), name });
      open.log.append(index, cycleStart);
      return driveOpenCycle(context, open, plan.jobs);
    });
  });
}

/**
 * Refuses while another cycle's lever is applied: the effects of two could not be told apart.
 * Another user's log doesn't count.
 */
function refuseWhileOpen(context: CommandContext, paths: ProjectPaths): void {
  for (const cycle of readCycles(paths.root).cycles) {
    const { name } = cycle;
    if (
      cycle.end === null &&
      cycle.applied !== null &&
      cycle.reverted === null &&
      isOwnCycle(context.env, paths.root, cycle)
    ) {
      refuse("calibration_busy", {
        message: `The cycle ${name} is open and its lever is on the branch; what is measured now would be measured with it.`,
        remediation: [`autopilot calibrate resume ${name}`],
      });
    }
  }
}

function validateInput(context: CommandContext, paths: ProjectPaths, input: StartInput) {
  const lever = parseLever(context, paths, input);
  const hypothesis = input.hypothesis ?? "";
  const name = parseName(input.name ?? defaultName(lever.id));

  if (hypothesis.trim() === "") {
    refuseInput(
      "A cycle needs a hypothesis that its figures can contradict.",
      '--hypothesis "what you expect, and why"',
    );
  }

  const benchmarks = splitBenchmarks(input.benchmarks ?? "");
  const iteration = input.iteration ?? 1;
  if (iteration > iterationsMax) {
    refuseInput(
      `The iteration is ${iteration}, expected 1 to ${iterationsMax}.`,
      "after the third a person decides",
    );
  }

  const repeat = input.repeat ?? 1;
  if (repeat > repeatMax) refuseInput(`--repeat is ${repeat}, expected 1 to ${repeatMax}.`);
  const { target, noiseFloor } = parseTarget(input);
  const hangMs = input.hangAfter === undefined ? hangMsDefault : parseDuration(input.hangAfter);
  if (hangMs === null) {
    return refuseInput(
      `--hang-after is ${input.hangAfter ?? ""}, expected a time such as 90m, 2h or 45s.`,
    );
  }

  const findings = input.findings ?? null;
  if (findings !== null && (isAbsolute(findings) || findings.split("/").includes(".."))) {
    refuseInput(`--findings is ${findings}, expected a path below the benchmark's folder.`);
  }

  return {
    name,
    lever,
    hypothesis,
    iteration,
    noiseFloor,
    benchmarks,
    description: input.description ?? hypothesis,
    command: input.command ?? null,
    ...(input.agent === undefined ? {} : { agent: input.agent }),
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

function parseName(name: string): string {
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

/** Which metric is compared, in which direction, and how large a difference must be to count. */
function parseTarget(input: StartInput) {
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

/**
 * A lever is typed by its id (`prompt:FLOW/STEP`) with the value to try in `--to`, or is any change
 * that a patch, commit or command makes.
 */
function parseLever(
  context: CommandContext,
  paths: ProjectPaths,
  input: StartInput,
): { readonly id: string; readonly plan: CyclePlan["lever"] } {
  const id = (input.lever ?? "").trim();
  if (id === "") {
    return refuseInput(
      "A cycle needs a lever: what is changed between the runs before and the runs after.",
      "--lever ID with --patch FILE, --commit SHA or --apply CMD",
    );
  }

  const sources = [
    ["patch", input.patch],
    ["commit", input.commit],
    ["command", input.apply],
  ] as const;
  const namedSources = sources.filter(([, source]) => source !== undefined);
  const typed = parseTypedLever(id);
  const [onlySource] = namedSources;

  if (typed !== null && namedSources.length === 0) {
    if ((typed.kind === "agent" || typed.kind === "model") && input.agent !== undefined) {
      return refuseInput(
        `--agent would be in force on both sides, so the lever ${id} could show nothing.`,
        "leave out --agent",
      );
    }

    if (input.to === undefined) {
      return refuseInput(
        `The lever ${id} needs the value to try.`,
        typed.kind === "prompt" ? "--to FILE: the new prompt" : "--to VALUE",
      );
    }

    const value =
      typed.kind === "prompt" ? pathForLog(paths, resolve(context.cwd, input.to)) : input.to;
    return { id, plan: { kind: typed.kind, source: typed.subject, value } };
  }

  if (onlySource === undefined || namedSources.length > 1) {
    return refuseInput(
      namedSources.length > 1
        ? "More than one lever was given; only one can be measured at a time."
        : `Nothing says what the lever ${id} changes.`,
      "one of --patch FILE, --commit SHA, --apply CMD; or --lever prompt:FLOW/STEP, limit:NAME, agent:ROLE, model:ROLE with --to",
    );
  }

  const [kind, source = ""] = onlySource;
  return {
    id,
    plan: {
      kind,
      source: kind === "patch" ? pathForLog(paths, resolve(context.cwd, source)) : source,
    },
  };
}

/** A path as the log records it: relative to the repository's root if it is inside. */
function pathForLog({ root }: ProjectPaths, path: string): string {
  const relativePath = relative(root, path);
  return relativePath.startsWith("..") || isAbsolute(relativePath) ? path : relativePath;
}

type BenchmarkPlaces = {
  readonly cwd: string;
  readonly paths: ProjectPaths;
  readonly trees: Trees;
};

/** Each word is `NAME=WHERE` or `WHERE`: a folder here, a folder elsewhere, or a commit. */
async function readBenchmarks(
  { cwd, paths, trees }: BenchmarkPlaces,
  {
    words,
    baselines,
    metric,
  }: {
    readonly words: readonly string[];
    readonly baselines: readonly string[];
    readonly metric: string;
  },
): Promise<BenchmarkPlan[]> {
  const plans: BenchmarkPlan[] = [];
  // `NAME=FILE`, or for the only benchmark `FILE`, which is kept under the empty name.
  const baselinesByName = new Map(
    baselines.map((word) => [
      word.includes("=") ? word.slice(0, word.indexOf("=")) : "",
      word.slice(word.indexOf("=") + 1),
    ]),
  );

  for (const word of words) {
    const [, typedName, location = word] = /^([^=/]+)=(.+)$/.exec(word) ?? []; // "chi=../bench/chi"
    const name = typedName ?? basename(location).replaceAll(/[^A-Za-z0-9._-]/g, "-");
    if (!benchmarkNamePattern.test(name)) {
      refuseInput(
        `The benchmark ${JSON.stringify(word)} has no plain name.`,
        "--benchmarks NAME=WHERE",
      );
    }

    if (plans.some((benchmark) => benchmark.name === name)) {
      refuseInput(
        `Two benchmarks are called ${name}.`,
        "--benchmarks one=A,other=B tells them apart",
      );
    }

    const plan = await locateBenchmark({ cwd, paths, trees }, location);
    const baseline =
      baselinesByName.get(name) ?? (words.length === 1 ? baselinesByName.get("") : undefined);
    const path =
      baseline === undefined
        ? await findDefaultBaseline(trees, plan)
        : pathForLog(paths, resolve(cwd, baseline));
    const isOptional =
      metric !== recallTarget &&
      baseline === undefined &&
      !existsSync(isAbsolute(path) ? path : join(paths.root, path));

    plans.push({ name, ...plan, baseline: isOptional ? null : path });
  }

  const names = plans.map((benchmark) => benchmark.name);
  for (const name of baselinesByName.keys()) {
    if (!names.includes(name) && !(name === "" && words.length === 1)) {
      refuseInput(
        `--baseline names ${name === "" ? "no benchmark" : name}, expected NAME=FILE with one of ${names.join(", ")}.`,
      );
    }
  }

  return plans;
}

async function locateBenchmark(
  { cwd, paths, trees }: BenchmarkPlaces,
  location: string,
): Promise<Pick<BenchmarkPlan, "kind" | "at" | "commit">> {
  const path = resolve(cwd, location);
  const loggedPath = pathForLog(paths, path);
  const isOutside = isAbsolute(loggedPath);
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isFolder && isOutside) return { kind: "outside", at: path };
  if (isFolder) return { kind: "folder", at: loggedPath === "" ? "." : loggedPath };
  const commit = await trees.resolveCommit(location);
  if (commit !== null) return { kind: "ref", at: location, commit };

  return { kind: "folder", at: isOutside ? location : loggedPath }; // there is no such folder: the preflight says so
}
