// merge-earlier-state: merges the state of another tool's run into that of the run that continues
// it: earlier events first, records merged, counters summed.

import type { RoadmapEvent } from "../../../contracts/roadmap-events.ts";
import type { PhaseRecord, RoadmapState, StepRecords } from "../../../contracts/roadmap-state.ts";
import type { RunView } from "../../../core/state.ts";

const eventsMax = 10_000;

/** The newest of the earlier events, limited because the file is rewritten at every step. */
export const selectEarlierEvents = (
  earlier: RoadmapState | null | undefined,
): readonly RoadmapEvent[] =>
  ((earlier?.event_log ?? []) as readonly RoadmapEvent[]).slice(-eventsMax);

/** The phases of both runs: in the order of the earlier one, then new ones. */
export function mergePhases(
  run: RunView,
  earlier: RoadmapState,
  current: Readonly<Record<string, PhaseRecord>>,
): Record<string, PhaseRecord> {
  const merged: Record<string, PhaseRecord> = { ...earlier.phases };
  for (const [key, record] of Object.entries(current)) {
    const earlierRecord = Object.hasOwn(earlier.phases, key) ? earlier.phases[key] : undefined;
    const resumedPhase = run.drafted.resumes?.phases.find(({ id }) => `phase_${id}` === key);
    const hasResumedStep = resumedPhase?.step !== undefined;
    merged[key] =
      earlierRecord === undefined ? record : mergeRecord(earlierRecord, record, hasResumedStep);
  }

  return merged;
}

/**
 * `hasResumedStep`: this run continued the phase at one of its steps, so that the earlier steps
 * still count.
 */
function mergeRecord(
  earlier: PhaseRecord,
  current: PhaseRecord,
  hasResumedStep: boolean,
): PhaseRecord {
  if (current.started_at === null) return earlier; // this run has not worked on it
  return {
    ...current,
    phase_type: earlier.phase_type === "mixed" ? current.phase_type : earlier.phase_type,
    started_at: earlier.started_at ?? current.started_at,
    steps: hasResumedStep ? mergeSteps(earlier.steps, current.steps) : current.steps,
    debug_attempts: earlier.debug_attempts + current.debug_attempts,
    replan_attempts: earlier.replan_attempts + current.replan_attempts,
    estimated_tokens:
      earlier.estimated_tokens > 0 ? earlier.estimated_tokens : current.estimated_tokens,
    human_verify_justification:
      current.human_verify_justification ?? earlier.human_verify_justification,
    human_verdict: current.human_verdict ?? earlier.human_verdict,
  };
}

function mergeSteps(earlier: StepRecords, current: StepRecords): StepRecords {
  const steps = { ...earlier, ...current };
  if (current.execute === undefined || earlier.execute === undefined) return steps;
  return {
    ...steps,
    execute: { ...current.execute, tasks: { ...earlier.execute.tasks, ...current.execute.tasks } },
  };
}

/** How many of these phases the earlier run had not counted yet. */
export function countNewlyProcessed(
  ids: Iterable<string>,
  earlier: RoadmapState,
  isCounted: (record: PhaseRecord) => boolean,
): number {
  return [...ids].filter((id) => {
    const earlierRecord = Object.hasOwn(earlier.phases, `phase_${id}`)
      ? earlier.phases[`phase_${id}`]
      : undefined;
    return earlierRecord === undefined || !isCounted(earlierRecord);
  }).length;
}

export const wasProcessed = ({ status }: PhaseRecord): boolean =>
  status === "completed" || status === "failed" || status === "needs_human_verification";
export const wasDeferred = ({
  status,
  human_verify_justification: justification,
}: PhaseRecord): boolean => status === "needs_human_verification" || justification !== null;
