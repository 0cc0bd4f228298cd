// limit-defaults: for every threshold and cap of the config its default, and in which direction a
// value is looser. The numbers are in contracts/tunable-limits.ts.

import { thresholdDefaults } from "../../contracts/tunable-limits.ts";

/**
 * The breaker's thresholds and the caps, by their names, with their defaults (from
 * `thresholdDefaults`), and which direction is looser.
 */
export const limitDefaults: Readonly<
  Record<string, { readonly value: number; readonly looser: "more" | "less" }>
> = {
  no_progress_threshold: { value: thresholdDefaults.no_progress_threshold, looser: "more" },
  same_error_threshold: { value: thresholdDefaults.same_error_threshold, looser: "more" },
  output_degradation_pct: { value: thresholdDefaults.output_degradation_pct, looser: "less" },
  max_debug_attempts_per_phase: {
    value: thresholdDefaults.max_debug_attempts_per_phase,
    looser: "more",
  },
  max_replan_attempts_per_phase: {
    value: thresholdDefaults.max_replan_attempts_per_phase,
    looser: "more",
  },
  max_total_retries_per_run: { value: thresholdDefaults.max_total_retries_per_run, looser: "more" },
  cooldown_minutes: { value: thresholdDefaults.cooldown_minutes, looser: "less" },
  cost_cap_tokens_per_phase: { value: thresholdDefaults.cost_cap_tokens_per_phase, looser: "more" },
  cost_cap_tokens_total: { value: thresholdDefaults.cost_cap_tokens_total, looser: "more" },
  wall_clock_timeout_minutes_per_phase: {
    value: thresholdDefaults.wall_clock_timeout_minutes_per_phase,
    looser: "more",
  },
  wall_clock_timeout_minutes_total: {
    value: thresholdDefaults.wall_clock_timeout_minutes_total,
    looser: "more",
  },
};
