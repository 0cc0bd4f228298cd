// roadmap-carried: what a run has of another tool's that it continues with, as state.json shows both as one: earlier events first, records of
// phases added to, counters summed.

import type { RoadmapEvent } from "../../../contracts/roadmap-events.ts";
import type { PhaseRecord, RoadmapState, StepRecords } from "../../../contracts/roadmap-state.ts";
import type { RunView } from "../../../core/state.ts";

const eventsMax = 10_000;

/** The newest of the earlier events, bounded: the file is written whole at every step. */
export const eventsBefore = (earlier: RoadmapState | null | undefined): readonly RoadmapEvent[] =>
  ((earlier?.event_log ?? []) as readonly RoadmapEvent[]).slice(-eventsMax);

/** Every phase that either of them knows, in the order of the earlier one, then ours. */
export function mergedPhases(
  run: RunView,
  earlier: RoadmapState,
  ours: Readonly<Record<string, PhaseRecord>>,
): Record<string, PhaseRecord> {
  const merged: Record<string, PhaseRecord> = { ...earlier.phases };
  for (const [key, record] of Object.entries(ours)) {
    const before = Object.hasOwn(earlier.phases, key) ? earlier.phases[key] : undefined;
    merged[key] = before === undefined ? record : mergedRecord(run, key.replace(/^phase_/, ""), before, record);
  }
  return merged;
}

function mergedRecord(run: RunView, id: string, before: PhaseRecord, ours: PhaseRecord): PhaseRecord {
  if (ours.started_at === null) return before; // nothing has been done for it since
  const isInside = run.drafted.resumes?.phases.find((phase) => phase.id === id)?.step !== undefined;
  return {
    ...ours,
    phase_type: before.phase_type === "mixed" ? ours.phase_type : before.phase_type,
    started_at: before.started_at ?? ours.started_at,
    steps: isInside ? mergedSteps(before.steps, ours.steps) : ours.steps,
    debug_attempts: before.debug_attempts + ours.debug_attempts,
    replan_attempts: before.replan_attempts + ours.replan_attempts,
    estimated_tokens: before.estimated_tokens > 0 ? before.estimated_tokens : ours.estimated_tokens,
    human_verify_justification: ours.human_verify_justification ?? before.human_verify_justification,
    human_verdict: ours.human_verdict ?? before.human_verdict,
  };
}

function mergedSteps(before: StepRecords, ours: StepRecords): StepRecords {
  if (ours.execute === undefined || before.execute === undefined) return { ...before, ...ours };
  return { ...before, ...ours, execute: { ...ours.execute, tasks: { ...before.execute.tasks, ...ours.execute.tasks } } };
}

/** How many more phases were dealt with since, besides those the earlier run had counted. */
export function newlyAmong(ids: Iterable<string>, earlier: RoadmapState, isCounted: (record: PhaseRecord) => boolean): number {
  return [...ids].filter((id) => {
    const before = Object.hasOwn(earlier.phases, `phase_${id}`) ? earlier.phases[`phase_${id}`] : undefined;
    return before === undefined || !isCounted(before);
  }).length;
}

export const wasProcessed = ({ status }: PhaseRecord): boolean =>
  status === "completed" || status === "failed" || status === "needs_human_verification";
export const wasDeferred = ({ status, human_verify_justification: why }: PhaseRecord): boolean =>
  status === "needs_human_verification" || why !== null;
