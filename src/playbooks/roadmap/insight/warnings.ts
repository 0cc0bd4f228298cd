// warnings: detects judgements that may be worthless: identical scores in a row, and deferrals to people without need.

import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { phaseAlignment } from "../../../insight/metrics.ts";

const equalScoresMax = 3;
const deferRateMax = 0.5;
const processedPhasesMin = 2;

export type Warning = {
  readonly code: "rubber_stamp" | "unnecessary_deferral" | "high_defer_rate" | "integration_failed" | "audit_failed";
  readonly message: string;
};

/** `scores` in the order they were given; a missing score does not end a streak. */
export function findRubberStamp(scores: readonly (number | null)[]): Warning | null {
  let streak = 0;
  let last: number | null = null;
  for (const score of scores.flatMap((value) => value ?? [])) {
    streak = score === last ? streak + 1 : 1;
    last = score;
    if (streak >= equalScoresMax)
      return {
        code: "rubber_stamp",
        message: `${streak} alignment scores in a row are ${score}: they may have been given without looking.`,
      };
  }
  return null;
}

export type Deferral = { readonly phase: string; readonly autoPassed: number; readonly autoTotal: number };

/** All automatic tasks passed, and a person is asked anyway. A phase without automatic tasks does not count. */
export function findUnnecessaryDeferral({ phase, autoPassed, autoTotal }: Deferral): Warning | null {
  if (autoTotal === 0 || autoPassed < autoTotal) return null;
  return { code: "unnecessary_deferral", message: `Phase ${phase} waits for a person although all ${autoTotal} auto tasks passed.` };
}

/** Needs at least two processed phases to be a rate. */
export function findHighDeferRate(deferred: number, processed: number): Warning | null {
  if (processed < processedPhasesMin || deferred / processed <= deferRateMax) return null;
  const pct = Math.round((deferred / processed) * 100);
  return { code: "high_defer_rate", message: `${deferred} of ${processed} phases (${pct} %) were deferred to a person.` };
}

export function findStateWarnings(state: RoadmapState): readonly Warning[] {
  const endedPhases = Object.values(state.phases)
    .filter(({ completed_at }) => completed_at !== null)
    .toSorted((a, b) => (parseIsoTime(a.completed_at ?? "") ?? 0) - (parseIsoTime(b.completed_at ?? "") ?? 0));
  const deferrals = Object.entries(state.phases).flatMap(([key, { human_verify_justification: justification }]) =>
    justification === null
      ? []
      : (findUnnecessaryDeferral({
          phase: key.replace(/^phase_/, ""),
          autoPassed: justification.auto_tasks_passed,
          autoTotal: justification.auto_tasks_total,
        }) ?? []),
  );
  const { human_deferred_count, total_phases_processed } = state._meta;
  return [
    findRubberStamp(endedPhases.map(phaseAlignment)) ?? [],
    deferrals,
    findHighDeferRate(human_deferred_count, total_phases_processed) ?? [],
  ].flat();
}
