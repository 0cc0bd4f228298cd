import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeGain, judgeFigures } from "./verdict.ts";
import { tries } from "../../../test/support/sampled.ts";

const plain = { noiseFloor: 0.05, iteration: 1 };

describe("the verdict", () => {
  test("ship: the first public cycle, up by 0.40", () => {
    const judged = judgeFigures({ ...plain, before: { chi: 0.4 }, after: { chi: 0.8 } });
    expect(judged).toMatchObject({
      verdict: "ship",
      delta: { chi: 0.4 },
      cross_benchmark_check: { clean: true, regressions: [] },
    });
  });

  test("revert: the second public cycle, 0.50 to 0.40, 0.80 to 0.80, one n/a", () => {
    const judged = judgeFigures({
      ...plain,
      before: { chi: 0.5, virtio: 0.8, express: null },
      after: { chi: 0.4, virtio: 0.8, express: 0.6 },
    });
    expect(judged.verdict).toBe("revert");
    expect(judged.delta).toEqual({ chi: -0.1, virtio: 0, express: null });
    expect(judged.cross_benchmark_check).toEqual({
      clean: false,
      regressions: [{ benchmark: "chi", bug: null }],
    });

    expect(judged.why).toContain("chi fell by 0.1");
  });

  test("revert: one of three fell although the mean rose", () => {
    expect(
      judgeFigures({
        ...plain,
        before: { a: 0.2, b: 0.2, c: 0.9 },
        after: { a: 0.9, b: 0.9, c: 0.8 },
      }).verdict,
    ).toBe("revert");
  });

  test("iterate within the noise, and halt at the third time", () => {
    const figures = { before: { a: 0.5 }, after: { a: 0.53 } };
    expect(judgeFigures({ ...plain, ...figures }).verdict).toBe("iterate");
    expect(judgeFigures({ ...plain, ...figures, iteration: 2 }).verdict).toBe("iterate");
    expect(judgeFigures({ ...plain, ...figures, iteration: 3 }).verdict).toBe("halt-iterate-cap");
  });

  test("a gain that only hidden digits tell from the floor is shown with them, as a share too", () => {
    expect(judgeFigures({ ...plain, before: { a: 0.4 }, after: { a: 0.450000001 } }).why).toContain(
      "is 0.050000001, above the noise floor 0.05",
    );

    const scale = { better: "higher", isRelative: true } as const;
    expect(
      judgeFigures({ ...plain, scale, before: { a: 100 }, after: { a: 105.001 } }).why,
    ).toContain("is 5.001 %, above the noise floor 5 %");
  });

  test("exactly the floor is neither a gain nor a fall", () => {
    expect(judgeFigures({ ...plain, before: { a: 0.75 }, after: { a: 0.8 } }).verdict).toBe(
      "iterate",
    );

    expect(judgeFigures({ ...plain, before: { a: 0.8 }, after: { a: 0.75 } }).verdict).toBe(
      "iterate",
    );
  });

  test("lost one, gained one is not clean, and no revert", () => {
    const judged = judgeFigures({
      ...plain,
      before: { a: 0.5 },
      after: { a: 0.5 },
      lost: [{ benchmark: "a", bug: "BUG-001" }],
    });
    expect(judged).toMatchObject({
      verdict: "iterate",
      cross_benchmark_check: { clean: false, regressions: [{ benchmark: "a", bug: "BUG-001" }] },
    });
  });

  test("a ship whose interval reaches the floor is an iterate", () => {
    const interval = { low: 0.04, high: 0.5, better_share: 0.98, level: 0.95, rounds: 4000 };
    const figures = { before: { a: 0.2 }, after: { a: 0.5 } };
    expect(judgeFigures({ ...plain, ...figures, interval }).verdict).toBe("iterate");
    expect(judgeFigures({ ...plain, ...figures, interval, iteration: 3 }).verdict).toBe(
      "halt-iterate-cap",
    );

    expect(
      judgeFigures({ ...plain, ...figures, interval: { ...interval, low: 0.06 } }).verdict,
    ).toBe("ship");
  });

  test("no figure on both sides is no ship", () => {
    expect(
      judgeFigures({ ...plain, before: { a: null, b: 0.5 }, after: { a: 0.9, b: null } }),
    ).toMatchObject({
      verdict: "iterate",
      mean_gain: null,
    });
  });

  test("a metric that is better when lower, and shares of it", () => {
    const scale = { better: "lower", isRelative: true } as const;
    expect(judgeFigures({ ...plain, before: { a: 10 }, after: { a: 8 }, scale })).toMatchObject({
      verdict: "ship",
      delta: { a: -2 },
      gain: { a: 0.2 },
    });

    expect(judgeFigures({ ...plain, before: { a: 10 }, after: { a: 11 }, scale }).verdict).toBe(
      "revert",
    );

    expect(computeGain(scale, 0, 0)).toBe(0);
  });

  test("from zero a change counts as one of 100 %: a fall from zero reverts, whatever else rose", () => {
    const scale = { better: "lower", isRelative: true } as const;
    const judged = judgeFigures({
      ...plain,
      before: { failures: 0, other: 10 },
      after: { failures: 12, other: 1 },
      scale,
    });
    expect(judged).toMatchObject({
      verdict: "revert",
      delta: { failures: 12 },
      gain: { failures: -1, other: 0.9 },
    });

    expect(
      judgeFigures({
        ...plain,
        before: { a: 0 },
        after: { a: 3 },
        scale: { ...scale, better: "higher" },
      }).verdict,
    ).toBe("ship");
  });

  test.each([
    [
      "a share in per cent",
      { before: { a: 2.2 }, after: { a: 1.2 }, scale: { better: "lower", isRelative: true } },
      "45.5 %, above the noise floor 5 %",
    ],
    [
      "a hair above the floor",
      { before: { a: 0.1 }, after: { a: 0.15000001 } },
      "is 0.05000001, above the noise floor 0.05",
    ],
    [
      "every one that fell, the worst first",
      { before: { a: 0.5, b: 1 }, after: { a: 0.4, b: 0.2 } },
      "b fell by 0.8, a by 0.1, more than the noise floor 0.05",
    ],
    [
      "the last iteration",
      { before: { a: 0.5 }, after: { a: 0.5 }, iteration: 3 },
      "not above the noise floor 0.05; iteration 3 is the last",
    ],
  ] as const)("its sentence tells %s", (_what, input, said) => {
    expect(judgeFigures({ ...plain, ...input }).why).toContain(said);
  });
});

const figure = fc.option(fc.integer({ min: 0, max: 20 }).map((value) => value / 20));
const benchmarks = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.tuple(figure, figure), {
  minKeys: 1,
});

test("it reverts exactly where a benchmark fell below the floor, and ships only above it; n/a changes nothing", () => {
  fc.assert(
    fc.property(benchmarks, fc.integer({ min: 1, max: 3 }), (all, iteration) => {
      const before = Object.fromEntries(Object.entries(all).map(([name, [from]]) => [name, from]));
      const after = Object.fromEntries(Object.entries(all).map(([name, [, to]]) => [name, to]));
      const judged = judgeFigures({ before, after, noiseFloor: 0.05, iteration });
      const twentieths = Object.values(all).flatMap(([from, to]) =>
        from === null || to === null ? [] : [Math.round((to - from) * 20)],
      );
      const hasFallen = twentieths.some((delta) => delta < -1);
      const sum = twentieths.reduce((total, delta) => total + delta, 0);
      expect(judged.verdict === "revert").toBe(hasFallen);
      expect(judged.verdict === "ship").toBe(!hasFallen && sum > twentieths.length);
      expect(judged.cross_benchmark_check.clean).toBe(twentieths.every((delta) => delta >= 0));

      const more = judgeFigures({
        before: { ...before, none: null },
        after: { ...after, none: 1 },
        noiseFloor: 0.05,
        iteration,
      });
      expect(more.verdict).toBe(judged.verdict);
      expect(more.delta["none"]).toBeNull();
    }),
    { numRuns: tries(500) },
  );
});
