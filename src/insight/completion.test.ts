import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { CompletionReport } from "../contracts/roadmap-reports.ts";
import { buildCompletionReport, computePercentage } from "./completion.ts";
import { phase, stateOf } from "./roadmap-records.test-support.ts";

const at = "2026-02-09T16:45:52Z";

describe("completion", () => {
  const skip = (phase_id: string, reason: string) => ({
    timestamp: at,
    phase: phase_id,
    event: "phase_skipped" as const,
    details: { phase_id, reason },
  });

  const idle = phase({ status: "not_started", started_at: null, completed_at: null }, null);
  const state = stateOf(
    {
      9: phase({ status: "completed", started_at: null, completed_at: null }, null),
      10: phase({ status: "failed" }, 4),
      11: idle,
      12: phase({}),
      13: phase({ status: "needs_human_verification", completed_at: null }, null),
    },
    [
      skip("9", "already_completed"),
      skip("11", "blocked_by_phase_10"),
      {
        timestamp: at,
        phase: "10",
        event: "phase_failed",
        details: { category: "executor_incomplete", reason: "2 acceptance criteria unmet" },
      },
    ],
  );

  const phases = [9, 10, 11, 12, 13].map((id) => ({ id: String(id), name: `Phase ${id}` }));
  const report = buildCompletionReport({
    state,
    phases,
    earlier: { "9": "2026-02-09T15:00:00Z" },
    at,
  });
  test("it is valid against the published format's schema", () =>
    expect(v.safeParse(CompletionReport, report).issues).toBeUndefined());
  test.each([
    ["mode", "--complete"],
    ["total_phases_in_roadmap", 5],
    ["completed_phases_total", 2],
    ["completion_percentage", 40],
    ["phases_attempted", 3],
    ["phases_succeeded", 1],
    ["phases_failed", 1],
    ["phases_deferred", 1],
  ] as const)("%s", (field, value) => expect(report[field]).toBe(value));

  test("what was skipped says why", () =>
    expect(report.phases_skipped).toEqual([
      {
        phase_id: "9",
        phase_name: "Phase 9",
        reason: "already_completed",
        original_run_timestamp: "2026-02-09T15:00:00Z",
      },
      {
        phase_id: "11",
        phase_name: "Phase 11",
        reason: "blocked_by_phase_10",
        blocking_phase: "10",
      },
    ]));

  test("a failed phase is named with what it holds up", () =>
    expect(report.dependency_gaps).toEqual([
      {
        failed_phase_id: "10",
        failed_phase_name: "Phase 10",
        failure_reason: "executor_incomplete: 2 acceptance criteria unmet",
        blocked_phases: [{ phase_id: "11", phase_name: "Phase 11" }],
      },
    ]));

  test("why it failed is the first cause, and not the way it ended", () => {
    const details = {
      reason: "return_invalid",
      category: "executor_incomplete",
      description: "Task 10-01 failed: npm test -> failed.",
    };

    const log = state.event_log.map((event) =>
      event.event === "phase_failed" ? { ...event, details } : event,
    );

    expect(
      buildCompletionReport({ state: { ...state, event_log: log }, phases, at }).dependency_gaps[0]
        ?.failure_reason,
    ).toBe("executor_incomplete: Task 10-01 failed: npm test -> failed.");
  });

  test("an empty roadmap is not complete, and 999 of 1000 are not all", () => {
    expect(
      buildCompletionReport({ state: stateOf({}), phases: [], at }).completion_percentage,
    ).toBe(0);

    expect(computePercentage(1_999, 2_000)).toBe(99.9);
    expect(computePercentage(3, 3)).toBe(100);
  });
});
