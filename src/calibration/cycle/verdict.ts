// verdict: from figures before and after a lever to ship, revert, iterate or halt.
//
// Invariants:
//   V1. A benchmark without a figure on both sides is n/a: it is named, and counts neither way. Nothing is extrapolated.
//   V2. One benchmark below minus the floor reverts, however high the mean rose.
//   V3. A ship whose interval reaches down to the floor is an iterate: the runs differ too much to say.

import type { cycleVerdicts } from "../../contracts/quality-run.ts";
import { type Interval, computeMean, rounded } from "./statistics.ts";

export type Verdict = (typeof cycleVerdicts)[number];
/** By benchmark; null if it is n/a. */
export type Figures = Readonly<Record<string, number | null>>;
/** `bug`: null if only a figure is known. */
export type Regression = { readonly benchmark: string; readonly bug: string | null };
export type Better = "higher" | "lower";
export type Scale = { readonly better: Better; readonly isRelative: boolean };

export const iterationsMax = 3;
export const noiseFloorDefault = 0.05;

export type CycleJudgement = {
  readonly verdict: Verdict;
  /** After minus before, in the figure's own unit. */
  readonly delta: Figures;
  /** The same as what the floor is held against: positive is better, and a share of the figure before where the floor is one. */
  readonly gain: Figures;
  readonly mean_gain: number | null;
  readonly cross_benchmark_check: { readonly clean: boolean; readonly regressions: readonly Regression[] };
  readonly interval: Interval | null;
  readonly why: string;
};

export type Judging = {
  readonly before: Figures;
  readonly after: Figures;
  readonly noiseFloor: number;
  readonly iteration: number;
  readonly scale?: Scale;
  /** Bugs that the runs before found and those after did not; if unknown, a figure that fell represents them. */
  readonly lost?: readonly Regression[];
  readonly interval?: Interval | null;
};

export const recallScale: Scale = { better: "higher", isRelative: false };

/** What a change from one figure to another is worth. Zero has no shares: a change from it counts as one of 100 %, so that no fall from zero is passed over. */
export function computeGain({ better, isRelative }: Scale, before: number, after: number): number {
  const raised = better === "higher" ? after - before : before - after;
  if (!isRelative) return rounded(raised);
  return before === 0 ? Math.sign(raised) : rounded(raised / Math.abs(before));
}

/** A gain or a floor as a person reads it: a share in per cent. */
export const amountText = ({ isRelative }: Scale, value: number): string =>
  isRelative ? `${Math.round(value * 1000) / 10} %` : String(toFourDigits(value));

export function judgeFigures({
  before,
  after,
  noiseFloor,
  iteration,
  scale = recallScale,
  lost,
  interval = null,
}: Judging): CycleJudgement {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const both = (name: string, of: (from: number, to: number) => number): number | null => {
    const [from, to] = [before[name] ?? null, after[name] ?? null];
    return from === null || to === null ? null : of(from, to); // V1
  };
  const delta = Object.fromEntries(names.map((name) => [name, both(name, (from, to) => rounded(to - from))]));
  const gain = Object.fromEntries(names.map((name) => [name, both(name, (from, to) => computeGain(scale, from, to))]));
  const counted = Object.entries(gain).flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
  const mean = computeMean(counted.map(({ value }) => value));
  const fallen = counted.filter(({ value }) => value < -noiseFloor);
  const regressions = findRegressions(counted, fallen, lost);
  return {
    ...chooseVerdict({
      fallen,
      mean: mean === null ? null : rounded(mean),
      noiseFloor,
      iteration,
      interval,
      scale,
      counted: counted.length,
    }),
    delta,
    gain,
    mean_gain: mean === null ? null : rounded(mean),
    cross_benchmark_check: { clean: regressions.length === 0, regressions },
    interval,
  };
}

/** As a person reads it; what is compared has all its digits. */
const toFourDigits = (value: number): number => Math.round(value * 1e4) / 1e4;

/** How many benchmarks besides the worst a verdict names. */
const fallenShown = 3;
type Gain = { readonly name: string; readonly value: number };

/** A benchmark that fell is in the list though no single bug is known to be lost. */
function findRegressions(
  countedGains: readonly Gain[],
  fallen: readonly Gain[],
  lostRegressions: readonly Regression[] | undefined,
): readonly Regression[] {
  if (lostRegressions === undefined) return countedGains.flatMap(({ name, value }) => (value < 0 ? [{ benchmark: name, bug: null }] : []));
  const named = new Set(lostRegressions.map(({ benchmark }) => benchmark));
  return [...lostRegressions, ...fallen.flatMap(({ name }) => (named.has(name) ? [] : [{ benchmark: name, bug: null }]))];
}

function chooseVerdict(found: {
  readonly fallen: readonly Gain[];
  readonly mean: number | null;
  readonly noiseFloor: number;
  readonly iteration: number;
  readonly interval: Interval | null;
  readonly scale: Scale;
  readonly counted: number;
}): { readonly verdict: Verdict; readonly why: string } {
  const { fallen, mean, noiseFloor, iteration, interval, scale, counted } = found;
  const floor = `the noise floor ${amountText(scale, noiseFloor)}`;
  // What differs from the floor by less than is shown has all its digits: "0.05, above 0.05" would explain nothing.
  const amount = (value: number): string =>
    amountText(scale, value) === amountText(scale, noiseFloor) && value !== noiseFloor && !scale.isRelative
      ? String(value)
      : amountText(scale, value);
  if (fallen.length > 0) {
    const [worst, ...others] = fallen.toSorted((a, b) => a.value - b.value).map(({ name, value }) => ({ name, by: amount(-value) }));
    const more = others.length > fallenShown ? [`${others.length - fallenShown} more`] : [];
    const also = [...others.slice(0, fallenShown).map(({ name, by }) => `${name} by ${by}`), ...more];
    return { verdict: "revert", why: `${[`${worst?.name} fell by ${worst?.by}`, ...also].join(", ")}, more than ${floor}` }; // V2
  }
  const again: Verdict = iteration < iterationsMax ? "iterate" : "halt-iterate-cap";
  const last = again === "iterate" ? "" : `; iteration ${iterationsMax} is the last`;
  if (mean === null) return { verdict: again, why: `no benchmark has a figure on both sides${last}` };
  const over = `the mean gain over ${counted} ${counted === 1 ? "benchmark" : "benchmarks"} is ${amount(mean)}`;
  if (mean <= noiseFloor) return { verdict: again, why: `${over}, not above ${floor}${last}` };
  if (interval !== null && interval.low <= noiseFloor)
    return { verdict: again, why: `${over}, but its interval begins at ${amount(interval.low)}, not above ${floor}${last}` }; // V3
  return { verdict: "ship", why: `${over}, above ${floor}` };
}
