import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { RunMetrics } from "../contracts/roadmap-reports.ts";
import { buildMetrics, computeSuccessRate, replaceMetrics } from "./metrics.ts";
import { phase, stateOf } from "./roadmap-records.test-support.ts";

const at = "2026-02-09T16:45:52Z";

describe("metrics", () => {
  const failedLine = {
    timestamp: at,
    phase: "2",
    event: "phase_failed",
    details: { category: "lint_failure" },
  } as const;

  const reported = {
    timestamp: at,
    phase: "1",
    step: "verify",
    event: "step_completed",
    details: { failure_categories: ["scope_creep", "scope_creep"] },
  } as const;

  const state = stateOf(
    {
      1: phase({ debug_attempts: 2 }),
      2: phase({ status: "failed", replan_attempts: 1 }, 4),
      3: phase({ status: "needs_human_verification", completed_at: null }, null),
      4: phase({ status: "completed" }, 6),
      5: phase({ status: "not_started", started_at: null, completed_at: null }, null),
    },
    [reported, failedLine],
  );
  const metrics = buildMetrics(state, at);
  test("it is valid against the published format's schema", () =>
    expect(v.safeParse(RunMetrics, metrics).issues).toBeUndefined());
  test.each([
    ["run_id", "run-2026-02-09-143052"],
    ["timestamp", at],
    ["phases_attempted", 4],
    ["phases_succeeded", 1], // completed below 7 isn't a success
    ["phases_failed", 1],
    ["phases_human_deferred", 1],
    ["failure_taxonomy_histogram", { scope_creep: 2, lint_failure: 1 }],
    ["avg_alignment_score", 6],
    ["total_duration_minutes", 135],
    ["total_estimated_tokens", 440_000],
    ["total_debug_loops", 2],
    ["total_replan_attempts", 1],
    ["success_rate", 0.25],
  ] as const)("%s", (field, value) => expect(metrics[field]).toEqual(value));

  test("per_phase_summary has a line for each phase attempted", () =>
    expect(metrics.per_phase_summary[0]).toEqual({
      phase_id: "1",
      status: "completed",
      alignment_score: 8,
      estimated_tokens: 110_000,
      duration_minutes: 41.75,
    }));

  test("a rate of nothing is null", () => {
    expect(computeSuccessRate(0, 0)).toBeNull();
    expect(buildMetrics(stateOf({}), at)).toMatchObject({
      success_rate: null,
      avg_alignment_score: null,
      phases_attempted: 0,
    });
  });

  test("a run that is recorded twice counts once", () =>
    expect(replaceMetrics([metrics], metrics)).toEqual([metrics]));
});
