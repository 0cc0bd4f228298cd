// read-entries: reads every event of a run and the hash of the last journal line. Its functions are
// asynchronous although the journal is read at once: whoever calls them already waits for other
// reads.

import type { Entry } from "../../contracts/event.ts";
import { type ReadResult, readJournal } from "../../journal/read.ts";
import { type ProjectPaths, runFolder } from "./project-paths.ts";
import { refuseJournal } from "./read-run.ts";

/**
 * Every event of a run from its first line on, and the hash of the last: with it a caller can
 * detect later changes.
 */
export async function readEntries(
  paths: ProjectPaths,
  run: string,
): Promise<{ readonly entries: readonly Entry[]; readonly head: string }> {
  const entries: Entry[] = [];
  const { prev } = await forEachEntry(paths, run, (entry) => entries.push(entry));
  return { entries, head: prev };
}

/** Calls back with each event and returns where the journal ends now. */
export async function forEachEntry(
  paths: ProjectPaths,
  run: string,
  onEntry: (entry: Entry) => void,
): Promise<ReadResult["end"]> {
  try {
    return readJournal(runFolder(paths, run), { startAt: "start", onEntry }).end;
  } catch (error) {
    return refuseJournal(error, run);
  }
}
