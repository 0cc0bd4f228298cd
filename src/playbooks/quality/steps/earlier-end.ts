// earlier-end: what the log that was there when the run began says of the end of a phase.

import { earlierLogPath } from "../views/run-state-names.ts";
import { readLog } from "../views/run-state-read.ts";
import type { PhaseEnd } from "../views/run-state-volume.ts";
import type { RunView } from "../../../core/state.ts";

/** Null if there was no log, it cannot be read, or the phase had not ended in it. */
export function earlierEnd(state: RunView, phase: string, readBlob: (hash: string) => Buffer | null): PhaseEnd | null {
  const hash = state.drafted.documents?.find(({ path }) => path === earlierLogPath)?.hash;
  const text = hash === undefined ? null : (readBlob(hash)?.toString("utf8") ?? null);
  return text === null ? null : (readLog(text).ended.get(Number(phase)) ?? null);
}
