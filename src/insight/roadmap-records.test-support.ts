// roadmap-records: makes phases and states of the published roadmap format for tests, from its
// example.

import type { PhaseRecord, RoadmapState } from "../contracts/roadmap-state.ts";
import { seedState } from "../contracts/roadmap.test-support.ts";

const base = seedState.phases["phase_6.1"] as PhaseRecord;
export const phase = (changes: Partial<PhaseRecord>, score: number | null = 8): PhaseRecord => ({
  ...base,
  steps: { judge: { alignment: score, recommendation: "proceed" } },
  ...changes,
});
export const stateOf = (
  phases: Readonly<Record<string, PhaseRecord>>,
  event_log: RoadmapState["event_log"] = [],
): RoadmapState => ({
  ...(seedState as RoadmapState),
  phases: Object.fromEntries(Object.entries(phases).map(([id, record]) => [`phase_${id}`, record])),
  event_log,
});
