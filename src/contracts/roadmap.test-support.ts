// roadmap: the published examples, whole, for tests that go through them field by field.

import type {
  CompletionReport,
  PostMortem,
  RunMetrics,
  SelfAuditSummary,
  TraceSpan,
  TrendSummary,
  TriageFile,
} from "./roadmap-reports.ts";
import type { RoadmapState } from "./roadmap-state.ts";
import { circuitBreakerDefaults } from "./roadmap-values.ts";

const hash = `sha256:${"a1b2c3d4".repeat(8)}`;

export const seedState = {
  _meta: {
    version: "1.0",
    run_id: "run-2026-02-09-143052",
    started_at: "2026-02-09T14:30:52Z",
    last_checkpoint: "2026-02-09T16:45:12Z",
    status: "running",
    total_phases: 14,
    current_phase: "6.3",
    current_step: "execute",
    orchestrator_context_pct: 35,
    human_deferred_count: 0,
    total_phases_processed: 0,
  },
  spec: { path: ".planning/ROADMAP.md", hash, locked_at: "2026-02-09T14:30:52Z" },
  roadmap_path: ".planning/ROADMAP.md",
  phases: {
    "phase_6.1": {
      phase_type: "mixed",
      status: "completed",
      started_at: "2026-02-09T14:31:00Z",
      completed_at: "2026-02-09T15:12:45Z",
      steps: {
        preflight: { status: "pass", timestamp: "2026-02-09T14:31:05Z" },
        research: { status: "completed", output: ".planning/phases/6.1/RESEARCH.md", hash },
        plan: {
          status: "completed",
          output: ".planning/phases/6.1/PLAN.md",
          hash,
          validation_rounds: 1,
        },
        plan_check: { status: "pass", confidence: 9 },
        execute: {
          status: "completed",
          tasks: {
            task_01: { status: "completed", commit: "abc1234", retries: 0 },
            task_02: { status: "completed", commit: "def5678", retries: 1 },
          },
        },
        verify: {
          status: "pass",
          automated: { compile: true, tests: true, lint: true },
          alignment_score: 8,
          scope_creep: [],
        },
        judge: { alignment: 8, recommendation: "proceed" },
      },
      debug_attempts: 0,
      replan_attempts: 0,
      tokens_used: 85_000,
      estimated_tokens: 110_000,
      human_verify_justification: null,
      human_verdict: null,
    },
  },
  circuit_breaker: {
    state: "closed",
    consecutive_no_progress: 0,
    consecutive_same_error: 0,
    last_error: null,
    cooldown_until: null,
  },
  circuit_breaker_config: circuitBreakerDefaults,
  event_log: [
    {
      timestamp: "2026-02-09T14:31:00Z",
      phase: "6.1",
      step: "execute",
      event: "task_completed",
      details: { task: "task_01", commit: "abc1234" },
    },
  ],
  metrics: {
    total_tokens_used: 450_000,
    total_duration_minutes: 180,
    phases_completed: 5,
    phases_failed: 0,
    debug_loops_total: 2,
    replan_count: 0,
  },
} satisfies RoadmapState;

export const seedSpan: TraceSpan = {
  timestamp: "2026-02-09T14:32:15Z",
  phase_id: "5",
  step: "execute",
  action: "file_write",
  input_summary: "Write to src/protocols/autopilot-playbook.md",
  output_summary: "File written successfully (1013 lines)",
  duration_ms: 450,
  status: "success",
};

export const seedPostMortem: PostMortem = {
  phase_id: "5",
  phase_name: "Execution Trace and Observability",
  timestamp: "2026-02-09T16:45:00Z",
  status: "failed",
  root_cause: {
    category: "acceptance_criteria_unmet",
    description: "Verifier found 2 of 5 acceptance criteria not met after 3 debug attempts",
    first_observed_at: "2026-02-09T15:30:00Z",
    step: "verify",
  },
  timeline: [
    {
      timestamp: "2026-02-09T14:31:00Z",
      step: "execute",
      event: "Task 05-01 completed",
      status: "success",
    },
  ],
  evidence: {
    commands_run: ["grep 'pattern' file.md -> no match (FAIL)"],
    files_checked: ["src/protocols/autopilot-playbook.md:450 -- missing trace instruction"],
  },
  attempted_fixes: [
    {
      attempt: 1,
      description: "Added missing trace instruction to executor prompt",
      commit_sha: "abc1234",
      resolved: ["criterion_1"],
      remaining: ["criterion_2"],
    },
  ],
  prevention_rule:
    "Check each prompt by itself rather than assuming that one edit covers all of them.",
};

export const seedMetrics: RunMetrics[] = [
  {
    run_id: "run-2026-02-10-143052",
    timestamp: "2026-02-10T16:45:00Z",
    phases_attempted: 5,
    phases_succeeded: 4,
    phases_failed: 1,
    phases_human_deferred: 0,
    failure_taxonomy_histogram: { executor_incomplete: 1, acceptance_criteria_unmet: 1 },
    avg_alignment_score: 7.8,
    total_duration_minutes: 135,
    total_estimated_tokens: 425_000,
    total_debug_loops: 2,
    total_replan_attempts: 0,
    success_rate: 0.8,
    per_phase_summary: [
      {
        phase_id: "7",
        status: "completed",
        alignment_score: 8,
        estimated_tokens: 110_000,
        duration_minutes: 25,
      },
    ],
  },
];

export const seedTrend: TrendSummary = {
  success_rate_delta: 0.1,
  avg_alignment_delta: 0.5,
  estimated_cost_delta: -25_000,
  recurring_failures: ["executor_incomplete"],
  historical: {
    total_runs: 5,
    success_rate: { min: 0.6, max: 0.9, avg: 0.78 },
    avg_alignment: { min: 6.5, max: 8.2, avg: 7.4 },
    total_cost: { min: 200_000, max: 600_000, avg: 380_000 },
  },
};

export const seedSelfAudit: SelfAuditSummary = {
  total_requirements_checked: 15,
  passed_on_first_check: 13,
  gaps_found: 2,
  gaps_fixed: 1,
  gaps_remaining: 1,
  remaining_gap_details: [{ requirement_id: "REQ-01", description: "what could not be fixed" }],
  audit_cycles: 1,
  fix_commits: ["abc1234", "def5678"],
};

export const seedCompletion: CompletionReport = {
  run_id: "run-2026-02-10-143052",
  timestamp: "2026-02-10T18:30:00Z",
  mode: "--complete",
  total_phases_in_roadmap: 15,
  completed_phases_total: 12,
  completion_percentage: 80,
  phases_attempted: 5,
  phases_succeeded: 3,
  phases_failed: 1,
  phases_skipped: [
    {
      phase_id: "9",
      phase_name: "Pre-Execution Context Mapping",
      reason: "already_completed",
      original_run_timestamp: "2026-02-09T15:00:00Z",
    },
    {
      phase_id: "11",
      phase_name: "Competitive Analysis",
      reason: "blocked_by_phase_10",
      blocking_phase: "10",
    },
  ],
  phases_deferred: 1,
  dependency_gaps: [
    {
      failed_phase_id: "10",
      failed_phase_name: "Confidence Enforcement",
      failure_reason: "executor_incomplete: 2 acceptance criteria unmet",
      blocked_phases: [{ phase_id: "11", phase_name: "Competitive Analysis" }],
    },
  ],
};

export const seedTriage: TriageFile = {
  phase_id: "3",
  timestamp: "2026-02-17T00:00:00Z",
  criteria_source: "roadmap",
  criteria_checked: [
    {
      criterion: "tests are run after each task",
      command: "grep -c test_gate playbook.md",
      result: "fail",
      output: "0",
    },
  ],
  total_criteria: 4,
  passed_criteria: 0,
  pass_ratio: 0,
  routing_decision: "full_pipeline",
  skipped_steps: [],
  note: "Nothing of it is there yet.",
};
