// roadmap-derive: rebuilds the text of state.json from a run's journal.

import { fold } from "../../../core/fold.ts";
import { openRoadmapState } from "../views/roadmap-state.ts";
import { readBlob } from "../../../journal/blobs.ts";
import { readJournal } from "../../../journal/read.ts";
import type { Entry } from "../../../contracts/event.ts";
import { type ProjectPaths, isBegun, runFolder } from "../../../project/runs/project-paths.ts";
import { openClaimReader } from "../../../project/runs/run-blobs.ts";
import { readEarlierState } from "./earlier-state.ts";

/** Null if the run has no journal, or it cannot be read. */
export function deriveStateText(paths: ProjectPaths, run: string): string | null {
  if (!isBegun(paths, run)) return null;
  const folder = runFolder(paths, run);
  const entries: Entry[] = [];
  const readBlobOrNull = (hash: string): Buffer | null => {
    try {
      return readBlob(folder, hash);
    } catch {
      return null; // a missing or damaged blob counts as unknown
    }
  };
  try {
    readJournal(folder, { from: "start", onEntry: (entry) => entries.push(entry) });
  } catch {
    return null; // opening that run reports what is wrong with its journal
  }
  const state = fold(entries);
  if (state.status === "unborn") return null;
  const projection = openRoadmapState({
    readClaim: openClaimReader(readBlobOrNull),
    earlierState: readEarlierState(state.drafted, readBlobOrNull),
  });
  for (const entry of entries) projection.apply(entry);
  return projection.renderText(state);
}
