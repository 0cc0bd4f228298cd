// derive-state-text: rebuilds the text of state.json from a run's journal.

import { fold } from "../../../core/fold.ts";
import { openRoadmapState } from "../views/roadmap-state.ts";
import { openBlobReader, readEntries } from "../../contract/run-journal.ts";
import type { Entry } from "../../../contracts/event.ts";
import { type ProjectPaths, isBegun, runFolder } from "../../../project/runs/project-paths.ts";
import { openClaimReader } from "../../../project/runs/run-blobs.ts";
import { readEarlierState } from "./earlier-state.ts";

/** Null if the run has no journal, or it cannot be read. */
export function deriveStateText(paths: ProjectPaths, runId: string): string | null {
  if (!isBegun(paths, runId)) return null;
  const folder = runFolder(paths, runId);
  const entries = readEntriesOrNull(folder);
  if (entries === null) return null;
  const run = fold(entries);
  if (run.status === "unborn") return null;
  const readBlob = openBlobReader(folder);
  const earlierState = readEarlierState(run.drafted, readBlob);
  const projection = openRoadmapState({ readClaim: openClaimReader(readBlob), earlierState });
  for (const entry of entries) projection.apply(entry);

  return projection.renderText(run);
}

function readEntriesOrNull(folder: string): readonly Entry[] | null {
  try {
    return readEntries(folder);
  } catch {
    return null; // opening that run reports what is wrong with its journal
  }
}
