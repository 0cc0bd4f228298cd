// read: reads a journal while its owner writes: no lock, no change, and an unfinished tail is not
// damage.

import { closeSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../contracts/event.ts";
import { replayFrom } from "./replay.ts";
import { nodeDisk, readFlags } from "./disk.ts";
import { errorCode, JournalFailure } from "./journal-failure.ts";
import type { Position, Replay } from "./journal.ts";
import { journalFile } from "./journal.ts";
import { genesis } from "./line.ts";
import { openFile } from "./open-file.ts";
import { findPositionAfter, readSnapshot } from "./snapshot.ts";
import type { ScannedLines } from "./scan-lines.ts";

export type ReadOptions = Replay & {
  /** A position is where an earlier reading ended: a watcher continues from there. */
  readonly startAt?: "snapshot" | "start" | Readonly<Position>;
};

export type ReadResult = ScannedLines & { readonly snapshot: unknown };

/**
 * Reads what is there now. A run without a journal has no entries yet. Throws a JournalFailure if
 * damaged: then no returned entry counts.
 */
export function readJournal(dir: string, options: ReadOptions): ReadResult {
  const fd = openForReading(dir);
  if (fd === null) return { end: { ...genesis }, torn: null, snapshot: null };
  try {
    const snapshot =
      options.startAt === undefined || options.startAt === "snapshot"
        ? readSnapshot(dir, fd)
        : null;
    const isSnapshotUsed = snapshot !== null && (options.onSnapshot?.(snapshot.state) ?? true);
    const readFrom = (start: Readonly<Position>): ScannedLines =>
      replayFrom(fd, start, options.onEntry ?? ignore);
    if (typeof options.startAt === "object")
      return { ...readFrom(options.startAt), snapshot: null };

    return isSnapshotUsed
      ? { ...readFrom(snapshot.position), snapshot: snapshot.state }
      : { ...readFrom(genesis), snapshot: null };
  } finally {
    closeSync(fd);
  }
}

export type Verification = {
  readonly ok: boolean;
  /** Intact events from the start on. */
  readonly events: number;
  readonly damaged_line: number | null;
  readonly damaged_byte: number | null;
  readonly reason: string | null;
  /**
   * Bytes after the last event that aren't an event: a write under way, or one that a crash cut
   * short. No damage.
   */
  readonly torn_bytes: number;
};

/** Checks every line from the first, ignoring snapshots. */
export function verifyJournal(dir: string): Verification {
  const failed = { ok: false, events: 0, damaged_line: null, damaged_byte: null, torn_bytes: 0 };
  try {
    const fd = openForReading(dir);
    if (fd === null) return { ...failed, reason: "there is no journal here" };
    closeSync(fd);
    const { end, torn } = readJournal(dir, { startAt: "start" });

    return {
      ok: true,
      events: end.seq,
      damaged_line: null,
      damaged_byte: null,
      reason: null,
      torn_bytes: torn?.bytes ?? 0,
    };
  } catch (error) {
    if (!(error instanceof JournalFailure)) throw error;
    const { trouble } = error;
    if (trouble.kind !== "journal_damaged") return { ...failed, reason: error.message };
    const { line, byte, detail } = trouble;

    return {
      ...failed,
      events: Math.max((line ?? 1) - 1, 0),
      damaged_line: line,
      damaged_byte: byte,
      reason: detail,
    };
  }
}

/**
 * Whether a journal has the line it was last known to end with: then it has every line before that
 * one too, by the chain.
 */
export function hasLineAt(
  dir: string,
  { seq, byte, prev }: Pick<Position, "seq" | "byte" | "prev">,
): boolean {
  const fd = openForReading(dir);
  if (fd === null) return false;
  try {
    const position = findPositionAfter(fd, byte);
    return position !== null && position.seq === seq && position.prev === prev;
  } finally {
    closeSync(fd);
  }
}

/**
 * Whether a journal has this line. It reads the whole journal: where the byte is known, use
 * `hasLineAt`.
 */
export function hasLine(dir: string, { seq, prev }: Pick<Position, "seq" | "prev">): boolean {
  if (seq === 0) return true;
  let nextPrev: string | null = null;
  const { end } = readJournal(dir, {
    startAt: "start",
    onEntry: (entry) => (nextPrev = entry.seq === seq + 1 ? entry.prev : nextPrev),
  });

  return (end.seq === seq ? end.prev : nextPrev) === prev;
}

function openForReading(dir: string): number | null {
  try {
    return openFile(nodeDisk, join(dir, journalFile), readFlags);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return null;
    throw error;
  }
}

function ignore(_entry: Entry): void {
  // For callers that only want to know where the journal ends.
}
