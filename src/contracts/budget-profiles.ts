// budget-profiles: the named budgets, with the share of each at which a warning is given.

import type { Budget } from "./budget.ts";

/** Limits that `--max-budget` knows by name. */
export const budgetProfiles = {
  conservative: {
    profile: "conservative",
    soft_ratio: 0.75,
    limits: { minutes: 15, calls: 80, tokens: 80_000 },
  },
  balanced: {
    profile: "balanced",
    soft_ratio: 0.8,
    limits: { minutes: 30, calls: 180, tokens: 180_000 },
  },
  extended: {
    profile: "extended",
    soft_ratio: 0.85,
    limits: { minutes: 60, calls: 360, tokens: 360_000 },
  },
} as const satisfies Record<string, Budget>;
