// roadmap-derive: rebuilds the text of state.json from a run's journal.

import { fold } from "../../../core/fold.ts";
import { openRoadmapState } from "../views/roadmap-state.ts";
import { readBlob } from "../../../journal/blobs.ts";
import { readJournal } from "../../../journal/read.ts";
import type { Entry } from "../../../contracts/event.ts";
import { type ProjectPaths, isBegun, runFolder } from "../../../project/runs/project-paths.ts";
import { claimsFrom } from "../../../project/runs/run-blobs.ts";
import { carriedBy } from "./carried.ts";

/** The text of state.json from the journal of a run of this project; null if there is no such journal, or it cannot be read. */
export function stateOfRun(paths: ProjectPaths, run: string): string | null {
  if (!isBegun(paths, run)) return null;
  const folder = runFolder(paths, run);
  const entries: Entry[] = [];
  const blob = (hash: string): Buffer | null => {
    try {
      return readBlob(folder, hash);
    } catch {
      return null; // what is gone or damaged is not known
    }
  };
  try {
    readJournal(folder, { from: "start", onEntry: (entry) => entries.push(entry) });
  } catch {
    return null; // opening that run reports what is wrong with its journal
  }
  const state = fold(entries);
  if (state.status === "unborn") return null;
  const book = openRoadmapState({ claimOf: claimsFrom(blob), carried: carriedBy(state.drafted, blob) });
  for (const entry of entries) book.apply(entry);
  return book.textOf(state);
}
