// warnings: signs that a judgement is not one: scores that never differ, and work handed to people that needed none.

import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { parseIsoTime } from "../../../kit/iso-time.ts";
import { phaseAlignment } from "../../../insight/metrics.ts";

const equalScoresMax = 3;
const deferRateMax = 0.5;
const processedMin = 2;

export type Warning = {
  readonly code: "rubber_stamp" | "unnecessary_deferral" | "high_defer_rate" | "integration_failed" | "audit_failed";
  readonly message: string;
};

/** Scores in the order they were given; a phase without one does not break the row. */
export function rubberStamp(scores: readonly (number | null)[]): Warning | null {
  let row = 0;
  let last: number | null = null;
  for (const score of scores.flatMap((value) => value ?? [])) {
    row = score === last ? row + 1 : 1;
    last = score;
    if (row >= equalScoresMax)
      return { code: "rubber_stamp", message: `${row} alignment scores in a row are ${score}: they may have been given without looking.` };
  }
  return null;
}

export type Deferral = { readonly phase: string; readonly autoPassed: number; readonly autoTotal: number };

/** Everything a machine could do was done and passed, and a person is asked anyway. Doing nothing doesn't count. */
export function unnecessaryDeferral({ phase, autoPassed, autoTotal }: Deferral): Warning | null {
  if (autoTotal === 0 || autoPassed < autoTotal) return null;
  return { code: "unnecessary_deferral", message: `Phase ${phase} waits for a person although all ${autoTotal} auto tasks passed.` };
}

/** One of one isn't a rate. */
export function highDeferRate(deferred: number, processed: number): Warning | null {
  if (processed < processedMin || deferred / processed <= deferRateMax) return null;
  const pct = Math.round((deferred / processed) * 100);
  return { code: "high_defer_rate", message: `${deferred} of ${processed} phases (${pct} %) were deferred to a person.` };
}

/** Every warning a state gives rise to. */
export function stateWarnings(state: RoadmapState): readonly Warning[] {
  const ended = Object.values(state.phases)
    .filter(({ completed_at }) => completed_at !== null)
    .toSorted((a, b) => (parseIsoTime(a.completed_at ?? "") ?? 0) - (parseIsoTime(b.completed_at ?? "") ?? 0));
  const deferrals = Object.entries(state.phases).flatMap(([key, { human_verify_justification: why }]) =>
    why === null
      ? []
      : (unnecessaryDeferral({
          phase: key.replace(/^phase_/, ""),
          autoPassed: why.auto_tasks_passed,
          autoTotal: why.auto_tasks_total,
        }) ?? []),
  );
  const { human_deferred_count, total_phases_processed } = state._meta;
  return [
    rubberStamp(ended.map(phaseAlignment)) ?? [],
    deferrals,
    highDeferRate(human_deferred_count, total_phases_processed) ?? [],
  ].flat();
}
