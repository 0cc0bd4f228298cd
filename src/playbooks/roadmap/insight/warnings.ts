// warnings: detects judgements that may be worthless: identical scores in a row, and deferrals to
// people without need.

import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { getAlignment } from "../../../insight/metrics.ts";

/** So many equal scores in a row are suspicious. */
const equalScoresMin = 3;
const deferRateMax = 0.5;
const processedPhasesMin = 2;

export type RoadmapWarning = {
  readonly code:
    | "rubber_stamp"
    | "unnecessary_deferral"
    | "high_defer_rate"
    | "integration_failed"
    | "audit_failed";
  readonly message: string;
};

/** `scores` in the order they were given; a missing score does not end a streak. */
export function findRubberStamp(scores: readonly (number | null)[]): RoadmapWarning | null {
  let streak = 0;
  let previousScore: number | null = null;

  for (const score of scores.filter((value) => value !== null)) {
    streak = score === previousScore ? streak + 1 : 1;
    previousScore = score;

    if (streak >= equalScoresMin) {
      return {
        code: "rubber_stamp",
        message: `${streak} alignment scores in a row are ${score}: they may have been given without looking.`,
      };
    }
  }

  return null;
}

export type Deferral = {
  readonly phase: string;
  readonly autoPassed: number;
  readonly autoTotal: number;
};

/**
 * All automatic tasks passed, and a person is asked anyway. A phase without automatic tasks does
 * not count.
 */
export function findUnnecessaryDeferral({
  phase,
  autoPassed,
  autoTotal,
}: Deferral): RoadmapWarning | null {
  if (autoTotal === 0 || autoPassed < autoTotal) return null;
  return {
    code: "unnecessary_deferral",
    message: `Phase ${phase} waits for a person although all ${autoTotal} auto tasks passed.`,
  };
}

/** Needs at least two processed phases to be a rate. */
export function findHighDeferRate(deferred: number, processed: number): RoadmapWarning | null {
  if (processed < processedPhasesMin || deferred / processed <= deferRateMax) return null;
  const percentage = Math.round((deferred / processed) * 100);
  return {
    code: "high_defer_rate",
    message: `${deferred} of ${processed} phases (${percentage} %) were deferred to a person.`,
  };
}

/** Every warning about the phases of a run; those about its end are made in roadmap-wrap-up.ts. */
export function findStateWarnings({ phases, _meta }: RoadmapState): readonly RoadmapWarning[] {
  const completionMs = ({ completed_at }: RoadmapState["phases"][string]): number =>
    parseIsoTime(completed_at ?? "") ?? 0;
  const endedPhases = Object.values(phases)
    .filter(({ completed_at }) => completed_at !== null)
    .toSorted((a, b) => completionMs(a) - completionMs(b));

  const deferralWarnings = Object.entries(phases).map(
    ([key, { human_verify_justification: justification }]) => {
      if (justification === null) return null;
      const { auto_tasks_passed: autoPassed, auto_tasks_total: autoTotal } = justification;
      return findUnnecessaryDeferral({ phase: key.replace(/^phase_/, ""), autoPassed, autoTotal });
    },
  );
  const warnings = [
    findRubberStamp(endedPhases.map(getAlignment)),
    ...deferralWarnings,
    findHighDeferRate(_meta.human_deferred_count, _meta.total_phases_processed),
  ];
  return warnings.filter((warning) => warning !== null);
}
