// spec: finds the specification of a roadmap, and computes the hash that locks it.

import { createHash } from "node:crypto";
import type { PlanningConfig } from "../../../contracts/roadmap.ts";

/** Possible paths of the specification; the first that exists counts. */
export function specCandidates(config: PlanningConfig, roadmapPath: string): readonly string[] {
  const standard = ["REQUIREMENTS.md", "PROJECT.md", "ROADMAP.md"].map((name) => `.planning/${name}`);
  return [...new Set([...(config.project?.spec_paths ?? []).map(withoutDotSlash), ...standard, withoutDotSlash(roadmapPath)])];
}

export function chooseSpec(candidates: readonly string[], exists: (path: string) => boolean): string | null {
  return candidates.find(exists) ?? null;
}

const withoutDotSlash = (path: string): string => path.replace(/^(?:\.\/)+/, "");

/** Of the unchanged bytes, so that `sha256sum` gives the same. */
export const specHash = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Null if the specification is the locked one. */
export function describeMismatch(path: string, locked: string, current: string): string | null {
  if (locked === current) return null;
  return `The specification ${path} changed: it was ${locked} when the run began and is ${current} now.`;
}
