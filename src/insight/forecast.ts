// forecast: predicts what a phase or run will use and whether it will succeed, from the most
// similar ones before it; and computes how good such forecasts were.
//
// Invariants:
//   F1. P90 predicts one more case, and does not describe the past: nine of ten new cases should
//       stay below it, even after few cases.
//   F2. The record of forecasts is computed by forecasting every past run from those before it
//       alone. Nothing is stored for it.
//   F3. Few cases are not a distribution: below `samplesMin` nothing is forecast.

/** Half of such cases stay below P50, nine of ten below P90. */
export type ForecastRange = { readonly p50: number; readonly p90: number };

/** Cases with equal features are compared; null if unknown. */
export type CaseFeatures = {
  readonly flow: string;
  /** The kind of phase, or `run` for a whole run. */
  readonly step: string;
  readonly complexity: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  /** How many tasks it has. */
  readonly size: number | null;
};
/** A phase or run that has ended, with what it used. `isDone`: it was completed. */
export type PastCase = CaseFeatures & {
  readonly run: string;
  readonly tokens: number;
  readonly minutes: number;
  readonly usd: number;
  readonly isDone: boolean;
};
export type Forecast = {
  readonly tokens: ForecastRange;
  readonly minutes: ForecastRange;
  /** Null if nothing was ever priced. */
  readonly usd: ForecastRange | null;
  readonly success: number;
  readonly samples: number;
  /** In what the cases are alike. */
  readonly alike: readonly (keyof CaseFeatures)[];
};
export type ForecastRecord = {
  readonly forecasts: number;
  /** The share of cases that used no more than P90, and no more than P50. */
  readonly within_p90: number;
  readonly within_p50: number;
  /** By what share the P50s were above what was used, in total; below zero: under it. */
  readonly bias: number;
  /** The mean squared error of the success probability: 0 is perfect, 0.25 is a coin. */
  readonly brier: number;
};

export const samplesMin = 3;
/** A forecast is made from at most so many cases. */
const nearestMax = 60;

/**
 * The features that cases must share, from many to one: the first level with enough cases is used.
 */
const levels: readonly (readonly (keyof CaseFeatures)[])[] = [
  ["flow", "step", "complexity", "agent", "model"],
  ["flow", "step", "agent", "model"],
  ["flow", "step", "agent"],
  ["flow", "step"],
  ["flow"],
];

/** Null if there are too few similar cases (F3). */
export function forecastCase(
  features: CaseFeatures,
  history: readonly PastCase[],
): Forecast | null {
  for (const alike of levels) {
    const cases = history.filter((past) => alike.every((name) => past[name] === features[name]));
    const done = selectNearestCases(
      features,
      cases.filter(({ isDone }) => isDone),
    );
    if (done.length < samplesMin) continue;
    const rangeOf = (dimension: "tokens" | "minutes" | "usd"): ForecastRange =>
      predictRange(done.map((past) => past[dimension]));
    const nearest = selectNearestCases(features, cases);

    return {
      tokens: rangeOf("tokens"),
      minutes: rangeOf("minutes"),
      usd: done.some(({ usd }) => usd > 0) ? rangeOf("usd") : null,
      success: (nearest.filter(({ isDone }) => isDone).length + 1) / (nearest.length + 2), // Laplace: never quite 0 or 1
      samples: done.length,
      alike,
    };
  }

  return null;
}

/** Those of the most similar size; of equal ones the newest. */
function selectNearestCases(
  { size }: CaseFeatures,
  cases: readonly PastCase[],
): readonly PastCase[] {
  if (cases.length <= nearestMax) return cases;
  const distance = (past: PastCase): number =>
    size === null || past.size === null ? 0 : Math.abs(Math.log1p(past.size) - Math.log1p(size));
  return cases
    .map((past, index) => ({ past, index }))
    .toSorted(
      (left, right) => distance(left.past) - distance(right.past) || right.index - left.index,
    )
    .slice(0, nearestMax)
    .map(({ past }) => past);
}

/** One-sided 90 % of Student's t, by degrees of freedom from 1 on. */
const studentT = [3.078, 1.886, 1.638, 1.533, 1.476, 1.44, 1.415] as const;
/** From so many cases on, P90 is taken from a rank. */
const ranksMin = 9;

/**
 * The range of one more case (F1). From nine cases on it is taken by rank: nine of ten new cases
 * are below the value of rank 0.9 (n + 1), whatever the distribution. With fewer cases that rank
 * does not exist, and a log-normal distribution is assumed: now and then, work costs many times as
 * much as usual. The unit does not matter: dollars, cents and tokens of one history give one
 * answer. Zero has no logarithm, and counts as half of the smallest positive value.
 */
export function predictRange(values: readonly number[]): ForecastRange {
  const sorted = values
    .filter((value) => Number.isFinite(value) && value >= 0)
    .toSorted((a, b) => a - b);
  const count = sorted.length;
  const p50 = interpolateRank(sorted, 0.5 * (count + 1));

  if (count >= ranksMin || count < 2) {
    return { p50, p90: Math.max(p50, interpolateRank(sorted, 0.9 * (count + 1))) };
  }

  const smallest = sorted.find((value) => value > 0);
  if (smallest === undefined) return { p50, p90: p50 };
  const logs = sorted.map((value) => Math.log(Math.max(value, smallest / 2, Number.MIN_VALUE)));
  const mean = logs.reduce((sum, value) => sum + value, 0) / count;
  const deviation = Math.sqrt(
    logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1),
  );

  const above = Math.exp(
    mean +
      (studentT[count - 2] ?? 1.4) /* never: the table has every count below `ranksMin` */ *
        deviation *
        Math.sqrt(1 + 1 / count),
  );

  return { p50, p90: Math.max(p50, Math.round(above * 1e6) / 1e6) };
}

/**
 * The value of a rank, from 1 on, interpolated between neighbours; beyond the first and the last,
 * those.
 */
function interpolateRank(sorted: readonly number[], rank: number): number {
  if (sorted.length === 0) return 0;
  const position = Math.min(Math.max(rank, 1), sorted.length) - 1;
  const low = sorted[Math.floor(position)] ?? 0;
  const high = sorted[Math.ceil(position)] ?? low;

  return low + (high - low) * (position - Math.floor(position));
}

/** A past case and the forecast that the cases before it would have given. */
export type Backtest = {
  readonly run: string;
  readonly forecast: Forecast;
  readonly actual: PastCase;
};

/** `history` in the order the runs began. Cases that could not be forecast are left out. F2 */
export function backtest(history: readonly PastCase[]): readonly Backtest[] {
  const runs = [...new Set(history.map(({ run }) => run))];
  const earlierCases: PastCase[] = [];
  const tests: Backtest[] = [];

  for (const run of runs) {
    const cases = history.filter((past) => past.run === run);
    for (const used of cases) {
      const forecast = forecastCase(used, earlierCases);
      if (forecast !== null) tests.push({ run, forecast, actual: used });
    }

    earlierCases.push(...cases);
  }

  return tests;
}

/** How forecasts did; null if none could be made. */
export function computeForecastRecord(history: readonly PastCase[]): ForecastRecord | null {
  const tests = backtest(history);
  let [forecasts, withinP90, withinP50, forecastTokens, usedTokens, squares] = [0, 0, 0, 0, 0, 0];

  for (const { forecast, actual: past } of tests) {
    squares += (forecast.success - Number(past.isDone)) ** 2;
    if (!past.isDone) continue;
    forecasts += 1;
    withinP90 += Number(past.tokens <= forecast.tokens.p90);
    withinP50 += Number(past.tokens <= forecast.tokens.p50);
    forecastTokens += forecast.tokens.p50;
    usedTokens += past.tokens;
  }

  if (forecasts === 0) return null;
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  return {
    forecasts,
    within_p90: round(withinP90 / forecasts),
    within_p50: round(withinP50 / forecasts),
    bias: usedTokens === 0 ? 0 : round(forecastTokens / usedTokens - 1),
    brier: round(squares / tests.length),
  };
}
