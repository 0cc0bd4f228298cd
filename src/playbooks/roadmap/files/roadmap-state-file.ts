// roadmap-state-file: `.autopilot/state.json` on the disk: the one before it as its backup, the finished one in the archive.
//
// Invariants:
//   D1. The backup is a whole earlier state; a damaged file never becomes one.
//   D2. The state of another run, of any tool, is archived before this run's replaces it: it knows which phases are done.
//   D3. A completed run has no state.json: it is in the archive, generated from the journal.

import { lstatSync } from "node:fs";
import { copyFile, link, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import { archiveFile, backupFile, stateBytesMax, stateFile } from "../../../contracts/roadmap-places.ts";
import { readStateHere } from "./roadmap-states.ts";
import { setAside } from "../../contract/generated-files.ts";
import { draftFor, readBounded, writeWholeFile } from "../../contract/whole-file.ts";

export type StateFileParts = {
  readonly root: string;
  /** The run's own folder, and its name. */
  readonly folder: string;
  readonly run: string;
  /** The last state of another run of ours from its journal; null if there is no such journal. */
  readonly derive: (run: string) => string | null;
};

export type StateFile = {
  readonly write: (text: string) => Promise<void>;
  /** The run is completed. */
  readonly archive: (text: string) => Promise<void>;
};

export function openStateFile(parts: StateFileParts): StateFile {
  const { root, folder, run } = parts;
  let written: { readonly text: string; readonly mark: string } | null = null;
  let isSettled = false;

  const settle = async (): Promise<void> => {
    if (isSettled) return;
    const { state, text, from, isThere } = await readStateHere(root);
    if (state !== null && state._meta.run_id !== run) await archiveOther(parts, state, text); // D2
    if (isThere && from !== stateFile) await setAside(root, stateFile, folder);
    isSettled = true;
  };

  return {
    async write(text) {
      await settle();
      if (written?.text === text && readMark(root) === written.mark) return;
      await keepBackup(root, run, written?.mark ?? null);
      await writeWholeFile(root, stateFile, text);
      written = { text, mark: readMark(root) };
    },
    async archive(text) {
      await writeWholeFile(root, archiveFile(run), text);
      for (const path of [stateFile, backupFile]) {
        const state = await readRun(root, path);
        if (state === run) await rm(join(root, path), { force: true }); // D3
      }
      written = null;
    },
  };
}

/** What is there now goes to the backup, if it is a state of this run: by a second name where the disk can, else as a copy. D1 */
async function keepBackup(root: string, run: string, mark: string | null): Promise<void> {
  const isOurs = mark !== null && readMark(root) === mark;
  if (!isOurs && (await readRun(root, stateFile)) !== run) return;
  const [from, to] = [join(root, stateFile), join(root, backupFile)];
  const draft = draftFor(root, to);
  try {
    await link(from, draft).catch(() => copyFile(from, draft));
    await rename(draft, to);
  } finally {
    await rm(draft, { force: true }); // two names of one file are not renamed over each other
  }
}

/** The run whose state a file holds; null if it holds none. Only what says so itself is taken for a state. */
async function readRun(root: string, path: string): Promise<string | null> {
  const read = await readBounded(root, path, stateBytesMax);
  if (read.kind !== "read") return null;
  try {
    const state = JSON.parse(read.bytes.toString("utf8")) as { readonly _meta?: { readonly run_id?: unknown } } | null;
    const run = state?._meta?.run_id;
    return typeof run === "string" ? run : null;
  } catch {
    return null;
  }
}

async function archiveOther({ root, derive }: StateFileParts, state: RoadmapState, text: string): Promise<void> {
  const other = state._meta.run_id;
  const derived = derive(other);
  if (derived !== null) {
    await writeWholeFile(root, archiveFile(other), derived);
    return;
  }
  for (let n = 1; ; n++) {
    const path = archiveFile(n === 1 ? other : `${other}-${n}`);
    const there = await readBounded(root, path, stateBytesMax);
    if (there.kind === "read" && there.bytes.toString("utf8") === text) return;
    if (there.kind !== "absent") continue;
    await writeWholeFile(root, path, text);
    return;
  }
}

/** Distinguishes a generated file from one that was edited since. */
function readMark(root: string): string {
  const stats = lstatSync(join(root, stateFile), { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}
