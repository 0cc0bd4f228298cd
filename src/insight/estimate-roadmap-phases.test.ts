import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { estimatePhases } from "./estimate-roadmap-phases.ts";
import { type PastCase, predictRange } from "./forecast.ts";

describe("estimate", () => {
  const sample = (tokens: number, step = "ui"): PastCase => ({
    run: `run-${tokens}`,
    flow: "roadmap",
    step,
    complexity: null,
    agent: null,
    model: null,
    size: null,
    isDone: true,
    tokens,
    minutes: tokens / 1_000,
    usd: tokens / 1e6,
  });

  const planned = { id: "1", phaseType: "ui", tasks: null } as const;
  test("without history the constants decide, and minutes and money are unknown", () =>
    expect(estimatePhases([planned], [sample(1)])).toMatchObject({
      tokens: { p50: 250_000, p90: 300_000 },
      minutes: null,
      usd: null,
    }));

  test("three earlier phases of one kind are enough for a range", () => {
    const estimate = estimatePhases(
      [planned],
      [100, 200, 300, 9_999].map((tokens, n) => sample(tokens, n === 3 ? "data" : "ui")),
    );
    expect(estimate.phases[0]).toMatchObject({
      tokens: { p50: 200 },
      success: 0.8,
      basis: "3 earlier ui phases",
    });

    expect(estimate.minutes?.p50).toBeCloseTo(0.2);
  });

  test("P50s of phases add up, and P90 lies between their sum and that of the worst", () => {
    const history = [sample(100), sample(200), sample(300)];
    const { tokens } = estimatePhases([planned, { ...planned, id: "2" }], history);
    expect(tokens.p50).toBe(400);
    expect(tokens.p90).toBeGreaterThan(400);
    expect(tokens.p90).toBeLessThan(
      2 * (estimatePhases([planned], history).phases[0]?.tokens.p90 ?? 0),
    );
  });

  test("P90 is never below P50", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e7, noNaN: true })), (values) => {
        const { p50, p90 } = predictRange(values);
        expect(p90).toBeGreaterThanOrEqual(p50);
        expect(p50).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
