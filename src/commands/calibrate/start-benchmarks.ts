// start-benchmarks: finds the benchmarks that `calibrate start` names, and the baseline of each: the
// list of bugs known to be in it.

import { existsSync, statSync } from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import { findDefaultBaseline } from "../../calibration/bench/preflight.ts";
import type { Trees } from "../../calibration/bench/trees.ts";
import {
  benchmarkNamePattern,
  type BenchmarkPlan,
  recallTarget,
} from "../../calibration/cycle/plan.ts";
import type { ProjectPaths } from "../../project/runs/project-paths.ts";
import { pathForLog, refuseInput } from "./start-flags.ts";

type BenchmarkPlaces = {
  readonly cwd: string;
  readonly paths: ProjectPaths;
  readonly trees: Trees;
};

type BenchmarkLocation = Pick<BenchmarkPlan, "kind" | "at" | "commit">;

type BenchmarkWords = {
  /** Each is `NAME=WHERE` or `WHERE`: a folder here, a folder elsewhere, or a commit. */
  readonly words: readonly string[];
  /** Each is `NAME=FILE`, or `FILE` if there is only one benchmark. */
  readonly baselines: readonly string[];
  readonly metric: string;
};

export async function readBenchmarks(
  places: BenchmarkPlaces,
  { words, baselines, metric }: BenchmarkWords,
): Promise<BenchmarkPlan[]> {
  const baselinesByName = new Map(baselines.map(splitBaseline));
  const plans: BenchmarkPlan[] = [];

  for (const word of words) {
    const { name, location } = splitBenchmark(word);
    if (plans.some((benchmark) => benchmark.name === name)) {
      refuseInput(
        `Two benchmarks are called ${name}.`,
        "--benchmarks one=A,other=B tells them apart",
      );
    }

    const located = await locateBenchmark(places, location);
    const onlyBaseline = words.length === 1 ? baselinesByName.get("") : undefined;
    const typedBaseline = baselinesByName.get(name) ?? onlyBaseline;
    const baseline = await findBaseline(places, located, typedBaseline, metric);
    plans.push({ name, ...located, baseline });
  }

  const names = plans.map((benchmark) => benchmark.name);
  refuseStrayBaselines([...baselinesByName.keys()], names);
  return plans;
}

/** A baseline's name and file; the name is empty if none is given. */
function splitBaseline(word: string): readonly [name: string, file: string] {
  const equalsIndex = word.indexOf("=");
  const name = equalsIndex === -1 ? "" : word.slice(0, equalsIndex);
  return [name, word.slice(equalsIndex + 1)];
}

function splitBenchmark(word: string): { readonly name: string; readonly location: string } {
  const [, typedName, location = word] = /^([^=/]+)=(.+)$/.exec(word) ?? []; // "chi=../bench/chi"
  const name = typedName ?? basename(location).replaceAll(/[^A-Za-z0-9._-]/g, "-");

  if (!benchmarkNamePattern.test(name)) {
    refuseInput(
      `The benchmark ${JSON.stringify(word)} has no plain name.`,
      "--benchmarks NAME=WHERE",
    );
  }

  return { name, location };
}

async function locateBenchmark(
  { cwd, paths, trees }: BenchmarkPlaces,
  location: string,
): Promise<BenchmarkLocation> {
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

/**
 * The file of known bugs, as the log records it. Null if there is none and none is needed: only
 * recall is measured by it.
 */
async function findBaseline(
  { cwd, paths, trees }: BenchmarkPlaces,
  benchmark: BenchmarkLocation,
  typedBaseline: string | undefined,
  metric: string,
): Promise<string | null> {
  if (typedBaseline !== undefined) return pathForLog(paths, resolve(cwd, typedBaseline));

  const path = await findDefaultBaseline(trees, benchmark);
  if (metric === recallTarget) return path;

  const absolutePath = isAbsolute(path) ? path : join(paths.root, path);
  return existsSync(absolutePath) ? path : null;
}

function refuseStrayBaselines(baselineNames: readonly string[], names: readonly string[]): void {
  for (const name of baselineNames) {
    const isOnlyOne = name === "" && names.length === 1;
    if (names.includes(name) || isOnlyOne) continue;

    const strayName = name === "" ? "no benchmark" : name;
    refuseInput(
      `--baseline names ${strayName}, expected NAME=FILE with one of ${names.join(", ")}.`,
    );
  }
}
