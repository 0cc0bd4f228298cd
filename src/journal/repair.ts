// repair: cuts off a torn last line of a journal, which a crash left half written. Whether the end
// of a file is torn or damaged is judged in scan-lines.ts.
// Invariants J1 and on: journal/journal.ts.

import type { Disk } from "./disk.ts";
import type { OpenedJournal } from "./journal.ts";
import type { ScannedLines } from "./scan-lines.ts";

/** The cut for the journal to tell of, or null: the line was never acknowledged (J4). */
export function truncateTorn(
  disk: Disk,
  fd: number,
  { end, torn }: ScannedLines,
): OpenedJournal["repaired"] {
  if (torn === null) return null;
  disk.ftruncate(fd, end.byte);
  return { cut_bytes: torn.bytes, at_byte: end.byte };
}
