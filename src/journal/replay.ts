// replay: reads a journal from a position to its end. A long one is parsed here while a second
// thread checks it.
// Invariants J1 and on: journal/journal.ts.

import { fstatSync, readSync } from "node:fs";
import type { Entry } from "../contracts/event.ts";
import { journalVersion } from "../contracts/journal-version.ts";
import { invariant } from "../kit/invariant.ts";
import type { Section } from "./chain-check.ts";
import { damaged, JournalFailure } from "./journal-failure.ts";
import type { Position } from "./journal.ts";
import { batchBytesMax, lineBytesMax, lineFeed, parseFormatVersion } from "./line.ts";
import { readSection } from "./read-section.ts";
import { checkInThread, type SecondThread } from "./second-thread.ts";
import { type ScannedLines, scanInPlace } from "./scan-lines.ts";

/** Below this a second thread would cost more than it saves. */
const threadBytesMin = 16 * 1024 * 1024;
/** A first line has its format's version within these bytes. */
const versionBytesMax = 48;

type OnEntry = (entry: Entry) => void;

/** When and how a second thread helps. */
export type SecondThreadOptions = {
  readonly bytesMin: number;
  readonly check: (section: Section) => SecondThread | null;
};

/**
 * Reads from a position to the end of the file as it was at the beginning. Throws if it is damaged
 * (J4), and then no entry that `onEntry` got counts: it gets those of a long journal before the
 * other thread has finished checking them.
 */
export function replayFrom(
  fd: number,
  from: Readonly<Position>,
  onEntry: OnEntry,
  threadOptions: SecondThreadOptions = { bytesMin: threadBytesMin, check: checkInThread },
): ScannedLines {
  const size = fstatSync(fd).size;
  if (size < from.byte) throw damaged(from.seq, size, "the journal is shorter than it has been");
  refuseNewerFormat(fd);
  // The last batch may be torn, so its lines are checked here, before they are returned; the other
  // thread gets what is before.
  const endByte =
    size - from.byte > threadOptions.bytesMin ? findLineEndBefore(fd, size - batchBytesMax) : 0;
  const thread =
    endByte > from.byte
      ? threadOptions.check({ fd, startByte: from.byte, endByte, previousHash: from.prev })
      : null;

  return thread === null
    ? scanInPlace(fd, from, size, onEntry)
    : scanWithThread({ fd, from, size, endByte, onEntry }, thread);
}

type ThreadedScan = {
  readonly fd: number;
  readonly from: Readonly<Position>;
  readonly size: number;
  /** Where the section ends that the other thread checks. */
  readonly endByte: number;
  readonly onEntry: OnEntry;
};

/** Parses while the other thread checks. In any doubt the single-threaded check decides. */
function scanWithThread(
  { fd, from, size, endByte, onEntry }: ThreadedScan,
  thread: SecondThread,
): ScannedLines {
  let parseFailure: { readonly error: unknown } | null = null;
  const position = { ...from };

  try {
    readSection(fd, position, endByte, onEntry);
  } catch (error) {
    parseFailure = { error };
  }

  if (parseFailure !== null) thread.cancel();
  const isSound = parseFailure === null ? thread.waitForVerdict() : null;
  if (isSound === true) return scanInPlace(fd, position, size, onEntry);
  // scanInPlace throws if the journal is damaged. Entries that were returned are not returned
  // again.
  const mustReturnNothing = parseFailure !== null || isSound === false;
  const scanned = scanInPlace(fd, from, size, (entry) => {
    if (!mustReturnNothing && entry.seq > position.seq) onEntry(entry);
  });

  if (parseFailure !== null) throw parseFailure.error;
  invariant(isSound === null, "what one thread finds damaged, the other does too");
  return scanned;
}

/** Where the last line ends that is wholly before this byte; 0 if there is none. */
function findLineEndBefore(fd: number, byte: number): number {
  const length = Math.min(Math.max(byte, 0), lineBytesMax + 1);
  const bytes = Buffer.allocUnsafeSlow(length);
  const filled = length === 0 ? 0 : readSync(fd, bytes, 0, length, byte - length);
  const newline = filled === 0 ? -1 : bytes.lastIndexOf(lineFeed, filled - 1);

  return newline === -1 ? 0 : byte - length + newline + 1;
}

function refuseNewerFormat(fd: number): void {
  const beginning = Buffer.alloc(versionBytesMax);
  const filled = readSync(fd, beginning, 0, beginning.length, 0);
  const version = parseFormatVersion(beginning.subarray(0, filled));
  if (version !== null && version > journalVersion) {
    throw new JournalFailure({ kind: "journal_newer", version });
  }
}
