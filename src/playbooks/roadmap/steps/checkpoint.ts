// checkpoint: finds the commit at which the current visit of a phase began.

import type { CursorView } from "../../../core/state.ts";

/** Null if no step of the visit recorded one. */
export function findCheckpoint(cursor: CursorView): string | null {
  for (const { facts } of Object.values(cursor.last)) {
    const { checkpoint } = facts;
    if (typeof checkpoint === "string") return checkpoint;
  }

  return null;
}
