import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { type RunMetrics, TrendSummary } from "../contracts/roadmap-reports.ts";
import { seedMetrics } from "../contracts/roadmap.test-support.ts";
import { buildTrend, describeTrendWarning } from "./trend.ts";

describe("trend", () => {
  const [seed] = seedMetrics;
  const run = (changes: Partial<RunMetrics>): RunMetrics => ({
    ...(seed as RunMetrics),
    ...changes,
  });
  test("one run alone has no trend", () => {
    expect(buildTrend([])).toBeNull();
    expect(buildTrend([run({})])).toBeNull();
  });

  const before = run({
    success_rate: 0.7,
    avg_alignment_score: 7,
    total_estimated_tokens: 450_000,
    failure_taxonomy_histogram: { executor_incomplete: 1 },
  });

  test("two are compared, current less previous", () => {
    const trend = buildTrend([before, run({})]);
    expect(v.safeParse(TrendSummary, trend).issues).toBeUndefined();
    expect(trend).toEqual({
      success_rate_delta: 0.1,
      avg_alignment_delta: 0.8,
      estimated_cost_delta: -25_000,
      recurring_failures: ["executor_incomplete"],
      historical: {
        total_runs: 2,
        success_rate: { min: 0.7, max: 0.8, avg: 0.75 },
        avg_alignment: { min: 7, max: 7.8, avg: 7.4 },
        total_cost: { min: 425_000, max: 450_000, avg: 437_500 },
      },
    });

    expect(trend === null ? "" : describeTrendWarning(trend)).toBeNull();
  });

  test("getting worse is warned of; a run without attempts is no comparison", () => {
    const worse = buildTrend([run({}), before]);
    expect(worse === null ? null : describeTrendWarning(worse)).toContain("fell by 10 points");
    expect(buildTrend([run({ success_rate: null }), before])).toMatchObject({
      success_rate_delta: null,
    });
  });
});
