// roadmap-log-event: an event of `.autopilot/state.json` before it has its time and phase, and how
// its step is named.
// Invariants G1 and on: playbooks/roadmap/views/roadmap-log.ts.

import type { RoadmapEventName } from "../../../contracts/roadmap-events.ts";
import { toPipelineName } from "./roadmap-steps.ts";

export type Details = Readonly<Record<string, unknown>>;

/**
 * Without `timestamp` and `phase`: roadmap-log.ts adds those of the entry it is translated from.
 */
export type UntimedRoadmapEvent = {
  readonly event: RoadmapEventName;
  readonly details?: Details;
  readonly step?: string;
};

/** The step by its name in the pipeline; our own name, if it differs, goes into the details. G3 */
export function toStepFields(
  step: string | undefined,
  details: Details,
): { readonly step?: string; readonly details: Details } {
  if (step === undefined) return { details };
  const name = toPipelineName(step);
  return { step: name, details: name === step ? details : { ...details, step } };
}
