// metrics: computes a run's figures, as one entry of archive/metrics.json.

import type { RunMetrics } from "../contracts/roadmap-reports.ts";
import type { PhaseRecord, RoadmapState } from "../contracts/roadmap-state.ts";
import {
  alignmentMin,
  failureCategories,
  type FailureCategory,
} from "../contracts/roadmap-values.ts";
import { parseIsoTime } from "../kit/iso-time.ts";

/** `at`: when the run ended, or now if it has not. */
export function buildMetrics(state: RoadmapState, at: string): RunMetrics {
  const phases = Object.entries(state.phases).map(([key, phase]) => ({
    id: key.replace(/^phase_/, ""),
    phase,
  }));
  const attempted = phases.filter(({ phase }) => phase.started_at !== null);
  const succeeded = attempted.filter(({ phase }) => hasSucceeded(phase));
  const scores = attempted.flatMap(({ phase }) => getAlignment(phase) ?? []);
  const sum = (select: (phase: PhaseRecord) => number): number =>
    attempted.reduce((total, { phase }) => total + select(phase), 0);

  return {
    run_id: state._meta.run_id,
    timestamp: at,
    phases_attempted: attempted.length,
    phases_succeeded: succeeded.length,
    phases_failed: attempted.filter(({ phase }) => phase.status === "failed").length,
    phases_human_deferred: attempted.filter(
      ({ phase }) => phase.status === "needs_human_verification",
    ).length,
    failure_taxonomy_histogram: countFailures(state),
    avg_alignment_score:
      scores.length === 0
        ? null
        : roundToHundredths(scores.reduce((total, score) => total + score, 0) / scores.length),
    total_duration_minutes: computeMinutes(state._meta.started_at, at),
    total_estimated_tokens: sum((phase) => phase.estimated_tokens),
    total_debug_loops: sum((phase) => phase.debug_attempts),
    total_replan_attempts: sum((phase) => phase.replan_attempts),
    success_rate: computeSuccessRate(succeeded.length, attempted.length),
    per_phase_summary: attempted.map(({ id, phase }) => ({
      phase_id: id,
      status: phase.status,
      alignment_score: getAlignment(phase),
      estimated_tokens: phase.estimated_tokens,
      duration_minutes:
        phase.started_at === null ? 0 : computeMinutes(phase.started_at, phase.completed_at ?? at),
    })),
  };
}

/** The judge's score; the verifier's doesn't count. */
export const getAlignment = (phase: PhaseRecord): number | null =>
  phase.steps.judge?.alignment ?? null;

export const hasSucceeded = (phase: PhaseRecord): boolean =>
  phase.status === "completed" &&
  phase.started_at !== null &&
  (getAlignment(phase) ?? 0) >= alignmentMin;

/** Null if nothing was attempted. */
export const computeSuccessRate = (succeeded: number, attempted: number): number | null =>
  attempted === 0 ? null : roundToHundredths(succeeded / attempted);

/**
 * Adds or replaces the entry of a run: one that crashed while it was archived is archived again.
 */
export function replaceMetrics(
  runs: readonly RunMetrics[],
  entry: RunMetrics,
): readonly RunMetrics[] {
  return [...runs.filter(({ run_id }) => run_id !== entry.run_id), entry];
}

/**
 * Counts the categories that verifiers and debuggers named; for a phase without any, that of its
 * failure.
 */
function countFailures(state: RoadmapState): RunMetrics["failure_taxonomy_histogram"] {
  const histogram: Partial<Record<FailureCategory, number>> = {};
  const categorized = new Set<string>();
  const count = (category: unknown): void => {
    if (isCategory(category)) histogram[category] = (histogram[category] ?? 0) + 1;
  };

  for (const { phase, details } of state.event_log) {
    const categories = details["failure_categories"];
    if (!Array.isArray(categories) || categories.length === 0) continue;
    if (phase !== undefined) categorized.add(phase);
    categories.forEach(count);
  }

  for (const { event, phase, details } of state.event_log) {
    if (event === "phase_failed" && phase !== undefined && !categorized.has(phase)) {
      count(details["category"]);
    }
  }

  return histogram;
}

export const isCategory = (value: unknown): value is FailureCategory =>
  (failureCategories as readonly unknown[]).includes(value);

export function computeMinutes(from: string, to: string): number {
  const [fromMs, toMs] = [parseIsoTime(from), parseIsoTime(to)];
  return fromMs === null || toMs === null
    ? 0
    : Math.max(0, roundToHundredths((toMs - fromMs) / 60_000));
}

export const roundToHundredths = (value: number): number => Math.round(value * 100) / 100;
