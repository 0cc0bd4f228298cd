// statistics: computes means and bootstrap intervals with a seeded generator: the same numbers from
// the same seed, on every machine.
//
// Invariants:
//   S1. Only the seeded generator: an interval can be recomputed from the log.
//   S2. Runs of one side are drawn from that side's runs only, and benchmarks stay what they are:
//       the claim is about these benchmarks.
//   S3. Differences are rounded before they are compared: 0.75 - 0.80 is -0.05 and not a hair below
//       it.

export type RandomGenerator = () => number;

/** Numbers from 0 up to 1 (sfc32), from a text. */
export function seedGenerator(seed: string): RandomGenerator {
  let [a, b, c, d] = [
    hashText(seed, 0x811c9dc5),
    hashText(seed, 0x01000193),
    hashText(seed, 0x9e3779b9),
    1,
  ];

  const next = (): number => {
    const sum = (a + b + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;

    return (sum >>> 0) / 4_294_967_296;
  };
  for (let round = 0; round < 16; round++) next(); // so that similar seeds give different numbers
  return next;
}

/** FNV-1a. */
function hashText(text: string, basis: number): number {
  let hash = basis;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }

  return hash | 0;
}

/** Null if there is nothing to take a mean of. */
export function computeMean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Rounds to nine digits after the point. Adding 0 turns -0 into 0. S3 */
export const roundToNineDigits = (value: number): number => Math.round(value * 1e9) / 1e9 + 0;

/** A computeQuantile between neighbours, of values that are sorted. */
export function computeQuantile(sorted: readonly number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const low = sorted[Math.floor(position)] ?? 0;
  const high = sorted[Math.ceil(position)] ?? low;

  return low + (high - low) * (position - Math.floor(position));
}

/** One benchmark's runs on both sides. */
export type FigurePair = { readonly before: readonly number[]; readonly after: readonly number[] };
export type GainInterval = {
  readonly low: number;
  readonly high: number;
  /** How often the drawn mean gain was above zero. */
  readonly better_share: number;
  readonly level: number;
  readonly rounds: number;
};

/** The share of draws that an interval covers, and how many are drawn. */
export const bootstrap = { level: 0.95, rounds: 4000 } as const;

/**
 * The interval of the mean gain over benchmarks, each with its own runs on both sides; null if no
 * side ran twice, since then nothing is known of how much runs differ. Deviations are widened by
 * √(n/(n−1)), because n runs drawn from themselves vary too little.
 */
export function computeGainInterval(
  pairs: readonly FigurePair[],
  computeGain: (before: number, after: number) => number,
  seed: string,
): GainInterval | null {
  const completePairs = pairs.filter(({ before, after }) => before.length > 0 && after.length > 0);
  if (!completePairs.some(({ before, after }) => before.length > 1 || after.length > 1)) {
    return null;
  }

  const next = seedGenerator(seed); // S1
  const widenedPairs = completePairs.map(({ before, after }) => ({
    before: widenDeviations(before),
    after: widenDeviations(after),
  }));

  const gains: number[] = [];
  for (let round = 0; round < bootstrap.rounds; round++) {
    const drawnGains = widenedPairs.map(({ before, after }) =>
      computeGain(drawMean(before, next), drawMean(after, next)),
    ); // S2
    const mean = computeMean(drawnGains);
    if (mean !== null) gains.push(mean);
  }

  if (gains.length === 0) return null;
  const sorted = gains.toSorted((a, b) => a - b);
  const tailShare = (1 - bootstrap.level) / 2;

  return {
    low: roundToNineDigits(computeQuantile(sorted, tailShare)),
    high: roundToNineDigits(computeQuantile(sorted, 1 - tailShare)),
    better_share: roundToNineDigits(gains.filter((gain) => gain > 0).length / gains.length),
    ...bootstrap,
  };
}

/** The interval of one side's mean; null if it ran once. */
export function computeSideInterval(
  values: readonly number[],
  seed: string,
): Pick<GainInterval, "low" | "high"> | null {
  if (values.length < 2) return null;
  const next = seedGenerator(seed); // S1
  const widened = widenDeviations(values);
  const means = Array.from({ length: bootstrap.rounds }, () => drawMean(widened, next)).toSorted(
    (a, b) => a - b,
  );

  const tailShare = (1 - bootstrap.level) / 2;
  return {
    low: roundToNineDigits(computeQuantile(means, tailShare)),
    high: roundToNineDigits(computeQuantile(means, 1 - tailShare)),
  };
}

/** Widens deviations from the mean by √(n/(n−1)). */
function widenDeviations(values: readonly number[]): readonly number[] {
  const mean = computeMean(values) ?? 0;
  const factor = values.length > 1 ? Math.sqrt(values.length / (values.length - 1)) : 1;
  return values.map((value) => mean + (value - mean) * factor);
}

/** The mean of as many draws, with repetition, as there are values. */
function drawMean(values: readonly number[], next: RandomGenerator): number {
  let sum = 0;
  for (let draw = 0; draw < values.length; draw++) {
    sum += values[Math.floor(next() * values.length)] ?? 0;
  }

  return sum / values.length;
}
