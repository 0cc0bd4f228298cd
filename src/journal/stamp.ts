// stamp: stamps journal lines with epoch, time and active time, which never runs backwards.
// Invariants J1 and on: journal/journal.ts.

import type { JournalOptions, Position } from "./journal.ts";
import type { Stamp } from "./line.ts";

/**
 * When and by which owner: the epoch is one more than any line before (J3), and active time
 * continues from the journal's.
 */
export function createStamp(
  options: Pick<JournalOptions, "now" | "activeMs">,
  position: Readonly<Position>,
): () => Stamp {
  const epoch = position.epoch + 1;
  const openedMs = options.activeMs();
  let activeMs = position.activeMs;

  return () => {
    // A clock that goes back must not take the journal's time with it.
    activeMs = Math.max(activeMs, position.activeMs + Math.floor(options.activeMs() - openedMs));
    return { epoch, ts: options.now(), activeMs };
  };
}
