// validate-lines: passes the lines of a file to the rules of its format: one pass, one buffer, for any file.
//
// Invariants:
//   E1. Memory is the buffer: a line that does not fit is reported and skipped, however long it is.
//   E2. Nothing reaches the rules that is not UTF-8.
//   E3. A duplicate key is found without inspecting every string: as long as a chunk has exactly the quotes that its names and strings need
//       (kit/json-hazards.ts, H1), there is none. Only if the sum is off is each line inspected.
//   E4. A file with thousands of lines that aren't JSON isn't a log: it is reported, and the rest is not read.
//   E5. What existed when reading began is judged; what came after is reported, and an unfinished line is not judged.

import { isAscii, isUtf8 } from "node:buffer";
import { fstatSync, readSync } from "node:fs";
import type { LineRules } from "../../documents/line-rules.ts";
import { findHazards } from "../../kit/json-hazards.ts";

export const validatedLineBytesMax = 1_048_576;
const chunkBytes = 65_536;
const badLinesMax = 20_000;

export type LinesRead = {
  /** Lines read, including blank ones and an unfinished last one. */
  readonly lines: number;
  /** How many bytes were added while it was read; negative if some were removed. */
  readonly grewBytes: number;
  /** The last line is unfinished, and was judged only if nothing came after it. */
  readonly isUnended: boolean;
};

/** Progress so far: how many lines were read, and how many of them were not JSON. */
type Judged = { readonly lines: number; readonly bad: number };

/** Reads a file from its beginning to the size it has now. */
export function readLines(fd: number, rules: LineRules): LinesRead {
  const size = fstatSync(fd).size;
  const buffer = Buffer.allocUnsafeSlow(Math.min(size, chunkBytes + validatedLineBytesMax) + 1);
  let progress: Judged = { lines: 0, bad: 0 };
  let carried = 0;
  let isSkipping = false;
  let position = 0;
  while (position < size && progress.bad <= badLinesMax) {
    const read = readSync(fd, buffer, carried, Math.min(chunkBytes, size - position), position);
    if (read === 0) break; // it was cut while we read
    position += read;
    let filled = carried + read;
    if (isSkipping) {
      const end = buffer.subarray(0, filled).indexOf(newline);
      if (end === -1) continue;
      isSkipping = false;
      filled -= end + 1;
      buffer.copyWithin(0, end + 1);
    }
    const past = filled === 0 ? 0 : buffer.lastIndexOf(newline, filled - 1) + 1;
    if (past > 0) progress = judgeLines(buffer.subarray(0, past), progress, rules);
    carried = filled - past;
    buffer.copyWithin(0, past, filled);
    if (carried <= validatedLineBytesMax) continue;
    progress = tooLong(progress, rules);
    isSkipping = true;
    carried = 0;
  }
  const grewBytes = fstatSync(fd).size - size;
  const isUnended = carried > 0;
  if (progress.bad > badLinesMax)
    rules.fault(progress.lines, `more than ${badLinesMax} lines up to here are no JSON; the rest was not read`); // E4
  else if (isUnended && grewBytes <= 0) progress = judgePiece(buffer.subarray(0, carried), progress, rules); // E5
  rules.end();
  return { lines: isUnended && grewBytes > 0 ? progress.lines + 1 : progress.lines, grewBytes, isUnended };
}

const newline = 10;
const quote = 34;
const backslash = 92;

function tooLong({ lines, bad }: Judged, rules: LineRules): Judged {
  rules.fault(lines + 1, `is longer than ${validatedLineBytesMax} bytes, expected one JSON object; it was not read`, true); // E1
  return { lines: lines + 1, bad: bad + 1 };
}

/** Whole lines as they came: only the first, which was carried over, can be longer than a line may be. */
function judgeLines(piece: Buffer, before: Judged, rules: LineRules): Judged {
  const first = piece.length > validatedLineBytesMax ? piece.indexOf(newline) : 0;
  if (first <= validatedLineBytesMax) return judgePiece(piece, before, rules);
  return judgePiece(Buffer.from(piece.subarray(first + 1)), tooLong(before, rules), rules);
}

/** Judges whole lines. */
function judgePiece(piece: Buffer, before: Judged, rules: LineRules): Judged {
  if (!isUtf8(piece)) return judgeApart(piece, before, rules); // E2
  const count: Count = { line: before.lines, strings: 0, bad: new Set(), mayHoldHalves: false };
  handOver(piece, count, rules);
  if (count.bad.size > 0 || count.mayHoldHalves || count.strings * 2 !== countQuotes(piece))
    lookInto(piece.toString("utf8"), before.lines, count.bad, rules); // E3
  return { lines: count.line, bad: before.bad + count.bad.size };
}

type Count = { line: number; strings: number; mayHoldHalves: boolean; readonly bad: Set<number> };

/** Plain ASCII is decoded in one piece; a single non-ASCII letter would double the width of everything around it, so it is kept apart. */
function handOver(piece: Buffer, count: Count, rules: LineRules): void {
  const isPlain = isAscii(piece);
  const middle = isPlain ? -1 : piece.indexOf(newline, piece.length >> 1);
  if (middle !== -1 && middle < piece.length - 1) {
    handOver(piece.subarray(0, middle + 1), count, rules);
    return handOver(piece.subarray(middle + 1), count, rules);
  }
  const text = piece.toString(isPlain ? "latin1" : "utf8");
  for (let start = 0; start < text.length;) {
    const newlineAt = text.indexOf("\n", start);
    const end = newlineAt === -1 ? text.length : newlineAt;
    const counted = rules.line(text.slice(start, end), ++count.line);
    if (Number.isNaN(counted)) count.bad.add(count.line);
    else count.strings += counted;
    start = end + 1;
  }
  count.mayHoldHalves ||= mayHoldHalves(text);
}

/** The quotes that begin or end a string: all of them, less the escaped ones. Four bytes at a time: it reads every byte. */
function countQuotes(piece: Buffer): number {
  const isAligned = piece.byteOffset % 4 === 0; // or it is counted byte by byte
  const words = isAligned ? new Uint32Array(piece.buffer, piece.byteOffset, piece.length >> 2) : new Uint32Array();
  let count = 0;
  for (let index = 0; index < words.length; index++) {
    const off = (words[index] as number) ^ quotes; // a byte of it is 0 where there is a quote
    const found = ~(((off & lowBits) + lowBits) | off | lowBits); // its highest bit is 1 in just those bytes
    count += Math.imul(found >>> 7, ones) >>> 24;
  }
  for (let index = words.length << 2; index < piece.length; index++) count += piece[index] === quote ? 1 : 0;
  for (let index = piece.indexOf(backslash); index !== -1; index = piece.indexOf(backslash, index + 2))
    if (piece[index + 1] === quote) count--;
  return count;
}

const quotes = 0x22222222;
const lowBits = 0x7f7f7f7f;
const ones = 0x01010101;

/** A lone surrogate can only be written as an escape. */
const mayHoldHalves = (text: string): boolean => text.includes("\\u") && /\\u[dD][89a-fA-F]/.test(text);

function lookInto(text: string, before: number, bad: ReadonlySet<number>, rules: LineRules): void {
  let line = before;
  for (const item of text.split("\n")) {
    line++;
    if (!bad.has(line)) for (const { message } of findHazards(item)) rules.fault(line, message);
  }
}

/** A chunk that is not valid text as a whole, line by line. */
function judgeApart(piece: Buffer, before: Judged, rules: LineRules): Judged {
  let judged = before;
  for (let start = 0; start < piece.length;) {
    const newlineAt = piece.indexOf(newline, start);
    const end = newlineAt === -1 ? piece.length : newlineAt;
    const bytes = piece.subarray(start, end);
    if (isUtf8(bytes)) judged = judgePiece(Buffer.concat([bytes, lineEnd]), judged, rules);
    else {
      judged = { lines: judged.lines + 1, bad: judged.bad + 1 };
      rules.fault(judged.lines, `is not UTF-8 from its byte ${firstBadIn(bytes)} on, expected text`, true);
    }
    start = end + 1;
  }
  return judged;
}

const lineEnd = Buffer.from("\n");

/** The first invalid byte, from 1. */
function firstBadIn(bytes: Buffer): number {
  let low = 0;
  let high = bytes.length;
  // A character cut off at the end does not make a prefix invalid, so the search allows for three bytes.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const isGood = [0, 1, 2, 3].some((less) => middle - less >= 0 && isUtf8(bytes.subarray(0, middle - less)));
    if (isGood) low = middle;
    else high = middle - 1;
  }
  for (let less = 0; less <= 3; less++) if (low - less >= 0 && isUtf8(bytes.subarray(0, low - less))) return low - less + 1;
  return 1;
}
