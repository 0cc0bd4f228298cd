// ended-folders: the one place that deletes finished working folders of agents and checks: layers,
// checkouts, private homes.
//
// Invariants:
//   E1. Only while nothing is under way: no attempt is open, or no process works on the run and its
//       lock is held.
//   E2. A record is deleted before its folder, and a folder is renamed away before anything in it
//       is deleted: after a crash at any point the workspace finds a usable folder, or none. For a
//       full disk, copies for checks are deleted where they are: moving them would need room, and
//       without its record nobody uses such a copy again.
//   E3. The work of a turn that has ended is paid for: until it is on the run's branch, it is
//       deleted only with its phase or its run.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../../contracts/event.ts";
import type { RunView } from "../../core/state.ts";
import { isObjectName } from "../../workspace/git/tree.ts";
import { erase, moveToTrash, readFolderNames } from "../../workspace/folder.ts";
import { readEndedTurns, receiptsPath, shrinkReceipts } from "./turn-receipts.ts";

/**
 * Folders of records, one for each layer and check, without which nobody uses the folder that a
 * record is about.
 */
const recordFolders = ["records/layers", "records/checks", receiptsPath];
/**
 * Folders with one entry for each layer or check; `worlds` and `apart` hold what an overlay and a
 * home keep beside it, `histories` what the repositories of checks read.
 */
const phaseFolders = ["layers", "checks", "worlds", "apart", "histories"];
/** The past of a commit, in `histories`, which each phase would pack anew. */
const isPast = (name: string): boolean => isObjectName(name);
/**
 * Folders that are moved away whole, at a run's end: the names in them are an agent's, and may be
 * any bytes.
 */
const runFolders = ["scratch", "home", "rules"];

/**
 * Moves what phases left to the trash at once, but for what is kept; returns the moved folders, to
 * be deleted later.
 */
function trashPhaseFolders(
  run: string,
  isKept: (name: string) => boolean = () => false,
): readonly string[] {
  const namesIn = (folder: string): readonly string[] =>
    readFolderNames(join(run, folder)).filter((name) => !isKept(name));
  for (const folder of recordFolders) {
    for (const name of namesIn(folder)) rmSync(join(run, folder, name), { force: true });
  } // E2

  return phaseFolders.flatMap((folder) =>
    namesIn(folder).flatMap(
      (name) => moveToTrash(join(run, folder, name), join(run, "trash")) ?? [],
    ),
  ); // E2
}

function trashRunFolders(run: string): void {
  for (const folder of runFolders) moveToTrash(join(run, folder), join(run, "trash"));
}

async function emptyTrash(run: string): Promise<void> {
  for (const name of readFolderNames(join(run, "trash"))) await erase(join(run, "trash", name));
}

/** Frees everything of a finished run, and of its child runs. The caller holds its lock. */
export async function freeRun(run: string): Promise<void> {
  trashPhaseFolders(run); // E1
  trashRunFolders(run);
  await emptyTrash(run);

  for (const child of readFolderNames(join(run, "children"))) {
    await freeRun(join(run, "children", child));
  }
}

/**
 * Frees what a run that is paused for a full disk can do without: first copies for checks and
 * temporary homes; if that made no room, also layers that agents were still working in, whose steps
 * are repeated. Layers of turns that have ended are kept (E3). Recording them needs some room,
 * which their receipts give back.
 */
export async function freeForFullDisk(run: string, hasRoom: () => boolean): Promise<void> {
  await emptyTrash(run);
  for (const name of readFolderNames(join(run, "records/checks"))) {
    rmSync(join(run, "records/checks", name), { force: true });
  } // E2

  for (const folder of ["checks", "scratch", "histories"]) await erase(join(run, folder));
  for (const name of readFolderNames(join(run, "worlds"))) {
    if (name.startsWith("checks-")) await erase(join(run, "worlds", name));
  }

  for (const child of readFolderNames(join(run, "children"))) {
    await freeForFullDisk(join(run, "children", child), hasRoom);
  }

  if (hasRoom()) return;
  shrinkReceipts(run);
  const endedSlugs = readEndedTurns(run);
  trashPhaseFolders(run, (name) => endedSlugs.some((slug) => isOfLayer(slug, name))); // E1, E3
  trashRunFolders(run);
  await emptyTrash(run);
}

/**
 * Whether a name belongs to a layer: its folder, the folders below and beside an overlay, its
 * record and its receipt.
 */
const isOfLayer = (slug: string, name: string): boolean =>
  name === slug ||
  name === `${slug}.json` ||
  name.startsWith(`${slug}-`) ||
  name.startsWith(`layers-${slug}-`);

/**
 * Watches a working run: a phase's leftovers are deleted at its end, the rest at the run's, with
 * the past that all phases start from.
 */
export function openEndedFolders(run: string): {
  readonly onEntry: (entry: Entry, view: RunView) => void;
  readonly close: (view: RunView) => Promise<void>;
} {
  let erasing = Promise.resolve();
  return {
    onEntry: ({ event }, { open }) => {
      const isPhaseOver =
        event === "phase_completed" || event === "phase_failed" || event === "phase_skipped";
      if (!isPhaseOver || Object.keys(open).length > 0) return; // E1
      for (const trashed of tryTrashPhaseFolders(run)) erasing = erasing.then(() => erase(trashed));
    },
    close: async ({ status }) => {
      await erasing;
      if (status === "completed" || status === "stopped") await freeRun(run).catch(() => undefined); // `clean` retries it
    },
  };
}

/** Moves what phases left to the trash. Disk that cannot be freed now ends no run. */
function tryTrashPhaseFolders(run: string): readonly string[] {
  try {
    return trashPhaseFolders(run, isPast);
  } catch {
    return [];
  }
}
