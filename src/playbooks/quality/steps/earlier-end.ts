// earlier-end: finds the end of a phase in the log that existed when the run was drafted.

import { earlierLogPath } from "../views/quality-names.ts";
import { parseLog } from "../views/parse-quality-log.ts";
import type { PhaseEnd } from "../views/quality-log-volume.ts";
import type { RunView } from "../../../core/state.ts";

/** Null if there was no log, it cannot be read, or it has no end of this phase. */
export function findEarlierEnd(
  state: RunView,
  phase: string,
  readBlob: (hash: string) => Buffer | null,
): PhaseEnd | null {
  const hash = state.drafted.documents?.find(({ path }) => path === earlierLogPath)?.hash;
  const text = hash === undefined ? null : (readBlob(hash)?.toString("utf8") ?? null);
  return text === null ? null : (parseLog(text).endsByPhase.get(Number(phase)) ?? null);
}
