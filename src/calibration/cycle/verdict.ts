// verdict: judges from the figures before and after a lever whether to ship it, revert it, iterate
// or halt.
//
// Invariants:
//   V1. A benchmark without a figure on both sides is n/a: null in every result, and it counts
//       neither way. Nothing is extrapolated.
//   V2. One benchmark below minus the floor reverts, however high the mean rose.
//   V3. A ship whose interval reaches down to the floor is an iterate: the runs differ too much to
//       say.

import type { cycleVerdicts } from "../../contracts/quality/quality-run.ts";
import { type GainInterval, computeMean, roundToNineDigits } from "./statistics.ts";

export type CycleVerdict = (typeof cycleVerdicts)[number];
/** By benchmark; null if it is n/a. */
export type BenchmarkFigures = Readonly<Record<string, number | null>>;
/** `bug`: null if only a figure is known. */
export type Regression = { readonly benchmark: string; readonly bug: string | null };
export type Better = "higher" | "lower";
/** `isRelative`: gains and the noise floor are shares of the figure before. */
export type TargetScale = { readonly better: Better; readonly isRelative: boolean };

export const iterationsMax = 3;
export const noiseFloorDefault = 0.05;

export type CycleJudgement = {
  readonly verdict: CycleVerdict;
  /** After minus before, in the figure's own unit. */
  readonly delta: BenchmarkFigures;
  /**
   * What is compared with the noise floor: positive is better, and it is a share of the figure
   * before if the floor is relative.
   */
  readonly gain: BenchmarkFigures;
  readonly mean_gain: number | null;
  readonly cross_benchmark_check: {
    readonly clean: boolean;
    readonly regressions: readonly Regression[];
  };
  readonly interval: GainInterval | null;
  readonly why: string;
};

export type JudgeInput = {
  readonly before: BenchmarkFigures;
  readonly after: BenchmarkFigures;
  readonly noiseFloor: number;
  readonly iteration: number;
  readonly scale?: TargetScale;
  /**
   * Bugs that the runs before found and those after did not; if unknown, a figure that fell
   * represents them.
   */
  readonly lost?: readonly Regression[];
  readonly interval?: GainInterval | null;
};

export const recallScale: TargetScale = { better: "higher", isRelative: false };

/**
 * The gain of a change from one figure to another. A relative change from zero counts as 100 %, so
 * that no fall from zero is missed.
 */
export function computeGain(
  { better, isRelative }: TargetScale,
  before: number,
  after: number,
): number {
  const improvement = better === "higher" ? after - before : before - after;
  if (!isRelative) return roundToNineDigits(improvement);
  return before === 0 ? Math.sign(improvement) : roundToNineDigits(improvement / Math.abs(before));
}

/** A gain or a floor as a person reads it: a share in per cent. */
export const formatGainAmount = ({ isRelative }: TargetScale, value: number): string =>
  isRelative ? `${Math.round(value * 1000) / 10} %` : String(roundToFourDigits(value));

export function judgeFigures({
  before,
  after,
  noiseFloor,
  iteration,
  scale = recallScale,
  lost,
  interval = null,
}: JudgeInput): CycleJudgement {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const compare = (name: string, compute: (from: number, to: number) => number): number | null => {
    const [from, to] = [before[name] ?? null, after[name] ?? null];
    return from === null || to === null ? null : compute(from, to); // V1
  };
  const delta = Object.fromEntries(
    names.map((name) => [name, compare(name, (from, to) => roundToNineDigits(to - from))]),
  );

  const gain = Object.fromEntries(
    names.map((name) => [name, compare(name, (from, to) => computeGain(scale, from, to))]),
  );
  const gains = Object.entries(gain).flatMap(([name, value]) =>
    value === null ? [] : [{ name, value }],
  );
  const mean = computeMean(gains.map(({ value }) => value));
  const meanGain = mean === null ? null : roundToNineDigits(mean);
  const fallen = gains.filter(({ value }) => value < -noiseFloor);
  const regressions = findRegressions(gains, fallen, lost);

  return {
    ...chooseVerdict({
      fallen,
      meanGain,
      noiseFloor,
      iteration,
      interval,
      scale,
      countedBenchmarks: gains.length,
    }),
    delta,
    gain,
    mean_gain: meanGain,
    cross_benchmark_check: { clean: regressions.length === 0, regressions },
    interval,
  };
}

/** For display; figures are compared with all their digits. */
const roundToFourDigits = (value: number): number => Math.round(value * 1e4) / 1e4;

/** How many benchmarks besides the worst a verdict names. */
const fallenShownMax = 3;
type Gain = { readonly name: string; readonly value: number };

/** A benchmark that fell is in the list though no single bug is known to be lost. */
function findRegressions(
  gains: readonly Gain[],
  fallen: readonly Gain[],
  lostBugs: readonly Regression[] | undefined,
): readonly Regression[] {
  if (lostBugs === undefined) {
    return gains.flatMap(({ name, value }) => (value < 0 ? [{ benchmark: name, bug: null }] : []));
  }

  const namedBenchmarks = new Set(lostBugs.map(({ benchmark }) => benchmark));
  return [
    ...lostBugs,
    ...fallen.flatMap(({ name }) =>
      namedBenchmarks.has(name) ? [] : [{ benchmark: name, bug: null }],
    ),
  ];
}

type VerdictInput = {
  readonly fallen: readonly Gain[];
  readonly meanGain: number | null;
  readonly noiseFloor: number;
  readonly iteration: number;
  readonly interval: GainInterval | null;
  readonly scale: TargetScale;
  readonly countedBenchmarks: number;
};

function chooseVerdict(input: VerdictInput): {
  readonly verdict: CycleVerdict;
  readonly why: string;
} {
  const { fallen, meanGain, noiseFloor, iteration, interval, scale, countedBenchmarks } = input;
  const floorText = `the noise floor ${formatGainAmount(scale, noiseFloor)}`;

  if (fallen.length > 0) {
    return { verdict: "revert", why: `${describeFallen(input)}, more than ${floorText}` };
  } // V2

  const notYet: CycleVerdict = iteration < iterationsMax ? "iterate" : "halt-iterate-cap";
  const lastClause = notYet === "iterate" ? "" : `; iteration ${iterationsMax} is the last`;

  if (meanGain === null) {
    return { verdict: notYet, why: `no benchmark has a figure on both sides${lastClause}` };
  }

  const benchmarksText = `${countedBenchmarks} ${countedBenchmarks === 1 ? "benchmark" : "benchmarks"}`;
  const gainClause = `the mean gain over ${benchmarksText} is ${distinctAmount(input, meanGain)}`;

  if (meanGain <= noiseFloor) {
    return { verdict: notYet, why: `${gainClause}, not above ${floorText}${lastClause}` };
  }

  if (interval !== null && interval.low <= noiseFloor) {
    const intervalClause = `but its interval begins at ${distinctAmount(input, interval.low)}, not above ${floorText}`;
    return { verdict: notYet, why: `${gainClause}, ${intervalClause}${lastClause}` }; // V3
  }

  return { verdict: "ship", why: `${gainClause}, above ${floorText}` };
}

/** `parser fell by 0.2, lexer by 0.1`, the worst first. */
function describeFallen(input: VerdictInput): string {
  const sorted = input.fallen.toSorted((a, b) => a.value - b.value);
  const [worst, ...others] = sorted.map(({ name, value }) => ({
    name,
    fall: distinctAmount(input, -value),
  }));
  const shownOthers = others.slice(0, fallenShownMax).map(({ name, fall }) => `${name} by ${fall}`);
  const hiddenText =
    others.length > fallenShownMax ? [`${others.length - fallenShownMax} more`] : [];

  return [`${worst?.name} fell by ${worst?.fall}`, ...shownOthers, ...hiddenText].join(", ");
}

/**
 * A value that differs from the floor only in hidden digits is shown with all of them: "0.05, above
 * 0.05" would explain nothing.
 */
function distinctAmount(
  { scale, noiseFloor }: Pick<VerdictInput, "scale" | "noiseFloor">,
  value: number,
): string {
  const text = formatGainAmount(scale, value);
  const looksLikeFloor = text === formatGainAmount(scale, noiseFloor) && value !== noiseFloor;
  if (!looksLikeFloor) return text;

  return scale.isRelative ? `${roundToNineDigits(value * 100)} %` : String(value);
}
