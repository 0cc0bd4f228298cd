// spec: finds the specification of a roadmap, and computes the hash that locks it.

import type { PlanningConfig } from "../../../contracts/roadmap.ts";
import { sha256 } from "../../../project/sha256.ts";

/** Possible paths of the specification; the first that exists counts. */
export function listSpecCandidates(config: PlanningConfig, roadmapPath: string): readonly string[] {
  const configuredPaths = config.project?.spec_paths ?? [];
  const standardPaths = ["REQUIREMENTS.md", "PROJECT.md", "ROADMAP.md"].map(
    (name) => `.planning/${name}`,
  );
  return [
    ...new Set([
      ...configuredPaths.map(withoutDotSlash),
      ...standardPaths,
      withoutDotSlash(roadmapPath),
    ]),
  ];
}

export function chooseSpec(
  candidates: readonly string[],
  exists: (path: string) => boolean,
): string | null {
  return candidates.find(exists) ?? null;
}

const withoutDotSlash = (path: string): string => path.replace(/^(?:\.\/)+/, "");

/** Of the unchanged bytes, so that `sha256sum` gives the same. */
export const hashSpec = (bytes: Uint8Array): string => `sha256:${sha256(bytes)}`;

/** Null if the specification is the locked one. */
export function describeMismatch(
  path: string,
  lockedHash: string,
  currentHash: string,
): string | null {
  if (lockedHash === currentHash) return null;
  return `The specification ${path} changed: it was ${lockedHash} when the run began and is ${currentHash} now.`;
}
