// validate-lines: reads a file of any size once, in one buffer, and passes its lines to the rules
// of its format.
//
// Invariants:
//   E1. Memory is the buffer: a line that does not fit is reported and skipped, however long it is.
//   E2. Nothing reaches the rules that is not UTF-8.
//   E3. A duplicate key is found without inspecting every string. The rules count the strings of
//       each parsed line; a key that stands twice is parsed into one. So while a chunk has exactly
//       two quotes for each counted string there is none, and only else is it inspected.
//   E4. A file with thousands of lines that aren't JSON isn't a log: it is reported, and the rest
//       is not read.
//   E5. What existed when reading began is judged; what came after is reported, and an unfinished
//       line is not judged.

import { isAscii, isUtf8 } from "node:buffer";
import { fstatSync, readSync } from "node:fs";
import type { LineRules } from "../../documents/line-rules.ts";
import { findHazards } from "../../kit/json-hazards.ts";

export const validatedLineBytesMax = 1_048_576;
const chunkBytes = 65_536;
const badLinesMax = 20_000;

export type LinesRead = {
  /** Lines read, including blank ones and an unfinished last one. */
  readonly lineCount: number;
  /** How many bytes were added while it was read; negative if some were removed. */
  readonly grewBytes: number;
  /** The last line is unfinished, and was judged only if nothing came after it. */
  readonly isUnended: boolean;
};

/** Progress so far: how many lines were read, and how many of them were not JSON. */
type Progress = { readonly lines: number; readonly bad: number };

/** Reads a file from its beginning to the size it has now. */
export function readLines(fd: number, rules: LineRules): LinesRead {
  const size = fstatSync(fd).size;
  const buffer = Buffer.allocUnsafeSlow(Math.min(size, chunkBytes + validatedLineBytesMax) + 1);
  let progress: Progress = { lines: 0, bad: 0 };
  let carriedBytes = 0;
  let isSkipping = false;
  let position = 0;
  while (position < size && progress.bad <= badLinesMax) {
    const read = readSync(
      fd,
      buffer,
      carriedBytes,
      Math.min(chunkBytes, size - position),
      position,
    );
    if (read === 0) break; // it was cut while we read
    position += read;
    let filledBytes = carriedBytes + read;

    if (isSkipping) {
      const end = buffer.subarray(0, filledBytes).indexOf(newline);
      if (end === -1) continue;
      isSkipping = false;
      filledBytes -= end + 1;
      buffer.copyWithin(0, end + 1);
    }

    const linesEnd = filledBytes === 0 ? 0 : buffer.lastIndexOf(newline, filledBytes - 1) + 1;
    if (linesEnd > 0) progress = judgeLines(buffer.subarray(0, linesEnd), progress, rules);
    carriedBytes = filledBytes - linesEnd;
    buffer.copyWithin(0, linesEnd, filledBytes);
    if (carriedBytes <= validatedLineBytesMax) continue;
    progress = reportTooLong(progress, rules);
    isSkipping = true;
    carriedBytes = 0;
  }

  const grewBytes = fstatSync(fd).size - size;
  const isUnended = carriedBytes > 0;

  if (progress.bad > badLinesMax) {
    rules.addFault(
      progress.lines,
      `more than ${badLinesMax} lines up to here are no JSON; the rest was not read`,
    );
  } // E4
  else if (isUnended && grewBytes <= 0) {
    progress = judgeChunk(buffer.subarray(0, carriedBytes), progress, rules);
  } // E5

  rules.finish();
  return {
    lineCount: isUnended && grewBytes > 0 ? progress.lines + 1 : progress.lines,
    grewBytes,
    isUnended,
  };
}

const newline = 10;
const quote = 34;
const backslash = 92;

function reportTooLong({ lines, bad }: Progress, rules: LineRules): Progress {
  rules.addFault(
    lines + 1,
    `is longer than ${validatedLineBytesMax} bytes, expected one JSON object; it was not read`,
    true,
  ); // E1

  return { lines: lines + 1, bad: bad + 1 };
}

/**
 * Judges whole lines. Only the first of them, part of which came with an earlier chunk, can be
 * longer than a line may be.
 */
function judgeLines(chunk: Buffer, before: Progress, rules: LineRules): Progress {
  const first = chunk.length > validatedLineBytesMax ? chunk.indexOf(newline) : 0;
  if (first <= validatedLineBytesMax) return judgeChunk(chunk, before, rules);
  return judgeChunk(Buffer.from(chunk.subarray(first + 1)), reportTooLong(before, rules), rules);
}

/** Judges whole lines, each at most as long as a line may be. */
function judgeChunk(chunk: Buffer, before: Progress, rules: LineRules): Progress {
  if (!isUtf8(chunk)) return judgeLineByLine(chunk, before, rules); // E2
  const count: ChunkCount = {
    line: before.lines,
    strings: 0,
    bad: new Set(),
    hasLoneSurrogates: false,
  };
  passToRules(chunk, count, rules);

  if (count.bad.size > 0 || count.hasLoneSurrogates || count.strings * 2 !== countQuotes(chunk)) {
    reportHazards(chunk.toString("utf8"), before.lines, count.bad, rules);
  } // E3

  return { lines: count.line, bad: before.bad + count.bad.size };
}

/**
 * What was counted in a chunk: its last line's number, the strings in its lines, and the lines that
 * are not JSON.
 */
type ChunkCount = {
  line: number;
  strings: number;
  hasLoneSurrogates: boolean;
  readonly bad: Set<number>;
};

/**
 * Passes each line to the rules. Plain ASCII is decoded in one go. A chunk with other letters is
 * halved again and again: a single one would make the whole string take two bytes for each
 * character.
 */
function passToRules(chunk: Buffer, count: ChunkCount, rules: LineRules): void {
  const isPlain = isAscii(chunk);
  const middle = isPlain ? -1 : chunk.indexOf(newline, chunk.length >> 1);
  if (middle !== -1 && middle < chunk.length - 1) {
    passToRules(chunk.subarray(0, middle + 1), count, rules);
    return passToRules(chunk.subarray(middle + 1), count, rules);
  }

  const text = chunk.toString(isPlain ? "latin1" : "utf8");
  for (let start = 0; start < text.length;) {
    const newlineAt = text.indexOf("\n", start);
    const end = newlineAt === -1 ? text.length : newlineAt;
    const counted = rules.checkLine(text.slice(start, end), ++count.line);
    if (Number.isNaN(counted)) count.bad.add(count.line);
    else count.strings += counted;

    start = end + 1;
  }

  count.hasLoneSurrogates ||= mayHaveLoneSurrogates(text);
}

/**
 * Counts the quotes that begin or end a string: all but the escaped ones. It reads every byte of a
 * file, so four at a time.
 */
function countQuotes(chunk: Buffer): number {
  const isAligned = chunk.byteOffset % 4 === 0; // otherwise every byte is counted by the second loop
  const words = isAligned
    ? new Uint32Array(chunk.buffer, chunk.byteOffset, chunk.length >> 2)
    : new Uint32Array();

  let count = 0;
  for (let index = 0; index < words.length; index++) {
    const difference = (words[index] as number) ^ quotes; // a byte of it is 0 where there is a quote
    const matches = ~(((difference & lowBits) + lowBits) | difference | lowBits); // its highest bit is 1 in just those bytes
    count += Math.imul(matches >>> 7, ones) >>> 24; // the multiplication adds the four bits up in the highest byte
  }

  for (let index = words.length << 2; index < chunk.length; index++) {
    count += chunk[index] === quote ? 1 : 0;
  }

  for (
    let index = chunk.indexOf(backslash);
    index !== -1;
    index = chunk.indexOf(backslash, index + 2)
  ) {
    if (chunk[index + 1] === quote) count--;
  }

  return count;
}

/** Four quotes, the lower seven bits of four bytes, and a one in each of four bytes. */
const quotes = 0x22222222;
const lowBits = 0x7f7f7f7f;
const ones = 0x01010101;

/**
 * Half a surrogate pair can be written only as an escape, such as `\ud83d`. A whole pair matches
 * too.
 */
const mayHaveLoneSurrogates = (text: string): boolean =>
  text.includes("\\u") && /\\u[dD][89a-fA-F]/.test(text);

/** Inspects every sound line for duplicate keys and lone surrogates. */
function reportHazards(
  text: string,
  before: number,
  bad: ReadonlySet<number>,
  rules: LineRules,
): void {
  let line = before;
  for (const lineText of text.split("\n")) {
    line++;
    if (!bad.has(line))
      for (const { message } of findHazards(lineText)) rules.addFault(line, message);
  }
}

/** Judges a chunk that isn't UTF-8 as a whole line by line: most of its lines may be sound. */
function judgeLineByLine(chunk: Buffer, before: Progress, rules: LineRules): Progress {
  let judged = before;
  for (let start = 0; start < chunk.length;) {
    const newlineAt = chunk.indexOf(newline, start);
    const end = newlineAt === -1 ? chunk.length : newlineAt;
    const bytes = chunk.subarray(start, end);
    if (isUtf8(bytes)) {
      judged = judgeChunk(Buffer.concat([bytes, lineEnd]), judged, rules);
    } else {
      judged = { lines: judged.lines + 1, bad: judged.bad + 1 };
      rules.addFault(
        judged.lines,
        `is not UTF-8 from its byte ${findFirstInvalidByte(bytes)} on, expected text`,
        true,
      );
    }

    start = end + 1;
  }

  return judged;
}

const lineEnd = Buffer.from("\n");

/** The position of the first byte that isn't UTF-8, counted from 1, by bisection. */
function findFirstInvalidByte(bytes: Buffer): number {
  let low = 0;
  let high = bytes.length;
  // A character cut off at the end does not make a prefix invalid, so the search allows for three
  // bytes.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const isGood = [0, 1, 2, 3].some(
      (cutBytes) => middle - cutBytes >= 0 && isUtf8(bytes.subarray(0, middle - cutBytes)),
    );
    if (isGood) low = middle;
    else high = middle - 1;
  }

  for (let cutBytes = 0; cutBytes <= 3; cutBytes++) {
    if (low - cutBytes >= 0 && isUtf8(bytes.subarray(0, low - cutBytes))) return low - cutBytes + 1;
  }

  return 1;
}
