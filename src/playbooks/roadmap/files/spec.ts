// spec: which document is the specification, and the hash that locks it.

import { createHash } from "node:crypto";
import type { PlanningConfig } from "../../../contracts/roadmap.ts";

/** Where a specification is looked for, relative to the project, the first that is there wins. */
export function specCandidates(config: PlanningConfig, roadmapPath: string): readonly string[] {
  const standard = ["REQUIREMENTS.md", "PROJECT.md", "ROADMAP.md"].map((name) => `.planning/${name}`);
  return [...new Set([...(config.project?.spec_paths ?? []).map(tidied), ...standard, tidied(roadmapPath)])];
}

/** The first candidate that is there; null if none is. */
export function chosenSpec(candidates: readonly string[], isThere: (path: string) => boolean): string | null {
  return candidates.find(isThere) ?? null;
}

const tidied = (path: string): string => path.replace(/^(?:\.\/)+/, "");

/** Over the bytes as they lie, so that `sha256sum` says the same. */
export const specHash = (bytes: Uint8Array): string => `sha256:${createHash("sha256").update(bytes).digest("hex")}`;

/** Null if the specification is the locked one. */
export function specMismatch(path: string, locked: string, now: string): string | null {
  if (locked === now) return null;
  return `The specification ${path} changed: it was ${locked} when the run began and is ${now} now.`;
}
