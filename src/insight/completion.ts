// completion: computes the data of the completion report: how far the whole roadmap has come.
//
// Invariant:
//   C1. A phase is completed, failed, deferred or not reached, each only once; what an earlier run
//       completed stays completed. Such a phase is also among the skipped ones, with that reason.

import type { CompletionReport, SkippedPhase } from "../contracts/roadmap-reports.ts";
import type { RoadmapState } from "../contracts/roadmap-state.ts";
import { hasSucceeded } from "./metrics.ts";

export type RoadmapPhase = { readonly id: string; readonly name: string };
export type CompletionInput = {
  readonly state: RoadmapState;
  /** Every phase of the roadmap, in its order. */
  readonly phases: readonly RoadmapPhase[];
  /** When phases were completed in earlier runs, by id. */
  readonly earlier?: Readonly<Record<string, string>>;
  readonly at: string;
};

export function buildCompletionReport({
  state,
  phases,
  earlier = {},
  at,
}: CompletionInput): CompletionReport {
  const findRecord = (id: string) =>
    Object.hasOwn(state.phases, `phase_${id}`) ? state.phases[`phase_${id}`] : undefined;
  const attempted = phases.filter(({ id }) => (findRecord(id)?.started_at ?? null) !== null);
  const withStatus = (status: string): readonly RoadmapPhase[] =>
    attempted.filter(({ id }) => findRecord(id)?.status === status);

  const completed = phases.filter(
    ({ id }) =>
      findRecord(id)?.status === "completed" ||
      (findRecord(id)?.started_at == null && Object.hasOwn(earlier, id)),
  ); // C1

  const failed = withStatus("failed");
  const skipped = listSkippedPhases(state, phases, earlier);
  return {
    run_id: state._meta.run_id,
    timestamp: at,
    mode: "--complete",
    total_phases_in_roadmap: phases.length,
    completed_phases_total: completed.length,
    completion_percentage:
      phases.length === 0 ? 0 : computePercentage(completed.length, phases.length),
    phases_attempted: attempted.length,
    phases_succeeded: attempted.filter(({ id }) => isSuccess(findRecord(id))).length,
    phases_failed: failed.length,
    phases_skipped: [...skipped],
    phases_deferred: withStatus("needs_human_verification").length,
    dependency_gaps: failed.map(({ id, name }) => ({
      failed_phase_id: id,
      failed_phase_name: name,
      failure_reason: describeFailure(state, id),
      blocked_phases: skipped.flatMap(({ blocking_phase, phase_id, phase_name }) =>
        blocking_phase === id ? [{ phase_id, phase_name }] : [],
      ),
    })),
  };
}

const isSuccess = (record: RoadmapState["phases"][string] | undefined): boolean =>
  record !== undefined && hasSucceeded(record);

/** To one decimal, and never 100 while something is missing. */
export function computePercentage(part: number, whole: number): number {
  const exact = Math.round((part / whole) * 1000) / 10;
  return part < whole ? Math.min(99.9, exact) : exact;
}

const blockedReason = /^blocked_by_phase_(.+)$/;

/** Phases that were skipped and have not run since, each with the reason. */
export function listSkippedPhases(
  state: Pick<RoadmapState, "event_log">,
  phases: readonly RoadmapPhase[],
  earlier: Readonly<Record<string, string>> = {},
): readonly SkippedPhase[] {
  const reasons = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { event, details, phase } of state.event_log) {
    if (event === "phase_skipped" && typeof details["phase_id"] === "string") {
      reasons.set(details["phase_id"], details);
    }

    if (event === "phase_started" && phase !== undefined) reasons.delete(phase);
  }

  return phases.flatMap(({ id, name }) => {
    const details = reasons.get(id);
    if (details === undefined) return [];
    const reason = String(details["reason"]);
    const blockingPhase = blockedReason.exec(reason)?.[1];
    const recordedTime = details["original_run_timestamp"];
    const earlierTime = Object.hasOwn(earlier, id) ? earlier[id] : undefined;
    const originalTime = typeof recordedTime === "string" ? recordedTime : earlierTime;

    return [
      {
        phase_id: id,
        phase_name: name,
        reason,
        ...(blockingPhase === undefined ? {} : { blocking_phase: blockingPhase }),
        ...(blockingPhase !== undefined || originalTime === undefined
          ? {}
          : { original_run_timestamp: originalTime }),
      },
    ];
  });
}

function describeFailure(state: RoadmapState, id: string): string {
  const last = state.event_log.findLast(
    ({ event, phase }) => event === "phase_failed" && phase === id,
  );

  const { category: rawCategory, description, reason } = last?.details ?? {};
  const [category, why] = [rawCategory, description ?? reason].map((value) =>
    typeof value === "string" ? value : "",
  );
  const parts = [...new Set([category, why])].filter((part) => part !== undefined && part !== "");

  return parts.length === 0 ? "unknown" : parts.join(": ");
}
