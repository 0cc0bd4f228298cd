// Figures: cost, estimate, metrics, trend, warnings, self-audit, completion and learnings, each
// against the format's own words.

import * as fc from "fast-check";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import type { SelfAuditReturn } from "../contracts/agent-returns.ts";
import {
  CompletionReport,
  RunMetrics,
  SelfAuditSummary,
  TrendSummary,
} from "../contracts/roadmap-reports.ts";
import type { PhaseRecord, RoadmapState } from "../contracts/roadmap-state.ts";
import { seedMetrics, seedPostMortem, seedState } from "../contracts/roadmap.test-support.ts";
import { computeCheckFlags, findCheckKind } from "./check-kind.ts";
import { buildCompletionReport, computePercentage } from "./completion.ts";
import {
  computeComplexity,
  costConstantsDefault,
  describeCostWarning,
  estimateTokens,
} from "./roadmap-cost-formula.ts";
import { result } from "./entries.test-support.ts";
import { estimatePhases } from "./estimate-roadmap-phases.ts";
import { type PastCase, predictRange } from "./forecast.ts";
import {
  createFailureLearning,
  createVerdictLearning,
  selectLearnings,
  listRechecks,
} from "../playbooks/roadmap/insight/learnings.ts";
import { buildMetrics, computeSuccessRate, replaceMetrics } from "./metrics.ts";
import { scoreAudit, buildSelfAudit } from "../playbooks/roadmap/insight/self-audit.ts";
import { buildTrend, describeTrendWarning } from "./trend.ts";
import {
  findHighDeferRate,
  findRubberStamp,
  findUnnecessaryDeferral,
  findStateWarnings,
} from "../playbooks/roadmap/insight/warnings.ts";

const base = seedState.phases["phase_6.1"] as PhaseRecord;
const phase = (changes: Partial<PhaseRecord>, score: number | null = 8): PhaseRecord => ({
  ...base,
  steps: { judge: { alignment: score, recommendation: "proceed" } },
  ...changes,
});
const stateOf = (
  phases: Readonly<Record<string, PhaseRecord>>,
  event_log: RoadmapState["event_log"] = [],
): RoadmapState => ({
  ...(seedState as RoadmapState),
  phases: Object.fromEntries(Object.entries(phases).map(([id, record]) => [`phase_${id}`, record])),
  event_log,
});
const at = "2026-02-09T16:45:52Z";

describe("cost", () => {
  test.each([
    ["task_tokens.simple", costConstantsDefault.task_tokens.simple, 15_000],
    ["task_tokens.medium", costConstantsDefault.task_tokens.medium, 30_000],
    ["task_tokens.complex", costConstantsDefault.task_tokens.complex, 60_000],
    ["pipeline_overhead", costConstantsDefault.pipeline_overhead, 50_000],
    ["buffer_multiplier", costConstantsDefault.buffer_multiplier, 1.2],
    ["warning_threshold_pct", costConstantsDefault.warning_threshold_pct, 80],
    ["default_estimates.protocol", costConstantsDefault.default_estimates.protocol, 150_000],
    ["default_estimates.ui", costConstantsDefault.default_estimates.ui, 250_000],
    ["default_estimates.data", costConstantsDefault.default_estimates.data, 100_000],
    ["default_estimates.mixed", costConstantsDefault.default_estimates.mixed, 200_000],
  ])("%s is the seed's", (_, ours, seed) => expect(ours).toBe(seed));

  test("with a plan: overhead and tasks, times the buffer", () =>
    expect(
      estimateTokens({
        phaseType: "ui",
        tasks: [
          { files: [], complexity: "simple" },
          { files: [], complexity: "complex" },
        ],
      }),
    ).toBe(150_000));

  test("without one: the default of its type, times the buffer", () =>
    expect(estimateTokens({ phaseType: "ui", tasks: null })).toBe(300_000));
  test.each([
    [1, "simple"],
    [2, "medium"],
    [3, "medium"],
    [4, "complex"],
  ])("a task of %d files is %s where the plan does not say", (count, word) =>
    expect(computeComplexity({ files: Array.from({ length: count }, () => "a") })).toBe(word),
  );

  test("above 80 % of the cap is warned of in the seed's words, 80 % itself is not", () => {
    expect(describeCostWarning("7", 400_000, 500_000)).toBeNull();
    expect(describeCostWarning("7", 400_001, 500_000)).toBe(
      "Phase 7 estimated at 400001 tokens (80% of budget cap).",
    );
  });
});

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
  test("without history the constants speak, and nothing is said of minutes and money", () =>
    expect(estimatePhases([planned], [sample(1)])).toMatchObject({
      tokens: { p50: 250_000, p90: 300_000 },
      minutes: null,
      usd: null,
    }));

  test("three phases alike are enough to go by", () => {
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

  test("middles add up, and P90 lies between them and the worst of all", () => {
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
  test("it is valid against the seed's schema", () =>
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

  test("none of none is no rate", () => {
    expect(computeSuccessRate(0, 0)).toBeNull();
    expect(buildMetrics(stateOf({}), at)).toMatchObject({
      success_rate: null,
      avg_alignment_score: null,
      phases_attempted: 0,
    });
  });

  test("a run recorded twice stands once", () =>
    expect(replaceMetrics([metrics], metrics)).toEqual([metrics]));
});

describe("trend", () => {
  const [seed] = seedMetrics;
  const run = (changes: Partial<RunMetrics>): RunMetrics => ({
    ...(seed as RunMetrics),
    ...changes,
  });
  test("one run alone is none", () => {
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

describe("warnings", () => {
  test("three equal scores in a row may have been given without looking; two, or three apart, not", () => {
    expect(findRubberStamp([8, 8])).toBeNull();
    expect(findRubberStamp([8, 7, 8, 8])).toBeNull();
    expect(findRubberStamp([7, 8, null, 8, 8])).toMatchObject({ code: "rubber_stamp" });
  });

  test.each([
    [2, 2, true],
    [1, 2, false],
    [0, 0, false],
  ])("%d of %d auto tasks passed: unnecessary %j", (autoPassed, autoTotal, isReported) =>
    expect(findUnnecessaryDeferral({ phase: "1", autoPassed, autoTotal }) !== null).toBe(
      isReported,
    ),
  );

  test.each([
    [1, 1, false],
    [1, 2, false],
    [2, 3, true],
    [2, 2, true],
  ])("%d of %d deferred: too many %j", (deferred, processed, isReported) =>
    expect(findHighDeferRate(deferred, processed) !== null).toBe(isReported),
  );

  test("a state gives rise to all of them", () => {
    const why = {
      checkpoint_task_id: "h",
      task_description: "look",
      auto_tasks_passed: 1,
      auto_tasks_total: 1,
    };

    const state = stateOf({
      1: phase({ human_verify_justification: why }),
      2: phase({}),
      3: phase({}),
    });
    state._meta = { ...state._meta, human_deferred_count: 2, total_phases_processed: 3 };
    expect(findStateWarnings(state).map(({ code }) => code)).toEqual([
      "rubber_stamp",
      "unnecessary_deferral",
      "high_defer_rate",
    ]);
  });
});

describe("self-audit", () => {
  const check = (id: string, status: "pass" | "gap", evidence = "a.md:1 -- x") => ({
    requirement_id: id,
    expected: "e",
    actual_found: "f",
    file_line_evidence: evidence,
    status,
    gap_description: status === "gap" ? `${id} is missing` : null,
    fix_complexity: status === "gap" ? ("small" as const) : null,
  });
  const audit = (...checks: ReturnType<typeof check>[]): SelfAuditReturn => ({
    audit_results: [{ phase_id: "5", requirements_checked: checks }],
    aggregate: {
      total_requirements_checked: checks.length,
      passed_on_first_check: checks.filter(({ status }) => status === "pass").length,
      gaps_found: checks.filter(({ status }) => status === "gap").length,
      gap_details: [],
    },
  });
  test("a gap that a re-audit finds closed is fixed; one that is not looked at again remains", () => {
    const summary = buildSelfAudit(
      [audit(check("A", "pass"), check("B", "gap"), check("C", "gap")), audit(check("B", "pass"))],
      ["abc1234"],
    );
    expect(v.safeParse(SelfAuditSummary, summary).issues).toBeUndefined();
    expect(summary).toEqual({
      total_requirements_checked: 3,
      passed_on_first_check: 1,
      gaps_found: 2,
      gaps_fixed: 1,
      gaps_remaining: 1,
      remaining_gap_details: [{ requirement_id: "C", description: "C is missing" }],
      audit_cycles: 1,
      fix_commits: ["abc1234"],
    });
  });

  test("a pass that shows nothing is a gap", () =>
    expect(scoreAudit(audit(check("A", "pass", " "))).gaps).toMatchObject([
      { requirement_id: "A" },
    ]));

  test("the auditor's sums are compared with its list", () => {
    const detected = audit(check("A", "gap"));
    detected.aggregate.gaps_found = 0;
    expect(scoreAudit(detected).disagreements).toEqual([
      "gaps_found: the auditor says 0, its list has 1",
    ]);
  });

  test("no audit is no audit", () =>
    expect(buildSelfAudit([], [])).toMatchObject({
      total_requirements_checked: 0,
      audit_cycles: 0,
    }));
});

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
  test("it is valid against the seed's schema", () =>
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

describe("learnings", () => {
  const failure = createFailureLearning(seedPostMortem, {
    run_id: "run-1",
    recheck: "grep -q trace a.md",
  });

  const verdict = createVerdictLearning(
    {
      phase_id: "6",
      phase_name: "Page",
      verdict: "issues_found",
      issues: ["wrong colour"],
      timestamp: at,
    },
    { run_id: "run-1" },
  );

  test("a failure's learning keeps the rule, its category and where it comes from", () =>
    expect(failure).toMatchObject({
      kind: "failure",
      phase_id: "5",
      category: "acceptance_criteria_unmet",
      prevention_rule: seedPostMortem.prevention_rule,
      provenance: {
        run_id: "run-1",
        recorded_at: seedPostMortem.timestamp,
        source: "phase-5-postmortem.json",
      },
    }));

  test.each([
    ["planner", 2],
    ["executor", 2],
    ["verifier", 0],
    ["judge", 0],
  ])("the role %s is told %d of two", (role, count) =>
    expect(selectLearnings(role, [failure, verdict], new Map())).toHaveLength(count),
  );

  test("one whose re-check no longer holds is shown to nobody", () => {
    expect(listRechecks([failure, verdict])).toEqual(["grep -q trace a.md"]);
    expect(
      selectLearnings("planner", [failure, verdict], new Map([["grep -q trace a.md", false]])),
    ).toEqual([verdict]);

    expect(
      selectLearnings("planner", [failure, verdict], new Map([["grep -q trace a.md", true]])),
    ).toEqual([verdict, failure]);
  });

  test("a prompt is no archive: the newest few, each once", () => {
    const many = Array.from({ length: 50 }, (_, n) => ({
      ...failure,
      prevention_rule: `rule ${n % 30}`,
    }));
    expect(selectLearnings("executor", many, new Map())).toHaveLength(12);
  });
});

describe("a project's checks", () => {
  test.each([
    ["npx tsc --noEmit", "compile"],
    ["npm run typecheck", "compile"],
    ["cargo check", "compile"],
    ["npm run lint:types", "lint"],
    ["cargo clippy", "lint"],
    ["ruff check .", "lint"],
    ["npm run test:unit", "tests"],
    ["pytest -q", "tests"],
    ["go test ./...", "tests"],
    ["npm run build", "build"],
    ["make", null],
  ])("%s is %s", (command, kind) =>
    expect(findCheckKind({ id: "project:config-1", title: command, command })).toBe(kind),
  );

  test("one red check makes its kind red, a kind without any is n/a", () =>
    expect(
      computeCheckFlags([
        result("project", "npm test", "passed"),
        result("project", "pytest", "failed"),
        result("criterion", "npm run lint", "failed"),
      ]),
    ).toEqual({
      compile: "n/a",
      tests: false,
      lint: "n/a",
      build: "n/a",
    }));
});
