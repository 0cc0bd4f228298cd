import type { Entry } from "../contracts/event.ts";
import { readJournal } from "../journal/read.ts";
import { type Home, runFolder } from "./home.ts";
import { refuseJournal } from "./read-run.ts";

/** Every event of a run from its first line on. */
export async function entriesOf(home: Home, run: string): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  await eachEntry(home, run, (entry) => entries.push(entry));
  return entries;
}

export async function eachEntry(home: Home, run: string, onEntry: (entry: Entry) => void): Promise<void> {
  await Promise.resolve();
  try {
    readJournal(runFolder(home, run), { from: "start", onEntry });
  } catch (error) {
    refuseJournal(error, run);
  }
}
