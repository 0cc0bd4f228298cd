import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type PastCase, forecastCase, predictRange, computeForecastRecord } from "./forecast.ts";

/** Numbers from 0 up to 1, the same every time (mulberry32). */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;

    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const plain: PastCase = {
  run: "run-1",
  flow: "roadmap",
  step: "ui",
  complexity: null,
  agent: "one",
  model: null,
  size: null,
  tokens: 100,
  minutes: 1,
  usd: 0,
  isDone: true,
};
const runs = (count: number, of: (at: number) => Partial<PastCase>): readonly PastCase[] =>
  Array.from({ length: count }, (_, index) => ({ ...plain, run: `run-${index}`, ...of(index) }));

test("a forecast from few cases doesn't depend on the unit, and knows of cases that cost nothing", () => {
  const dollars = [0.01, 0.02, 0.03, 0.04, 0.05, 0.06];
  const { p50, p90 } = predictRange(dollars);
  expect(p50).toBeCloseTo(0.035, 9);
  expect(p90).toBeCloseTo(0.0861, 3); // exp(mean + 1.476 · deviation · √(7/6)) of the logarithms, by hand
  expect(predictRange(dollars.map((value) => value * 1e6)).p90 / 1e6).toBeCloseTo(p90, 5);
  expect(predictRange([0, 0, 0])).toEqual({ p50: 0, p90: 0 });
  expect(predictRange([0, 0.02, 0.02]).p90).toBeGreaterThan(0.02);
});

describe("the record of forecasts", () => {
  const shapes: Readonly<Record<string, (next: () => number) => number>> = {
    "many times the usual now and then": (next) =>
      50_000 *
      Math.exp(0.6 * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())),
    "anything up to a limit": (next) => 10_000 + 90_000 * next(),
    "waiting times": (next) => -30_000 * Math.log(1 - next()),
  };
  test.each(Object.keys(shapes))(
    "over 200 simulated runs (%s) P90 covers 85 to 95 of 100, and half are below P50",
    (name) => {
      for (const seed of [1, 2, 3, 4, 5]) {
        const next = dice(seed);
        const record = computeForecastRecord(
          runs(200, () => ({
            tokens: Math.round(shapes[name]?.(next) ?? 0),
            isDone: next() < 0.8,
          })),
        );
        if (record === null) throw new Error("200 runs are enough");
        expect(record.within_p90).toBeGreaterThanOrEqual(0.85);
        expect(record.within_p90).toBeLessThanOrEqual(0.95);
        expect(Math.abs(record.within_p50 - 0.5)).toBeLessThan(0.12);
        expect(record.brier).toBeLessThan(0.22); // 0.16 is what knowing the true chance gives
      }
    },
  );

  test("each run is forecast from those before it alone, and three are needed", () => {
    expect(computeForecastRecord(runs(3, () => ({})))).toBeNull();
    expect(computeForecastRecord(runs(4, () => ({})))).toMatchObject({
      forecasts: 1,
      within_p90: 1,
      bias: 0,
    });

    const same = computeForecastRecord(runs(6, (at) => ({ run: "one run", tokens: at })));
    expect(same).toBeNull();
    expect(
      computeForecastRecord([...runs(9, () => ({})), { ...plain, run: "dear", tokens: 1000 }]),
    ).toMatchObject({ within_p90: 0.857 });
  });
});

describe("a forecast", () => {
  test("goes by the nearest cases there are enough of: agent and model first, then the step, then the flow", () => {
    const history = [
      ...runs(3, () => ({ agent: "one", tokens: 10 })),
      ...runs(5, () => ({ agent: "two", tokens: 1000 })),
      ...runs(3, () => ({ step: "data", tokens: 7 })),
    ];

    expect(forecastCase({ ...plain, agent: "one" }, history)?.tokens.p50).toBe(10);
    expect(forecastCase({ ...plain, agent: "two" }, history)?.tokens.p50).toBe(1000);
    expect(forecastCase({ ...plain, agent: "new" }, history)?.alike).toEqual(["flow", "step"]);
    expect(forecastCase({ ...plain, step: "mixed" }, history)?.alike).toEqual(["flow"]);
    expect(forecastCase({ ...plain, flow: "quality" }, history)).toBeNull();
  });

  test("of many cases those of the same size count", () => {
    const history = runs(200, (at) => ({ size: at < 100 ? 1 : 50, tokens: at < 100 ? 10 : 500 }));
    expect(forecastCase({ ...plain, size: 1 }, history)?.tokens.p90).toBe(10);
    expect(forecastCase({ ...plain, size: 60 }, history)?.tokens.p50).toBe(500);
  });

  test("success is never certain", () => {
    expect(
      forecastCase(
        plain,
        runs(8, () => ({})),
      )?.success,
    ).toBe(0.9);

    expect(
      forecastCase(
        plain,
        runs(8, (at) => ({ isDone: at < 4 })),
      )?.success,
    ).toBe(0.5);
  });

  test("what was never priced has no price", () => {
    expect(
      forecastCase(
        plain,
        runs(3, () => ({})),
      )?.usd,
    ).toBeNull();

    expect(
      forecastCase(
        plain,
        runs(3, () => ({ usd: 2 })),
      )?.usd?.p50,
    ).toBe(2);
  });
});

test("P90 is never below P50, nothing is below zero, and what is dearer throughout is forecast dearer", () => {
  const values = fc.array(fc.double({ min: 0, max: 1e7, noNaN: true }), { maxLength: 30 });
  fc.assert(
    fc.property(values, (some) => {
      const { p50, p90 } = predictRange(some);
      expect(p90).toBeGreaterThanOrEqual(p50);
      expect(p50).toBeGreaterThanOrEqual(0);
      expect(predictRange(some.map((value) => value + 10)).p50).toBeGreaterThanOrEqual(p50);
    }),
    { examples: [[[5e-324, 0]]] }, // half of the smallest number is none
  );
});
