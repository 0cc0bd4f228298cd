// scan-lines: reads a journal line by line and accepts only lines that continue it: valid CRC,
// chained to the line before, next number.
// Invariants J1 and on: journal/journal.ts.

import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { Entry } from "../contracts/event.ts";
import { toByteView } from "./batch.ts";
import { parseEntry, fillBuffer } from "./parse-entry.ts";
import { damaged } from "./journal-failure.ts";
import type { Position } from "./journal.ts";
import {
  batchBytesMax,
  continues,
  readCrc,
  findLineEnd,
  findLineFault,
  readLineHead,
  lineBytesMax,
  lineFeed,
} from "./line.ts";

const chunkBytes = 1024 * 1024;

export type ScannedLines = {
  /** After the last intact line. */
  readonly end: Position;
  /** The incomplete rest: a write that was cut short, or one that is under way. */
  readonly torn: { readonly bytes: number; readonly detail: string } | null;
};

/**
 * Reads from a position to this size of the file, each line checked before `onEntry` gets it.
 * Throws if damaged (J4).
 */
export function scanInPlace(
  fd: number,
  from: Readonly<Position>,
  size: number,
  onEntry: (entry: Entry) => void,
): ScannedLines {
  const position = { ...from };
  const buffer = Buffer.allocUnsafeSlow(
    Math.min(chunkBytes + lineBytesMax + 1, size - position.byte),
  );

  let carried = 0;
  for (;;) {
    const readBytesMax = Math.min(
      chunkBytes,
      size - position.byte - carried,
      buffer.length - carried,
    );
    const read = readBytesMax > 0 ? fillBuffer(fd, buffer, carried, readBytesMax, position) : 0;
    const filled = carried + read;
    const lastEnd = filled === 0 ? -1 : buffer.lastIndexOf(lineFeed, filled - 1);
    const isText = isUtf8(buffer.subarray(0, lastEnd + 1));
    let start = 0;
    while (start <= lastEnd) {
      const end = buffer.indexOf(lineFeed, start);
      const fault = findLineFault(buffer, start, end);
      if (fault !== null) return { end: position, torn: judgeTail(fd, position, size, fault) };
      const entry = acceptLine(position, buffer, start, end, isText);
      onEntry(entry);
      start = end + 1;
    }

    carried = filled - start;
    if (carried > lineBytesMax) {
      throw damaged(position.seq + 1, position.byte, `longer than ${lineBytesMax} bytes`);
    }

    if (read === 0) {
      return {
        end: position,
        torn: carried > 0 ? judgeTail(fd, position, size, "the line does not end") : null,
      };
    }

    buffer.copyWithin(0, start, filled);
  }
}

/**
 * Accepts the next line, intact by itself, if it continues the journal; advances the position.
 * Overwrites one byte of it. `isText`: the whole buffer is known to be UTF-8, so the line need not
 * be looked at.
 */
export function acceptLine(
  position: Position,
  buffer: Buffer,
  start: number,
  end: number,
  isText: boolean,
): Entry {
  const line = position.seq + 1;
  if (!isText && !isUtf8(buffer.subarray(start, end))) {
    throw damaged(line, position.byte, "not UTF-8");
  }

  if (!continues(buffer, end, position.prev)) {
    throw damaged(line, position.byte, "it does not continue the line before");
  }

  const lineHash = hash("sha256", toByteView(buffer, start, end));
  const entry = parseEntry(position, readLineHead(buffer, start, end));
  position.byte += end + 1 - start;
  entry.prev = position.prev;
  entry.crc = readCrc(buffer, end);
  position.prev = lineHash;

  return entry as Entry;
}

/**
 * A bad line is a torn tail only if a single interrupted batch explains it: short enough, and
 * nothing intact after it. Else it is damage.
 */
function judgeTail(
  fd: number,
  position: Position,
  size: number,
  fault: string,
): ScannedLines["torn"] {
  const bytes = size - position.byte;
  if (bytes > batchBytesMax) throw damaged(position.seq + 1, position.byte, fault);
  const tail = Buffer.allocUnsafeSlow(bytes);
  const filled = fillBuffer(fd, tail, 0, bytes, position);
  // A whole line with another byte in place of its newline isn't an unfinished one: it may have
  // been acknowledged.
  const wholeEnd = findLineEnd(tail);
  if (
    wholeEnd < filled &&
    tail[wholeEnd] !== lineFeed &&
    findLineFault(tail, 0, wholeEnd) === null
  ) {
    throw damaged(position.seq + 1, position.byte, "its newline is damaged");
  }

  let start = tail.subarray(0, filled).indexOf(lineFeed) + 1;
  while (start > 0) {
    const end = tail.indexOf(lineFeed, start);
    if (end === -1 || end >= filled) break;
    if (findLineFault(tail, start, end) === null) {
      throw damaged(position.seq + 1, position.byte, fault);
    }

    start = end + 1;
  }

  return { bytes, detail: fault };
}
