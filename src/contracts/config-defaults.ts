// config-defaults: what holds for each key of the config that is set nowhere, for a flow's step
// that sets no time, for a portfolio's run without --jobs and its tasks without an agent, and for
// `pr watch` without --tries.
// Elsewhere: thresholds and caps (tunable-limits.ts), the constants of an estimate
// (insight/roadmap-cost-formula.ts), the budget (project/config/flow-budget.ts) and the address of a
// collector (project/otel/collector.ts).

import type { Config } from "./config.ts";

export const configDefaults = {
  checks: { detect: true, timeout_minutes: 15, repeat: 3, canary: "final", canary_timeout: 10 },
  isolation: "auto",
  network: { checks: false },
  dry_run: "required",
  box: { processes: 512, memory_mb: 8192, disk_mb: 20_480 },
  on_limit: "resume",
  land: { minimum: "verified_with_gaps" },
  completion_mode: "promise",
  risk_level: "medium",
  handoff_mode: "manual",
  approval_policy: "none",
} as const satisfies Config;

/**
 * How long an agent's turn may take if neither its step nor its flow says so. Every shipped flow
 * does, so this is for flows of the user's own.
 */
export const stepMinutesDefault = 20;
/** How many of a portfolio's tasks run at once. */
export const portfolioJobsDefault = 2;
/** What is recorded of a task as its worker's backend: agents are spoken to by this protocol. */
export const portfolioBackendDefault = "acp";
/** Which agent works on a task if neither the task, the command nor the config names one. */
export const portfolioAgentDefault = "codex";
/** The port that the dashboard listens on, if it is free. */
export const dashboardPortDefault = 4114;
/** How many follow-ups `pr watch` begins for one pull request. */
export const pullRequestTriesDefault = 3;
/** How often `pr watch` asks the code host. */
export const pullRequestEveryDefault = "2m";
