// decide: decides what a cycle does next, from its folded log alone. A crash, a pause and a normal
// step are the same thing here.
//
// Invariants:
//   D1. Every run before the lever comes before the lever, every run after it comes after.
//   D2. A benchmark without a figure before the lever is not run after it: nothing could be
//       compared, and it would only cost.
//   D3. If no benchmark has a figure before the lever, the lever is not applied.
//   D4. The revert is committed before the cycle ends.

import type { CycleEventOf } from "../../contracts/quality/quality-run.ts";
import { recallTarget } from "./plan.ts";
import {
  type BenchmarkRun,
  type Cycle,
  runKeyText,
  type LeverState,
  type RunKey,
} from "./state.ts";
import {
  computeGainInterval,
  computeMean,
  type FigurePair,
  roundToNineDigits,
} from "./statistics.ts";
import {
  type BenchmarkFigures,
  computeGain,
  judgeFigures,
  type CycleJudgement,
  recallScale,
  type Regression,
  type TargetScale,
} from "./verdict.ts";

export type NextStep =
  | { readonly do: "nothing" }
  | { readonly do: "run"; readonly lever_state: LeverState; readonly runs: readonly RunKey[] }
  | { readonly do: "apply" }
  | { readonly do: "revert" }
  | {
      readonly do: "end";
      readonly event: Omit<CycleEventOf<"cycle_end">, "ts">;
      readonly judged: CycleJudgement;
    };

export function decide(cycle: Cycle): NextStep {
  if (cycle.end !== null || cycle.plan === null) return { do: "nothing" };
  const runsBefore = listPendingRuns(cycle, "pre-lever", cycle.benchmarks);
  if (cycle.applied === null && runsBefore.length > 0) {
    return { do: "run", lever_state: "pre-lever", runs: runsBefore };
  } // D1

  const measuredBenchmarks = cycle.benchmarks.filter(
    (name) => listFigures(cycle, name, "pre-lever").length > 0,
  );
  if (cycle.applied === null && measuredBenchmarks.length > 0) return { do: "apply" }; // D3
  const runsAfter = listPendingRuns(cycle, "post-lever", measuredBenchmarks); // D2
  if (cycle.applied !== null && runsAfter.length > 0) {
    return { do: "run", lever_state: "post-lever", runs: runsAfter };
  }

  const judged = judgeCycle(cycle);
  if (judged.verdict === "revert" && cycle.applied !== null && cycle.reverted === null) {
    return { do: "revert" };
  } // D4

  return { do: "end", event: buildEndEvent(cycle, judged), judged };
}

/** The runs on one side that are not over: every benchmark once, then every benchmark again. */
function listPendingRuns(
  cycle: Cycle,
  lever_state: LeverState,
  names: readonly string[],
): readonly RunKey[] {
  const countedNames = names.filter((name) => !cycle.excluded.has(name));
  const repeats = Array.from({ length: cycle.plan?.repeat ?? 1 }, (_, index) => index + 1);
  const keys = repeats.flatMap((repeat) =>
    countedNames.map((benchmark) => ({ benchmark, lever_state, repeat })),
  );

  return keys.filter((key) => !isOver(cycle.runs.get(runKeyText(key))));
}

const isOver = (run: BenchmarkRun | undefined): boolean =>
  run?.status === "ended" || run?.status === "given_up";

/** The runs of a benchmark that ended, on one side of the lever. */
export const listEndedRuns = (
  cycle: Cycle,
  name: string,
  state: LeverState,
): readonly BenchmarkRun[] =>
  [...cycle.runs.values()].filter(
    ({ benchmark, lever_state, status }) =>
      benchmark === name && lever_state === state && status === "ended",
  );

/**
 * What the cycle is about (recall, or a metric), for one benchmark on one side of the lever, run by
 * run.
 */
export function listFigures(cycle: Cycle, name: string, state: LeverState): readonly number[] {
  const isRecall = getTarget(cycle) === recallTarget;
  return listEndedRuns(cycle, name, state).flatMap(
    ({ recall, metric }) => (isRecall ? recall : metric) ?? [],
  );
}

const getTarget = (cycle: Cycle): string => cycle.plan?.target.metric ?? recallTarget;
/** How the cycle's figures are compared; a log of another tool is about recall. */
export const getScale = (cycle: Cycle): TargetScale =>
  cycle.plan === null
    ? recallScale
    : { better: cycle.plan.target.better, isRelative: cycle.plan.target.relative };

const roundedMean = (values: readonly number[]): number | null => {
  const value = computeMean(values);
  return value === null ? null : roundToNineDigits(value);
};
/** The mean of each benchmark on one side of the lever. */
export const computeMeans = (cycle: Cycle, state: LeverState): BenchmarkFigures =>
  Object.fromEntries(
    cycle.benchmarks.map((name) => [name, roundedMean(listFigures(cycle, name, state))]),
  );
const computeRecallMeans = (cycle: Cycle, state: LeverState): Record<string, number | null> =>
  Object.fromEntries(
    cycle.benchmarks.map((name) => [
      name,
      roundedMean(listEndedRuns(cycle, name, state).flatMap(({ recall }) => recall ?? [])),
    ]),
  );

export function judgeCycle(cycle: Cycle): CycleJudgement {
  const scale = getScale(cycle);
  const pairs = cycle.benchmarks.map((name): FigurePair => ({
    before: listFigures(cycle, name, "pre-lever"),
    after: listFigures(cycle, name, "post-lever"),
  }));

  return judgeFigures({
    before: computeMeans(cycle, "pre-lever"),
    after: computeMeans(cycle, "post-lever"),
    noiseFloor: cycle.noiseFloor,
    iteration: cycle.iteration,
    scale,
    lost: cycle.benchmarks.flatMap((name) => findLostBugs(cycle, name)),
    interval: computeGainInterval(
      pairs,
      (before, after) => computeGain(scale, before, after),
      cycle.plan?.seed ?? cycle.name,
    ),
  });
}

/**
 * Known bugs that at least half of the runs before found again, and fewer than half of the runs
 * after.
 */
function findLostBugs(cycle: Cycle, name: string): readonly Regression[] {
  const [before, after] = [
    listEndedRuns(cycle, name, "pre-lever"),
    listEndedRuns(cycle, name, "post-lever"),
  ];
  if (before.length === 0 || after.length === 0) return [];
  const bugs = [
    ...new Set(before.flatMap(({ matches }) => matches.map(({ baseline }) => baseline))),
  ].toSorted();

  const isLost = (bug: string): boolean =>
    shareFinding(before, bug) >= 0.5 && shareFinding(after, bug) < 0.5;
  return bugs.filter(isLost).map((bug) => ({ benchmark: name, bug }));
}

/** The share of runs that found a known bug. */
const shareFinding = (runs: readonly BenchmarkRun[], bug: string): number =>
  runs.filter(({ matches }) => matches.some(({ baseline }) => baseline === bug)).length /
  runs.length;

function buildEndEvent(
  cycle: Cycle,
  judged: CycleJudgement,
): Omit<CycleEventOf<"cycle_end">, "ts"> {
  const isRecall = getTarget(cycle) === recallTarget;
  const [recall_before, recall_after] = [
    computeRecallMeans(cycle, "pre-lever"),
    computeRecallMeans(cycle, "post-lever"),
  ];

  const recallDelta = Object.fromEntries(
    cycle.benchmarks.map((name) => {
      const [from, to] = [recall_before[name] ?? null, recall_after[name] ?? null];
      return [name, from === null || to === null ? null : roundToNineDigits(to - from)];
    }),
  );

  const metric = {
    name: getTarget(cycle),
    better: getScale(cycle).better,
    before: computeMeans(cycle, "pre-lever"),
    after: computeMeans(cycle, "post-lever"),
    gain: judged.gain,
  };

  return {
    event: "cycle_end",
    verdict: judged.verdict,
    recall_before,
    recall_after,
    delta: recallDelta,
    cross_benchmark_check: {
      clean: judged.cross_benchmark_check.clean,
      regressions: [...judged.cross_benchmark_check.regressions],
    },
    why: judged.why,
    mean_gain: judged.mean_gain,
    ...(judged.interval === null ? {} : { interval: judged.interval }),
    ...(isRecall ? {} : { metric }),
  };
}
