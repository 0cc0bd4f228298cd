import type { WalkView } from "../../../core/state.ts";

/** The commit at which a visit of a phase began, as its first step wrote it down. */
export function checkpointOf(walk: WalkView): string | null {
  for (const { facts } of Object.values(walk.last)) {
    const { checkpoint } = facts;
    if (typeof checkpoint === "string") return checkpoint;
  }
  return null;
}
