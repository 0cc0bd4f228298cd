// limit-directions: which value of each threshold and cap of the config allows more.

import type { Threshold } from "../../contracts/tunable-limits.ts";

export const limitDirections: Readonly<Record<Threshold, "more" | "less">> = {
  no_progress_threshold: "more",
  same_error_threshold: "more",
  output_degradation_pct: "less",
  max_debug_attempts_per_phase: "more",
  max_replan_attempts_per_phase: "more",
  max_total_retries_per_run: "more",
  cooldown_minutes: "less",
  cost_cap_tokens_per_phase: "more",
  cost_cap_tokens_total: "more",
  wall_clock_timeout_minutes_per_phase: "more",
  wall_clock_timeout_minutes_total: "more",
};
