// read-section: parses whole lines while another thread checks them: nothing here is trusted before
// that thread confirms it.

import { isAscii, isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import type { Entry } from "../contracts/event.ts";
import { toByteView } from "./batch.ts";
import { parseEntry, fillBuffer } from "./parse-entry.ts";
import { damaged } from "./journal-failure.ts";
import type { Position } from "./journal.ts";
import {
  readCrcFromText,
  readCrc,
  closingBrace,
  findHeadEnd,
  lineBytesMax,
  lineFeed,
  readPrev,
} from "./line.ts";

/** Small, so that the text of a chunk is collected early and a replay needs little memory. */
const chunkBytes = 32 * 1024;

/**
 * Moves the position to the end of the section, and calls `onEntry` for each line. Throws a
 * JournalFailure if something isn't an entry.
 */
export function readSection(
  fd: number,
  position: Position,
  endByte: number,
  onEntry: (entry: Entry) => void,
): void {
  const buffer = Buffer.allocUnsafeSlow(
    Math.min(chunkBytes + lineBytesMax + 1, endByte - position.byte),
  );

  let carried = 0;
  while (position.byte < endByte) {
    const readBytesMax = Math.min(
      chunkBytes,
      endByte - position.byte - carried,
      buffer.length - carried,
    );
    const read = fillBuffer(fd, buffer, carried, readBytesMax, position);
    const filled = carried + read;
    const lastEnd = filled === 0 ? -1 : buffer.lastIndexOf(lineFeed, filled - 1);
    // Nothing read: the section ends inside a line, or the file has been cut shorter since.
    if (lastEnd === -1 && (read === 0 || filled > lineBytesMax)) {
      throw damaged(position.seq + 1, position.byte, "the line does not end");
    }

    if (position.byte + lastEnd + 1 === endByte) position.prev = hashLastLine(buffer, lastEnd);
    readChunk(position, buffer, lastEnd + 1, onEntry);
    carried = filled - lastEnd - 1;
    buffer.copyWithin(0, lastEnd + 1, filled);
  }
}

function hashLastLine(buffer: Buffer, end: number): string {
  const start = end === 0 ? 0 : buffer.lastIndexOf(lineFeed, end - 1) + 1;
  return hash("sha256", toByteView(buffer, start, end));
}

/**
 * The lines in the first bytes of the buffer. One string for all of them: one per line would take
 * as long as parsing it.
 */
function readChunk(
  position: Position,
  buffer: Buffer,
  bytes: number,
  onEntry: (entry: Entry) => void,
): void {
  const chunk = buffer.subarray(0, bytes);
  const isAsciiOnly = isAscii(chunk);
  if (!isAsciiOnly && !isUtf8(chunk)) throw damaged(position.seq + 1, position.byte, "not UTF-8");
  closeHeads(position, buffer, bytes);
  const text = isAsciiOnly ? buffer.toString("latin1", 0, bytes) : null;

  for (let start = 0; start < bytes;) {
    const end = text === null ? buffer.indexOf(lineFeed, start) : text.indexOf("\n", start);
    const tailAt = findHeadEnd(end);
    const entry = parseEntry(
      position,
      text === null ? buffer.toString("utf8", start, tailAt + 1) : text.slice(start, tailAt + 1),
    );
    entry.prev = readPrev(buffer, end); // not a slice of the text, which would keep all of it alive
    entry.crc = text === null ? readCrc(buffer, end) : readCrcFromText(text, end);
    position.byte += end + 1 - start;
    onEntry(entry as Entry);
    start = end + 1;
  }
}

/**
 * Puts a brace where each line's tail begins, so that the JSON before it can be parsed by itself.
 */
function closeHeads(position: Position, buffer: Buffer, bytes: number): void {
  for (let start = 0; start < bytes;) {
    const end = buffer.indexOf(lineFeed, start);
    const tailAt = findHeadEnd(end);
    if (tailAt <= start) throw damaged(position.seq + 1, position.byte, "not an entry");
    buffer[tailAt] = closingBrace;
    start = end + 1;
  }
}
