// recorded: the documents a run goes by, as they were recorded with it. What is in a folder today does not count here.

import type { PlanningConfig, RoadmapPhase } from "../../../contracts/roadmap.ts";
import type { RunView } from "../../../core/state.ts";
import { planningConfigPath, readPlanningConfig } from "../documents/planning-config.ts";
import { readRoadmap } from "../documents/roadmap.ts";
import type { Finding } from "../../../kit/finding.ts";
import type { RoadmapParts } from "./parts.ts";

type Parts = Pick<RoadmapParts, "readBlob">;

/** The text of a recorded document; null if none was recorded under this path, or its blob is gone. */
export function recordedText({ readBlob }: Parts, state: RunView, path: string): string | null {
  const hash = (state.drafted.documents ?? []).find((document) => document.path === path)?.hash;
  const bytes = hash === undefined ? null : readBlob(hash);
  return bytes === null ? null : bytes.toString("utf8").replace(/^\ufeff/, "");
}

export function textOption(state: RunView, name: string): string | null {
  const value = state.drafted.options[name];
  return typeof value === "string" && value !== "" ? value : null;
}

/** An option's default applies if it is not set. */
export const isOptionOn = (state: RunView, name: string): boolean =>
  (state.drafted.options[name] ?? state.drafted.flow.options?.[name]?.default) === true;

const roadmapPathDefault = ".planning/ROADMAP.md";
export const getRoadmapPath = (state: RunView): string => textOption(state, "roadmap_path") ?? roadmapPathDefault;

export type RoadmapRecorded = { readonly path: string; readonly phases: readonly RoadmapPhase[]; readonly findings: readonly Finding[] };

/** A run has one roadmap, and every phase needs it: it is read once. */
const read = new WeakMap<object, { readonly hash: string; readonly roadmap: RoadmapRecorded }>();

/** The recorded roadmap; null if the run has none. */
export function partsRoadmap(parts: Parts, state: RunView): RoadmapRecorded | null {
  const path = getRoadmapPath(state);
  const hash = (state.drafted.documents ?? []).find((document) => document.path === path)?.hash;
  const known = read.get(parts.readBlob);
  if (hash !== undefined && known?.hash === hash) return known.roadmap;
  const text = recordedText(parts, state, path);
  if (hash === undefined || text === null) return null;
  const roadmap = { path, ...readRoadmap(path, text) };
  read.set(parts.readBlob, { hash, roadmap });
  return roadmap;
}

export function findPhase(parts: Parts, state: RunView, id: string): RoadmapPhase | null {
  return partsRoadmap(parts, state)?.phases.find((phase) => phase.id === id) ?? null;
}

/** Empty if no planning config was recorded. */
export function partsConfig(parts: Parts, state: RunView): PlanningConfig {
  const text = recordedText(parts, state, planningConfigPath);
  if (text === null) return {};
  const found = readPlanningConfig(planningConfigPath, text);
  return "config" in found ? found.config : {};
}
