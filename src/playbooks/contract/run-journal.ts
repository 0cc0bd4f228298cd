// run-journal: reads a run's whole journal and its blobs from the run folder.

import type { Entry } from "../../contracts/event.ts";
import { readBlob } from "../../journal/blobs.ts";
import { readJournal } from "../../journal/read.ts";

/** A run's whole journal, read from its folder. */
export function readEntries(folder: string): readonly Entry[] {
  const entries: Entry[] = [];
  readJournal(folder, { startAt: "start", onEntry: (entry) => entries.push(entry) });
  return entries;
}

/** Reads the blobs that a run's journal names by hash. */
export function openBlobReader(folder: string): (hash: string) => Buffer | null {
  return (hash) => {
    try {
      return readBlob(folder, hash);
    } catch {
      return null; // absent, deleted or damaged: `verify` reports which
    }
  };
}
