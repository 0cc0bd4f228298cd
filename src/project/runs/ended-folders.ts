// ended-folders: the one place that deletes finished working folders of agents and checks: layers, checkouts, private homes.
//
// Invariants:
//   E1. Only while nothing is under way: no attempt is open, or no process works on the run and its lock is held.
//   E2. A record is deleted before its folder, and a folder is renamed away before anything in it is deleted: after a crash at any point
//       the workspace finds a usable folder, or none.

import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import type { RunView } from "../../core/state.ts";
import { erase } from "../../workspace/folder.ts";

const records = ["records/layers", "records/checks"];
/** Folders that phases leave behind, and those left at a run's end. */
const ofPhases = ["layers", "checks", "worlds", "apart"];
const ofRuns = [...ofPhases, "scratch", "home", "rules"];

/** A link at a folder's path is not followed. */
const readNames = (folder: string): readonly string[] =>
  lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(folder) : [];

/** Renames the content of these folders away at once; returns the renamed folders, to be deleted later. */
function bury(run: string, folders: readonly string[]): readonly string[] {
  for (const folder of records) for (const name of readNames(join(run, folder))) rmSync(join(run, folder, name), { force: true }); // E2
  const trash = join(run, "trash");
  if (lstatSync(trash, { throwIfNoEntry: false })?.isSymbolicLink() === true) return [];
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  return folders.flatMap((folder) =>
    readNames(join(run, folder)).map((name) => {
      const grave = join(trash, randomUUID());
      renameSync(join(run, folder, name), grave); // E2
      return grave;
    }),
  );
}

/** Frees everything of a finished run, and of its child runs. The caller holds its lock. */
export async function freeRun(run: string): Promise<void> {
  bury(run, ofRuns); // E1
  for (const name of readNames(join(run, "trash"))) await erase(join(run, "trash", name));
  for (const child of readNames(join(run, "children"))) await freeRun(join(run, "children", child));
}

/** Watches a working run: a phase's leftovers are deleted at its end, the rest at the run's. */
export function openEndedFolders(run: string): {
  readonly take: (entry: Entry, view: RunView) => void;
  readonly close: (view: RunView) => Promise<void>;
} {
  let erasing = Promise.resolve();
  return {
    take: ({ event }, { open }) => {
      const isPhaseOver = event === "phase_completed" || event === "phase_failed" || event === "phase_skipped";
      if (!isPhaseOver || Object.keys(open).length > 0) return; // E1
      for (const grave of buried(run)) erasing = erasing.then(() => erase(grave));
    },
    close: async ({ status }) => {
      await erasing;
      if (status === "completed" || status === "stopped") await freeRun(run).catch(() => undefined); // `clean` retries it
    },
  };
}

/** Disk that cannot be freed now ends no run. */
function buried(run: string): readonly string[] {
  try {
    return bury(run, ofPhases);
  } catch {
    return [];
  }
}
