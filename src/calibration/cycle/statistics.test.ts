import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  seedGenerator,
  computeGainInterval,
  computeMean,
  type FigurePair,
  roundToNineDigits,
} from "./statistics.ts";
import { tries } from "../../../test/support/sampled.ts";

const recall = fc.double({ min: 0, max: 1, noNaN: true });
const runs = fc.array(recall, { minLength: 2, maxLength: 6 });
const pairs = fc.array(fc.record({ before: runs, after: runs }), { minLength: 1, maxLength: 4 });
const gain = (before: number, after: number): number => after - before;
const meanGain = (all: readonly FigurePair[]): number =>
  computeMean(
    all.map(({ before, after }) => (computeMean(after) ?? 0) - (computeMean(before) ?? 0)),
  ) ?? 0;

test("the same seed gives the same numbers, another seed others", () => {
  const take = (seed: string): readonly number[] => Array.from({ length: 20 }, seedGenerator(seed));
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(take(a)).toEqual(take(a));
      if (a !== b) expect(take(a)).not.toEqual(take(b));
      expect(take(a).every((value) => value >= 0 && value < 1)).toBe(true);
    }),
    { numRuns: tries(200) },
  );
});

test("an interval is around the mean gain and moves with it", () => {
  fc.assert(
    fc.property(pairs, fc.double({ min: -1, max: 1, noNaN: true }), (all, shift) => {
      const interval = computeGainInterval(all, gain, "seed");
      const shifted = computeGainInterval(
        all.map(({ before, after }) => ({ before, after: after.map((value) => value + shift) })),
        gain,
        "seed",
      );

      expect(interval).toEqual(computeGainInterval(all, gain, "seed"));
      if (interval === null || shifted === null) throw new Error("both sides ran twice");
      expect(interval.low).toBeLessThanOrEqual(meanGain(all) + 0.05);
      expect(interval.high).toBeGreaterThanOrEqual(meanGain(all) - 0.05);
      expect(interval.low).toBeLessThanOrEqual(interval.high);
      expect(shifted.low).toBeCloseTo(interval.low + shift, 6);
      expect(shifted.high).toBeCloseTo(interval.high + shift, 6);
    }),
    { numRuns: 20 },
  );
});

test("nothing is said of an interval where nothing ran twice", () => {
  expect(computeGainInterval([{ before: [0.4], after: [0.8] }], gain, "s")).toBeNull();
  expect(computeGainInterval([{ before: [0.4, 0.5], after: [] }], gain, "s")).toBeNull();
  expect(computeGainInterval([{ before: [0.4, 0.4], after: [0.8] }], gain, "s")).toMatchObject({
    low: 0.4,
    high: 0.4,
    better_share: 1,
  });
});

test("the interval holds the true gain about as often as it says", () => {
  const next = seedGenerator("coverage");
  const normal = (mean: number): number =>
    mean + 0.1 * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const side = (mean: number): readonly number[] => Array.from({ length: 8 }, () => normal(mean));
  const rounds = 60;

  const held = Array.from({ length: rounds }, (_, index) => {
    const interval = computeGainInterval(
      [
        { before: side(0.4), after: side(0.55) },
        { before: side(0.6), after: side(0.75) },
      ],
      gain,
      `round ${index}`,
    );
    return interval !== null && interval.low <= 0.15 && interval.high >= 0.15;
  }).filter(Boolean).length;
  expect(held / rounds).toBeGreaterThan(0.88);
});

test("differences are rounded before they are compared", () => {
  expect(roundToNineDigits(0.75 - 0.8)).toBe(-0.05);
  expect(Object.is(roundToNineDigits(-1e-12), 0)).toBe(true);
});
