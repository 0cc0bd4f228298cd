// roadmap-values: schemas of the words, scales and figures that the roadmap's files share.

import { thresholdDefaults } from "./tunable-limits.ts";
import * as v from "valibot";

/** ISO 8601 in UTC, to the second or finer. */
export const Time = v.pipe(
  v.string(),
  v.regex(
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/,
    "expected a time in UTC: 2026-02-09T14:30:52Z",
  ),
);
export const Whole = v.pipe(v.number(), v.integer(), v.minValue(0));
export const Amount = v.pipe(v.number(), v.minValue(0));
/** How well something matches what was asked for, from 1 to 10. */
export const Alignment = v.pipe(
  v.number(),
  v.minValue(1, "expected 1 to 10"),
  v.maxValue(10, "expected 1 to 10"),
);
/** A content hash: the algorithm, a colon, the hash in hex. */
export const Sha256 = v.pipe(
  v.string(),
  v.regex(/^sha256:[0-9a-f]{64}$/, "expected sha256: and 64 hex digits"),
);

export const phaseTypes = ["ui", "protocol", "data", "mixed"] as const;
export type PhaseType = (typeof phaseTypes)[number];
export const complexities = ["simple", "medium", "complex"] as const;
export type Complexity = (typeof complexities)[number];
export const recommendations = ["proceed", "debug", "rollback", "halt"] as const;
export const fixComplexities = ["small", "large"] as const;

/** Why a phase failed. Every post-mortem has exactly one. */
export const failureCategories = [
  "executor_incomplete",
  "executor_wrong_approach",
  "compilation_failure",
  "lint_failure",
  "build_failure",
  "acceptance_criteria_unmet",
  "scope_creep",
  "context_exhaustion",
  "tool_failure",
  "coordination_failure",
] as const;
export const FailureCategory = v.picklist(failureCategories);
export type FailureCategory = v.InferOutput<typeof FailureCategory>;

/** The alignment from which work is good enough. */
export const alignmentMin = 7;

/** The result of a check of the project; `n/a` if the project has none of its kind. */
export const CheckFlag = v.union([v.boolean(), v.literal("n/a")]);
export type CheckFlag = v.InferOutput<typeof CheckFlag>;

/** The breaker's thresholds: all eleven, with their defaults. */
export const CircuitBreakerConfig = v.strictObject({
  no_progress_threshold: v.optional(Whole, thresholdDefaults.no_progress_threshold),
  same_error_threshold: v.optional(Whole, thresholdDefaults.same_error_threshold),
  output_degradation_pct: v.optional(
    v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
    thresholdDefaults.output_degradation_pct,
  ),
  max_debug_attempts_per_phase: v.optional(Whole, thresholdDefaults.max_debug_attempts_per_phase),
  max_replan_attempts_per_phase: v.optional(Whole, thresholdDefaults.max_replan_attempts_per_phase),
  max_total_retries_per_run: v.optional(Whole, thresholdDefaults.max_total_retries_per_run),
  cooldown_minutes: v.optional(Amount, thresholdDefaults.cooldown_minutes),
  cost_cap_tokens_per_phase: v.optional(Amount, thresholdDefaults.cost_cap_tokens_per_phase),
  cost_cap_tokens_total: v.optional(Amount, thresholdDefaults.cost_cap_tokens_total),
  wall_clock_timeout_minutes_per_phase: v.optional(
    Amount,
    thresholdDefaults.wall_clock_timeout_minutes_per_phase,
  ),
  wall_clock_timeout_minutes_total: v.optional(
    Amount,
    thresholdDefaults.wall_clock_timeout_minutes_total,
  ),
});
export type CircuitBreakerConfig = v.InferOutput<typeof CircuitBreakerConfig>;
export const circuitBreakerDefaults: CircuitBreakerConfig = v.parse(CircuitBreakerConfig, {});
