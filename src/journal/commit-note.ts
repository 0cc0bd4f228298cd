// commit-note: writes and reads `commit.json` in a run's folder, which names the shared log that
// may have lines which are not yet on disk in the journal itself. The note is written before the
// first such line is acknowledged, and removed only after the journal's own file has been synced.

import { closeSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Disk } from "./disk.ts";
import { nodeDisk, readFlags, replaceFile, syncFolder } from "./disk.ts";
import { errorCode, damaged } from "./journal-failure.ts";
import { openFile } from "./open-file.ts";

/** The log as seen from the run's folder, and the run as the log's records name it. */
export type CommitNote = { readonly log: string; readonly run: string };

const noteFile = "commit.json";

export function writeNote(disk: Disk, dir: string, { log, run }: CommitNote): void {
  replaceFile(
    disk,
    join(dir, noteFile),
    join(dir, `${noteFile}.tmp`),
    Buffer.from(`${JSON.stringify({ commit: 1, log, run })}\n`),
  );
}

/**
 * Null if no log has anything of this run. An unreadable note is damage: lines in that log may have
 * been acknowledged.
 */
export function readNote(dir: string): CommitNote | null {
  let text: string;
  try {
    const fd = openFile(nodeDisk, join(dir, noteFile), readFlags);
    try {
      text = readFileSync(fd, "utf8");
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }

  const { log, run } = parseNote(text);
  if (typeof log !== "string" || typeof run !== "string") {
    throw damaged(null, null, `${noteFile} does not name a log`);
  }

  return { log, run };
}

/**
 * Durably: an old note that came back after a power cut could refer to lines that a later owner has
 * replaced.
 */
export function removeNote(disk: Disk, dir: string): void {
  disk.unlink(join(dir, noteFile));
  syncFolder(disk, dir);
}

function parseNote(text: string): Partial<Record<keyof CommitNote, unknown>> {
  try {
    return (JSON.parse(text) as Partial<CommitNote> | null) ?? {};
  } catch {
    return {};
  }
}
