// roadmap-reports: schemas of the roadmap's other files: trace spans, post-mortems, metrics.json
// and the trend, the self-audit's summary, the completion report, and TRIAGE.json.

import * as v from "valibot";
import {
  Alignment,
  Amount,
  failureCategories,
  FailureCategory,
  Time,
  Whole,
} from "./roadmap-values.ts";

const text = v.string();
const texts = v.array(text);
const nullable = v.nullable;
const summaryCharsMax = 200;
const Summary = v.pipe(text, v.maxLength(summaryCharsMax));

export const traceSteps = [
  "research",
  "plan",
  "plan_check",
  "execute",
  "verify",
  "judge",
  "debug",
  "phase_runner",
] as const;
export const traceActions = [
  "file_read",
  "file_write",
  "command_run",
  "tool_call",
  "agent_spawn",
  "decision",
] as const;
export const traceStatuses = ["success", "failure", "skipped"] as const;

/** One line of `<step>-trace.jsonl` and of TRACE.jsonl. */
export const TraceSpan = v.strictObject({
  timestamp: Time,
  phase_id: text,
  step: v.picklist(traceSteps),
  action: v.picklist(traceActions),
  input_summary: Summary,
  output_summary: Summary,
  duration_ms: Amount,
  status: v.picklist(traceStatuses),
});
export type TraceSpan = v.InferOutput<typeof TraceSpan>;

export const timelineStatuses = ["success", "failure", "skipped", "partial"] as const;
const TimelineEvent = v.strictObject({
  timestamp: Time,
  step: text,
  event: text,
  status: v.picklist(timelineStatuses),
});
const AttemptedFix = v.strictObject({
  attempt: v.pipe(Whole, v.minValue(1)),
  description: text,
  commit_sha: nullable(text),
  resolved: texts,
  remaining: texts,
});

/** `.autopilot/diagnostics/phase-<id>-postmortem.json`. */
export const PostMortem = v.strictObject({
  phase_id: text,
  phase_name: text,
  timestamp: Time,
  status: v.literal("failed"),
  root_cause: v.strictObject({
    category: FailureCategory,
    description: text,
    first_observed_at: Time,
    step: text,
  }),
  timeline: v.pipe(v.array(TimelineEvent), v.maxLength(20)),
  evidence: v.strictObject({ commands_run: texts, files_checked: texts }),
  attempted_fixes: v.array(AttemptedFix),
  prevention_rule: text,
});
export type PostMortem = v.InferOutput<typeof PostMortem>;

/** One run in `.autopilot/archive/metrics.json`, which is a list of them. */
export const RunMetrics = v.strictObject({
  run_id: text,
  timestamp: Time,
  phases_attempted: Whole,
  phases_succeeded: Whole,
  phases_failed: Whole,
  phases_human_deferred: Whole,
  failure_taxonomy_histogram: v.partial(
    v.strictObject(v.entriesFromList(failureCategories, Whole)),
  ),
  avg_alignment_score: nullable(v.number()),
  total_duration_minutes: Amount,
  total_estimated_tokens: Amount,
  total_debug_loops: Whole,
  total_replan_attempts: Whole,
  /** Null if nothing was attempted: 0 of 0 isn't a rate. */
  success_rate: nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(1))),
  per_phase_summary: v.array(
    v.strictObject({
      phase_id: text,
      status: text,
      alignment_score: nullable(Alignment),
      estimated_tokens: Amount,
      duration_minutes: Amount,
    }),
  ),
});
export type RunMetrics = v.InferOutput<typeof RunMetrics>;
export const MetricsFile = v.array(RunMetrics);

const Spread = nullable(v.strictObject({ min: v.number(), max: v.number(), avg: v.number() }));
export const TrendSummary = v.strictObject({
  success_rate_delta: nullable(v.number()),
  avg_alignment_delta: nullable(v.number()),
  estimated_cost_delta: v.number(),
  recurring_failures: v.array(FailureCategory),
  historical: v.strictObject({
    total_runs: Whole,
    success_rate: Spread,
    avg_alignment: Spread,
    total_cost: Spread,
  }),
});
export type TrendSummary = v.InferOutput<typeof TrendSummary>;

export const auditCyclesMax = 2;
export const SelfAuditSummary = v.strictObject({
  total_requirements_checked: Whole,
  passed_on_first_check: Whole,
  gaps_found: Whole,
  gaps_fixed: Whole,
  gaps_remaining: Whole,
  remaining_gap_details: v.array(v.strictObject({ requirement_id: text, description: text })),
  audit_cycles: v.pipe(Whole, v.maxValue(auditCyclesMax)),
  fix_commits: texts,
});
export type SelfAuditSummary = v.InferOutput<typeof SelfAuditSummary>;

const PhaseName = v.strictObject({ phase_id: text, phase_name: text });
export const SkippedPhase = v.strictObject({
  ...PhaseName.entries,
  reason: text,
  original_run_timestamp: v.optional(Time),
  blocking_phase: v.optional(text),
});
export type SkippedPhase = v.InferOutput<typeof SkippedPhase>;

/** The contents of `.autopilot/completion-report.md`. */
export const CompletionReport = v.strictObject({
  run_id: text,
  timestamp: Time,
  mode: v.literal("--complete"),
  total_phases_in_roadmap: Whole,
  completed_phases_total: Whole,
  completion_percentage: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  phases_attempted: Whole,
  phases_succeeded: Whole,
  phases_failed: Whole,
  phases_skipped: v.array(SkippedPhase),
  phases_deferred: Whole,
  dependency_gaps: v.array(
    v.strictObject({
      failed_phase_id: text,
      failed_phase_name: text,
      failure_reason: text,
      blocked_phases: v.array(PhaseName),
    }),
  ),
});
export type CompletionReport = v.InferOutput<typeof CompletionReport>;

/**
 * Further contents of a report: how the run ended, its figures, the trend, the self-audit,
 * warnings.
 */
const furtherFields = {
  status: v.picklist(["running", "paused", "failed", "completed"]),
  metrics: RunMetrics,
  trend_summary: nullable(TrendSummary),
  self_audit: nullable(SelfAuditSummary),
  warnings: v.array(v.strictObject({ code: text, message: text })),
};
/**
 * `.autopilot/completion-report.json`: with --complete all of the format's fields and our further
 * ones (which other tools leave out); for a run of some phases only our further ones.
 */
export const CompletionFile = v.union([
  v.strictObject({
    ...CompletionReport.entries,
    ...v.partial(v.strictObject(furtherFields)).entries,
  }),
  v.strictObject({
    run_id: text,
    timestamp: Time,
    mode: v.null(),
    phases_skipped: v.optional(v.array(SkippedPhase)),
    ...furtherFields,
  }),
]);
export type CompletionFile = v.InferOutput<typeof CompletionFile>;

export const triageRoutes = ["full_pipeline", "verify_only"] as const;
/** `.planning/phases/<id>/TRIAGE.json`. */
export const TriageFile = v.strictObject({
  phase_id: text,
  timestamp: Time,
  criteria_source: v.picklist(["plan", "roadmap", "none"]),
  criteria_checked: v.array(
    v.strictObject({
      criterion: text,
      command: text,
      result: v.picklist(["pass", "fail"]),
      output: Summary,
    }),
  ),
  total_criteria: Whole,
  passed_criteria: Whole,
  pass_ratio: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
  routing_decision: v.picklist(triageRoutes),
  skipped_steps: texts,
  note: text,
});
export type TriageFile = v.InferOutput<typeof TriageFile>;
