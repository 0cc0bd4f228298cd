// checkpoint: finds the commit at which the current visit of a phase began.

import type { CursorView } from "../../../core/state.ts";

/** The commit at which a visit of a phase began, as its first step wrote it down. */
export function cursorCheckpoint(cursor: CursorView): string | null {
  for (const { facts } of Object.values(cursor.last)) {
    const { checkpoint } = facts;
    if (typeof checkpoint === "string") return checkpoint;
  }
  return null;
}
