// read-run: reads a run's state from its journal without locking it, and finds the process that
// owns it.

import type { Entry } from "../../contracts/event.ts";
import { openFold } from "../../core/fold.ts";
import type { Run, RunView } from "../../core/state.ts";
import { JournalFailure } from "../../journal/journal-failure.ts";
import { findOwner } from "../../journal/owner.ts";
import { readJournal } from "../../journal/read.ts";
import { type ProjectPaths, runFolder } from "./project-paths.ts";
import { Refusal, refuse } from "../respond.ts";
import { runBranchName } from "../../contracts/run-branch.ts";

/**
 * Reads a run's state without locking it, and finds its living owner, if it has one. Refuses a
 * journal that cannot be read.
 */
export async function readRun(
  paths: ProjectPaths,
  run: string,
): Promise<{ readonly view: RunView; readonly owner: { readonly pid: number } | null }> {
  const folder = runFolder(paths, run);
  try {
    return { view: foldRun(folder), owner: findOwner(folder) };
  } catch (error) {
    return refuseJournal(error, run);
  }
}

/** Reads a run; null if its journal cannot be read, so that a list of all runs can skip it. */
export async function readRunOrNull(
  paths: ProjectPaths,
  run: string,
): Promise<Awaited<ReturnType<typeof readRun>> | null> {
  try {
    return await readRun(paths, run);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/**
 * The state after the journal's last whole line, folded from its snapshot on if there is one that
 * fits.
 */
function foldRun(folder: string): RunView {
  let fold = openFold();
  readJournal(folder, {
    startAt: "snapshot",
    onSnapshot: (state) => {
      fold = openFold(state as Run);
      return true;
    },
    onEntry: (entry: Entry) => fold.apply(entry),
  });

  const { state } = fold;
  if (state.status === "unborn") {
    refuse("journal_damaged", { message: `The journal in ${folder} is empty.` });
  }

  return state;
}

/** Refuses with a journal's failure; rethrows any other error. */
export function refuseJournal(error: unknown, run: string): never {
  if (!(error instanceof JournalFailure)) throw error;
  const { trouble } = error;
  if (trouble.kind === "event_too_large") throw error; // large payloads belong in blobs: a bug of ours
  const common = { run_id: run, message: error.message };

  switch (trouble.kind) {
    case "run_locked":
      return refuse(trouble.kind, { ...common, data: { pid: trouble.pid } });
    case "journal_damaged": {
      const data = { damaged_line: trouble.line, damaged_byte: trouble.byte };
      return refuse(trouble.kind, {
        ...common,
        message: `${run}: ${error.message}`,
        remediation: listDamagedJournalHints(run),
        data,
      });
    }
    default:
      return refuse(trouble.kind, { ...common, data: {} });
  }
}

/**
 * What a person can do about a damaged journal: the run's commits are on its branch, and other work
 * need not wait.
 */
export const listDamagedJournalHints = (run: string): readonly string[] => [
  `restore .autopilot/runs/${run} from a backup; autopilot validate .autopilot/runs/${run} names the line`,
  `git log ${runBranchName(run)} shows the work that was kept`,
  'autopilot "what you want done" begins another run beside it',
];
