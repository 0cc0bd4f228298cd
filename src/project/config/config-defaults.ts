// config-defaults: the defaults of the config, and of every limit with its looser direction.

import type { Config } from "../../contracts/config.ts";

/** What holds where nobody says otherwise. */
export const configDefaults = {
  isolation: "auto",
  dry_run: "required",
  checks: { detect: true, timeout_minutes: 15 },
  network: { checks: false },
} as const satisfies Config;

/** The breaker's thresholds and the caps, by their names, with what holds where nobody says otherwise, and which way is looser. */
export const limitDefaults: Readonly<Record<string, { readonly value: number; readonly looser: "more" | "less" }>> = {
  no_progress_threshold: { value: 3, looser: "more" },
  same_error_threshold: { value: 5, looser: "more" },
  output_degradation_pct: { value: 70, looser: "less" },
  max_debug_attempts_per_phase: { value: 3, looser: "more" },
  max_replan_attempts_per_phase: { value: 1, looser: "more" },
  max_total_retries_per_run: { value: 10, looser: "more" },
  cooldown_minutes: { value: 5, looser: "less" },
  cost_cap_tokens_per_phase: { value: 500_000, looser: "more" },
  cost_cap_tokens_total: { value: 5_000_000, looser: "more" },
  wall_clock_timeout_minutes_per_phase: { value: 120, looser: "more" },
  wall_clock_timeout_minutes_total: { value: 1_440, looser: "more" },
};
