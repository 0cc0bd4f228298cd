// chain: reads a journal line by line and admits only what continues it: sound by its CRC, tied to the line before, next in number.

import { isUtf8 } from "node:buffer";
import { hash } from "node:crypto";
import { fstatSync, readSync } from "node:fs";
import type { Entry } from "../contracts/event.ts";
import { journalVersion } from "../contracts/journal-version.ts";
import { codeOf, damaged, JournalFailure } from "./failure.ts";
import type { Position } from "./journal.ts";
import { batchBytesMax, continues, crcOf, endOfLine, faultOf, headOf, lineBytesMax, versionOf, viewOf } from "./line.ts";

const chunkBytes = 1024 * 1024;

type Written<T> = { -readonly [K in keyof T]: T[K] };

export type Walked = {
  /** After the last sound line. */
  readonly end: Position;
  /** What follows it that is no line: a write that was cut short, or one that is under way. */
  readonly torn: { readonly bytes: number; readonly detail: string } | null;
};

/** Walks from a position to the end of the file as it was when the walk began. Throws at damage (J4). */
export function walkChain(fd: number, from: Readonly<Position>, onEntry: (entry: Entry) => void): Walked {
  const at = { ...from };
  const size = fstatSync(fd).size;
  if (size < at.byte) throw damaged(at.seq, size, "the journal is shorter than it has been");
  refuseNewer(fd);
  const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes + lineBytesMax + 1, size - at.byte));
  let held = 0;
  for (;;) {
    const room = Math.min(chunkBytes, size - at.byte - held, buffer.length - held);
    const read = room > 0 ? readAt(fd, buffer, held, room, at) : 0;
    const filled = held + read;
    const lastEnd = filled === 0 ? -1 : buffer.lastIndexOf(10, filled - 1);
    const isText = isUtf8(buffer.subarray(0, lastEnd + 1));
    let start = 0;
    while (start <= lastEnd) {
      const end = buffer.indexOf(10, start);
      const fault = faultOf(buffer, start, end);
      if (fault !== null) return { end: at, torn: tornAt(fd, at, size, fault) };
      const entry = admit(at, buffer, start, end, isText);
      onEntry(entry);
      start = end + 1;
    }
    held = filled - start;
    if (held > lineBytesMax) throw damaged(at.seq + 1, at.byte, `longer than ${lineBytesMax} bytes`);
    if (read === 0) return { end: at, torn: held > 0 ? tornAt(fd, at, size, "the line does not end") : null };
    buffer.copyWithin(0, start, filled);
  }
}

function admit(at: Position, buffer: Buffer, start: number, end: number, isText: boolean): Entry {
  const line = at.seq + 1;
  if (!isText && !isUtf8(buffer.subarray(start, end))) throw damaged(line, at.byte, "not UTF-8");
  if (!continues(buffer, end, at.prev)) throw damaged(line, at.byte, "it does not continue the line before");
  const after = hash("sha256", viewOf(buffer, start, end));
  const entry = parsed(headOf(buffer, start, end)) as Partial<Written<Entry>> & { readonly journal?: unknown };
  if (entry.seq !== line) throw damaged(line, at.byte, `its number is ${String(entry.seq)}, not ${line}`);
  if (!isWhole(entry.epoch) || entry.epoch < Math.max(at.epoch, 1)) throw damaged(line, at.byte, "its epoch is older than the line before");
  if (!isWhole(entry.active_ms) || entry.active_ms < at.activeMs) throw damaged(line, at.byte, "its active_ms falls");
  if (typeof entry.ts !== "string" || typeof entry.event !== "string") throw damaged(line, at.byte, "no event");
  if (typeof entry.actor !== "string" || typeof entry.reason_code !== "string") throw damaged(line, at.byte, "no actor or reason");
  if ((line === 1 ? journalVersion : undefined) !== entry.journal)
    throw damaged(line, at.byte, "the format's version is not where it belongs");
  at.seq = line;
  at.epoch = entry.epoch;
  at.activeMs = entry.active_ms;
  at.byte += end + 1 - start;
  entry.prev = at.prev;
  entry.crc = crcOf(buffer, end);
  at.prev = after;
  return entry as Entry;
}

/** An empty object stands for what is no JSON object: it fails the first check after. */
function parsed(text: string): object {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** A bad line is a torn tail only if a single cut-off batch can explain it: short enough, and nothing sound after it. Else it is damage. */
function tornAt(fd: number, at: Position, size: number, fault: string): Walked["torn"] {
  const bytes = size - at.byte;
  if (bytes > batchBytesMax) throw damaged(at.seq + 1, at.byte, fault);
  const rest = Buffer.allocUnsafeSlow(bytes);
  const filled = readAt(fd, rest, 0, bytes, at);
  // A whole line with another byte where its newline was is no unfinished one: it may have been acknowledged.
  const wholeEnd = endOfLine(rest);
  if (wholeEnd < filled && rest[wholeEnd] !== 10 && faultOf(rest, 0, wholeEnd) === null)
    throw damaged(at.seq + 1, at.byte, "its newline is damaged");
  let start = rest.subarray(0, filled).indexOf(10) + 1;
  while (start > 0) {
    const end = rest.indexOf(10, start);
    if (end === -1 || end >= filled) break;
    if (faultOf(rest, start, end) === null) throw damaged(at.seq + 1, at.byte, fault);
    start = end + 1;
  }
  return { bytes, detail: fault };
}

function refuseNewer(fd: number): void {
  const beginning = Buffer.alloc(48);
  const filled = readSync(fd, beginning, 0, beginning.length, 0);
  const version = versionOf(beginning.subarray(0, filled));
  if (version !== null && version > journalVersion) throw new JournalFailure({ kind: "journal_newer", version });
}

/** Reads until the room is full or the file ends; the buffer's first byte is the one at the position. */
function readAt(fd: number, buffer: Buffer, offset: number, length: number, at: Position): number {
  let done = 0;
  try {
    while (done < length) {
      const read = readSync(fd, buffer, offset + done, length - done, at.byte + offset + done);
      if (read === 0) break;
      done += read;
    }
  } catch (error) {
    throw damaged(at.seq + 1, at.byte, `${codeOf(error) ?? "error"} while reading`, error);
  }
  return done;
}
