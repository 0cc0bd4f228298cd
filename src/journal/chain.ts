// chain: reads a journal from a position to its end. A long one is parsed here while a second thread checks it.
// Invariants J1 and on: journal/journal.ts.

import { fstatSync, readSync } from "node:fs";
import type { Entry } from "../contracts/event.ts";
import { journalVersion } from "../contracts/journal-version.ts";
import { invariant } from "../kit/invariant.ts";
import type { Stretch } from "./chain-check.ts";
import { damaged, JournalFailure } from "./failure.ts";
import type { Position } from "./journal.ts";
import { batchBytesMax, lineBytesMax, formatVersion } from "./line.ts";
import { readStretch } from "./read-stretch.ts";
import { checkBeside, type SecondThread } from "./second-thread.ts";
import { type ScannedLines, scanInPlace } from "./scan-lines.ts";

/** Below this a second thread would cost more than it saves. */
const besideBytesMin = 16 * 1024 * 1024;

type OnEntry = (entry: Entry) => void;

/** When and how a second thread helps. */
export type SecondThreadOptions = { readonly bytesMin: number; readonly check: (stretch: Stretch) => SecondThread | null };

/**
 * Walks from a position to the end of the file as it was when the walk began. Throws if it is damaged (J4), and then no entry it returned
 * counts: the entries of a long journal are returned before the other thread has finished checking them.
 */
export function checkChain(
  fd: number,
  from: Readonly<Position>,
  onEntry: OnEntry,
  beside: SecondThreadOptions = { bytesMin: besideBytesMin, check: checkBeside },
): ScannedLines {
  const size = fstatSync(fd).size;
  if (size < from.byte) throw damaged(from.seq, size, "the journal is shorter than it has been");
  refuseNewer(fd);
  // If a torn tail is possible, every line is checked before it is returned.
  const endByte = size - from.byte > beside.bytesMin ? lineEndBefore(fd, size - batchBytesMax) : 0;
  const second = endByte > from.byte ? beside.check({ fd, byte: from.byte, endByte, prev: from.prev }) : null;
  return second === null ? scanInPlace(fd, from, size, onEntry) : scanBeside(fd, from, size, endByte, onEntry, second);
}

/** Parses while the other thread checks. In any doubt the single-threaded check decides. */
function scanBeside(
  fd: number,
  from: Readonly<Position>,
  size: number,
  endByte: number,
  onEntry: OnEntry,
  second: SecondThread,
): ScannedLines {
  let trouble: { readonly error: unknown } | null = null;
  const at = { ...from };
  try {
    readStretch(fd, at, endByte, onEntry);
  } catch (error) {
    trouble = { error };
  }
  if (trouble !== null) second.cancel();
  const isSound = trouble === null ? second.answer() : null;
  if (isSound === true) return scanInPlace(fd, at, size, onEntry);
  // It throws if the journal is damaged. Returned entries are not returned again.
  const isDone = trouble !== null || isSound === false;
  const walked = scanInPlace(fd, from, size, (entry) => {
    if (!isDone && entry.seq > at.seq) onEntry(entry);
  });
  if (trouble !== null) throw trouble.error;
  invariant(isSound === null, "what one thread finds damaged, the other does too");
  return walked;
}

/** Where the last line ends that is wholly before this byte; 0 if there is none. */
function lineEndBefore(fd: number, byte: number): number {
  const length = Math.min(Math.max(byte, 0), lineBytesMax + 1);
  const bytes = Buffer.allocUnsafeSlow(length);
  const filled = length === 0 ? 0 : readSync(fd, bytes, 0, length, byte - length);
  const found = filled === 0 ? -1 : bytes.lastIndexOf(10, filled - 1);
  return found === -1 ? 0 : byte - length + found + 1;
}

function refuseNewer(fd: number): void {
  const beginning = Buffer.alloc(48);
  const filled = readSync(fd, beginning, 0, beginning.length, 0);
  const version = formatVersion(beginning.subarray(0, filled));
  if (version !== null && version > journalVersion) throw new JournalFailure({ kind: "journal_newer", version });
}
