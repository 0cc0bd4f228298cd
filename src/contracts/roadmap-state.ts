// roadmap-state: schema of `.autopilot/state.json`, the state of a roadmap's run. The published
// format shows only finished work; here `in_progress` and `null` stand for what is under way or not
// known yet.

import * as v from "valibot";
import { humanVerdicts } from "./human-verdict.ts";
import { RunId } from "./ids.ts";
import { RoadmapEvent } from "./roadmap-events.ts";
import {
  Alignment,
  Amount,
  CheckFlag,
  CircuitBreakerConfig,
  phaseTypes,
  recommendations,
  Sha256,
  Time,
  Whole,
} from "./roadmap-values.ts";

const text = v.string();
const nullable = v.nullable;

export const runStatuses = ["running", "paused", "failed", "completed"] as const;
export const phaseStatuses = [
  "not_started",
  "in_progress",
  "completed",
  "failed",
  "needs_human_verification",
] as const;
export type PhaseStatus = (typeof phaseStatuses)[number];
export const gateStatuses = ["in_progress", "pass", "fail", "skipped"] as const;
export const workStatuses = ["in_progress", "completed", "failed", "skipped"] as const;
export const executeStatuses = [
  "in_progress",
  "completed",
  "partial",
  "failed",
  "skipped",
] as const;
export const taskStatuses = ["pending", "in_progress", "completed", "failed", "skipped"] as const;
export const breakerStates = ["closed", "open", "half_open"] as const;

export const Meta = v.strictObject({
  version: v.literal("1.0"),
  run_id: RunId,
  started_at: Time,
  last_checkpoint: Time,
  status: v.picklist(runStatuses),
  total_phases: Whole,
  current_phase: nullable(text),
  current_step: nullable(text),
  orchestrator_context_pct: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  human_deferred_count: Whole,
  total_phases_processed: Whole,
});

export const TaskRecord = v.strictObject({
  status: v.picklist(taskStatuses),
  commit: nullable(text),
  retries: Whole,
});
export type TaskRecord = v.InferOutput<typeof TaskRecord>;

const output = { status: v.picklist(workStatuses), output: nullable(text), hash: nullable(Sha256) };

/** A step appears when it begins. */
export const StepRecords = v.strictObject({
  preflight: v.optional(v.strictObject({ status: v.picklist(gateStatuses), timestamp: Time })),
  research: v.optional(v.strictObject(output)),
  plan: v.optional(v.strictObject({ ...output, validation_rounds: Whole })),
  plan_check: v.optional(
    v.strictObject({ status: v.picklist(gateStatuses), confidence: nullable(Alignment) }),
  ),
  execute: v.optional(
    v.strictObject({ status: v.picklist(executeStatuses), tasks: v.record(text, TaskRecord) }),
  ),
  verify: v.optional(
    v.strictObject({
      status: v.picklist(gateStatuses),
      automated: v.strictObject({
        compile: CheckFlag,
        tests: CheckFlag,
        lint: CheckFlag,
        build: v.optional(CheckFlag),
      }),
      alignment_score: nullable(Alignment),
      scope_creep: v.array(text),
    }),
  ),
  judge: v.optional(
    v.strictObject({
      alignment: nullable(Alignment),
      recommendation: nullable(v.picklist(recommendations)),
    }),
  ),
});
export type StepRecords = v.InferOutput<typeof StepRecords>;

export const HumanVerifyJustification = v.strictObject({
  checkpoint_task_id: text,
  task_description: text,
  auto_tasks_passed: Whole,
  auto_tasks_total: Whole,
});
export const HumanVerdict = v.strictObject({
  verdict: v.picklist(humanVerdicts),
  timestamp: Time,
  issues: v.array(text),
});

export const PhaseRecord = v.strictObject({
  phase_type: v.picklist(phaseTypes),
  status: v.picklist(phaseStatuses),
  started_at: nullable(Time),
  completed_at: nullable(Time),
  steps: StepRecords,
  debug_attempts: Whole,
  replan_attempts: Whole,
  tokens_used: Amount,
  estimated_tokens: Amount,
  human_verify_justification: nullable(HumanVerifyJustification),
  human_verdict: nullable(HumanVerdict),
});
export type PhaseRecord = v.InferOutput<typeof PhaseRecord>;

export const CircuitBreaker = v.strictObject({
  state: v.picklist(breakerStates),
  consecutive_no_progress: Whole,
  consecutive_same_error: Whole,
  last_error: nullable(text),
  cooldown_until: nullable(Time),
});

export const StateMetrics = v.strictObject({
  total_tokens_used: Amount,
  total_duration_minutes: Amount,
  phases_completed: Whole,
  phases_failed: Whole,
  debug_loops_total: Whole,
  replan_count: Whole,
});

export const RoadmapState = v.strictObject({
  _meta: Meta,
  spec: v.strictObject({ path: text, hash: nullable(Sha256), locked_at: Time }),
  roadmap_path: text,
  phases: v.record(
    v.pipe(text, v.regex(/^phase_./, "expected phase_ and the phase's id")),
    PhaseRecord,
  ),
  circuit_breaker: CircuitBreaker,
  /** The thresholds in force, so that a reader knows what the counters are compared with. */
  circuit_breaker_config: v.optional(CircuitBreakerConfig),
  event_log: v.array(RoadmapEvent),
  metrics: StateMetrics,
});
export type RoadmapState = v.InferOutput<typeof RoadmapState>;
