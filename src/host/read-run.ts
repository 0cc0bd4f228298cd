import type { Entry } from "../contracts/event.ts";
import { openFold } from "../core/fold.ts";
import type { Run, RunView } from "../core/state.ts";
import { JournalFailure } from "../journal/failure.ts";
import { ownerOf } from "../journal/owner.ts";
import { readJournal } from "../journal/read.ts";
import { type Home, runFolder } from "./home.ts";
import { refuse } from "./reply.ts";

/** A run as its journal tells it, read without taking it in hand; with its living owner, if it has one. */
export async function readRun(
  home: Home,
  run: string,
): Promise<{ readonly view: RunView; readonly owner: { readonly pid: number } | null }> {
  await Promise.resolve();
  const folder = runFolder(home, run);
  try {
    const { state } = foldRun(folder);
    return { view: state, owner: ownerOf(folder) };
  } catch (error) {
    return refuseJournal(error, run);
  }
}

function foldRun(folder: string): { state: RunView } {
  let fold = openFold();
  readJournal(folder, {
    from: "snapshot",
    onSnapshot: (state) => {
      fold = openFold(state as Run);
      return true;
    },
    onEntry: (entry: Entry) => fold.apply(entry),
  });
  const { state } = fold;
  if (state.status === "unborn") refuse("journal_damaged", { message: `The journal in ${folder} is empty.` });
  return { state };
}

/** A journal's failure in words; anything else is thrown on. */
export function refuseJournal(error: unknown, run: string): never {
  if (!(error instanceof JournalFailure)) throw error;
  const { trouble } = error;
  if (trouble.kind === "event_too_large") throw error; // large payloads belong in blobs: a bug of ours
  const data =
    trouble.kind === "run_locked"
      ? { pid: trouble.pid }
      : trouble.kind === "journal_damaged"
        ? { damaged_line: trouble.line, damaged_byte: trouble.byte }
        : {};
  return refuse(trouble.kind, { run_id: run, message: error.message, data });
}
