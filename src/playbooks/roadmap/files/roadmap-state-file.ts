// roadmap-state-file: writes `.autopilot/state.json`, keeps the previous version as its backup, and
// archives it when the run is completed.
//
// Invariants:
//   D1. The backup is a complete earlier state; a damaged file never becomes the backup.
//   D2. The state of another run, of any tool, is archived before it is replaced: it records which
//       phases are done.
//   D3. A completed run has no state.json, only the archived one, generated from the journal.

import { lstatSync } from "node:fs";
import { copyFile, link, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { RoadmapState } from "../../../contracts/roadmap-state.ts";
import {
  archiveFile,
  backupFile,
  stateBytesMax,
  stateFile,
} from "../../../contracts/roadmap-places.ts";
import { readProjectState } from "./read-state-files.ts";
import { setAside } from "../../contract/generated-files.ts";
import {
  isReachable,
  readBounded,
  temporaryPath,
  writeWholeFile,
} from "../../contract/whole-file.ts";

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
  /** For a completed run: writes its last state to the archive, and deletes state.json. */
  readonly archive: (text: string) => Promise<void>;
};

export function openStateFile(parts: StateFileParts): StateFile {
  const { root, folder, run } = parts;
  let lastWrite: { readonly text: string; readonly fingerprint: string } | null = null;
  let hasPrepared = false;

  /**
   * Before the first write: archives another run's state, and moves away a file that cannot be
   * read.
   */
  const prepareOnce = async (): Promise<void> => {
    if (hasPrepared) return;
    const { state, text, source, exists } = await readProjectState(root);
    if (state !== null && state._meta.run_id !== run) await archiveOtherRun(parts, state, text); // D2
    if (exists && source !== stateFile) await setAside(root, stateFile, folder);
    hasPrepared = true;
  };

  return {
    async write(text) {
      await prepareOnce();
      if (lastWrite?.text === text && readFingerprint(root) === lastWrite.fingerprint) return;
      await keepBackup(root, run, lastWrite?.fingerprint ?? null);
      await writeWholeFile(root, stateFile, text);
      lastWrite = { text, fingerprint: readFingerprint(root) };
    },
    async archive(text) {
      await writeWholeFile(root, archiveFile(run), text);
      for (const path of [stateFile, backupFile]) {
        const runId = await readRunId(root, path);
        if (runId === run) await rm(join(root, path), { force: true }); // D3
      }

      lastWrite = null;
    },
  };
}

/**
 * Makes the current file the backup if it is a state of this run: by a hard link if possible, else
 * as a copy. D1
 */
async function keepBackup(root: string, run: string, fingerprint: string | null): Promise<void> {
  const isOurs = fingerprint !== null && readFingerprint(root) === fingerprint;
  if (!isOurs && (await readRunId(root, stateFile)) !== run) return;
  const [source, backup] = [join(root, stateFile), join(root, backupFile)];
  const temporary = temporaryPath(root, backup);

  try {
    await link(source, temporary).catch(() => copyFile(source, temporary)); // some file systems have no hard links
    await rename(temporary, backup);
  } finally {
    await rm(temporary, { force: true }); // a rename between two links to the same file leaves both
  }
}

/** The run id in a state file; null if the file is not one. */
async function readRunId(root: string, path: string): Promise<string | null> {
  const file = await readBounded(root, path, stateBytesMax);
  if (file.kind !== "read") return null;
  try {
    const state = JSON.parse(file.bytes.toString("utf8")) as {
      readonly _meta?: { readonly run_id?: unknown };
    } | null;
    const runId = state?._meta?.run_id;
    return typeof runId === "string" ? runId : null;
  } catch {
    return null;
  }
}

/**
 * If the other run has a journal, its state is derived from that; else the file is archived as it
 * is, under a name that is free. D2
 */
async function archiveOtherRun(
  { root, derive }: StateFileParts,
  state: RoadmapState,
  currentText: string,
): Promise<void> {
  const otherRun = state._meta.run_id;
  const derivedText = derive(otherRun);
  if (derivedText !== null) {
    await writeWholeFile(root, archiveFile(otherRun), derivedText);
    return;
  }

  for (let copyNumber = 1; ; copyNumber++) {
    const path = archiveFile(copyNumber === 1 ? otherRun : `${otherRun}-${copyNumber}`);
    const file = await readBounded(root, path, stateBytesMax);
    if (file.kind === "read" && file.bytes.toString("utf8") === currentText) return;
    // Behind a link or a file no name is free: then writing fails with the reason.
    if (file.kind !== "absent" && isReachable(root, path)) continue;
    await writeWholeFile(root, path, currentText);

    return;
  }
}

/** Identifies the version of the file, to notice edits by others. */
function readFingerprint(root: string): string {
  const stats = lstatSync(join(root, stateFile), { throwIfNoEntry: false });
  return stats === undefined ? "absent" : `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
}
