// recorded-documents: reads the documents that were recorded when the run was drafted, not those in
// the checkout now.

import { roadmapFile } from "../../../contracts/roadmap-places.ts";
import type { PlanningConfig, RoadmapPhase } from "../../../contracts/roadmap.ts";
import type { RunView } from "../../../core/state.ts";
import { planningConfigPath, parsePlanningConfig } from "../documents/planning-config.ts";
import { parseRoadmap } from "../documents/roadmap.ts";
import type { Finding } from "../../../kit/finding.ts";
import type { RoadmapParts } from "./roadmap-parts.ts";

type Parts = Pick<RoadmapParts, "readBlob">;

/**
 * The text of a recorded document; null if none was recorded under this path, or its blob is gone.
 */
export function readRecorded({ readBlob }: Parts, state: RunView, path: string): string | null {
  const hash = (state.drafted.documents ?? []).find((document) => document.path === path)?.hash;
  const bytes = hash === undefined ? null : readBlob(hash);
  return bytes === null ? null : bytes.toString("utf8").replace(/^\ufeff/, "");
}

/** An option of the run; null if it is not set, empty or not a text. */
export function readTextOption(state: RunView, name: string): string | null {
  const value = state.drafted.options[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** An option's default applies if it is not set. */
export const isOptionOn = (state: RunView, name: string): boolean =>
  (state.drafted.options[name] ?? state.drafted.flow.options?.[name]?.default) === true;

export const getRoadmapPath = (state: RunView): string =>
  readTextOption(state, "roadmap_path") ?? roadmapFile;

export type RecordedRoadmap = {
  readonly path: string;
  readonly phases: readonly RoadmapPhase[];
  readonly findings: readonly Finding[];
};

/**
 * Parsed roadmaps by the run's blob reader: every phase needs the roadmap, and parsing it once is
 * enough.
 */
const parsedRoadmaps = new WeakMap<
  object,
  { readonly hash: string; readonly roadmap: RecordedRoadmap }
>();

/** The recorded roadmap; null if the run has none. */
export function loadRecordedRoadmap(parts: Parts, state: RunView): RecordedRoadmap | null {
  const path = getRoadmapPath(state);
  const hash = (state.drafted.documents ?? []).find((document) => document.path === path)?.hash;
  const cached = parsedRoadmaps.get(parts.readBlob);
  if (hash !== undefined && cached?.hash === hash) return cached.roadmap;
  const text = readRecorded(parts, state, path);
  if (hash === undefined || text === null) return null;
  const roadmap = { path, ...parseRoadmap(path, text) };
  parsedRoadmaps.set(parts.readBlob, { hash, roadmap });

  return roadmap;
}

export function findPhase(parts: Parts, state: RunView, id: string): RoadmapPhase | null {
  return loadRecordedRoadmap(parts, state)?.phases.find((phase) => phase.id === id) ?? null;
}

/** Empty if no valid planning config was recorded. */
export function loadPlanningConfig(parts: Parts, state: RunView): PlanningConfig {
  const text = readRecorded(parts, state, planningConfigPath);
  if (text === null) return {};
  const parsed = parsePlanningConfig(planningConfigPath, text);

  return "config" in parsed ? parsed.config : {};
}
