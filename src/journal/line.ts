// line: encodes one event as one line of the journal, and checks a line by its bytes alone.
//
// A line ends in a tail of fixed width, `,"prev":"<64 hex>","crc":"<8 hex>"}`, so that it can be
// checked without parsing. The CRC finds damage in this line; `prev` chains it to the line before.
// Invariants J1 and on: journal/journal.ts.

import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Entry, Event } from "../contracts/event.ts";
import type { Hash } from "../contracts/ids.ts";
import { journalVersion } from "../contracts/journal-version.ts";
import { invariant } from "../kit/invariant.ts";
import { JournalFailure } from "./journal-failure.ts";
import { type Batch, putAscii, putByte, putNumber, reserve, toByteView } from "./batch.ts";
import type { Position } from "./journal.ts";
import { unsupported, putNamed, putText, utf8BytesPerUnitMax } from "./json-bytes.ts";

/** A line without its newline. */
export const lineBytesMax = 1024 * 1024;
/**
 * The limit of one append, and so of what a batch may have beyond the point where it stops
 * accepting more.
 */
export const appendBytesMax = 2 * lineBytesMax;
/** One write: also the most that a crash can leave torn. */
export const batchBytesMax = 2 * appendBytesMax;

const prevKey = Buffer.from(',"prev":"');
const crcKey = Buffer.from('","crc":"');
const closingBytes = Buffer.from('"}');
const hexDigits = Buffer.from("0123456789abcdef");
const crcDigits = 8;
const hashDigits = 64;
const openingBrace = "{".charCodeAt(0);
export const closingBrace = "}".charCodeAt(0);
/** `","crc":"` begins in front of the quote that closes `prev`; the CRC covers that quote too. */
const crcBytes = crcKey.length + crcDigits + closingBytes.length;
const tailBytes = prevKey.length + hashDigits + crcBytes;

export const genesis: Readonly<Position> = {
  seq: 0,
  epoch: 0,
  activeMs: 0,
  byte: 0,
  prev: "0".repeat(hashDigits),
};

/** What each line of one append has in common: who wrote it, when, and the time worked so far. */
export type Stamp = { readonly epoch: number; readonly ts: string; readonly activeMs: number };

const prevName = ',"prev":"';
const crcName = ',"crc":"';
const closing = '"}\n';
const quote = 34;
const comma = 44;
/** The byte that ends a line. */
export const lineFeed = 10;

/** Fields that the journal adds to an event. */
const reserved: ReadonlySet<string> = new Set([
  "seq",
  "journal",
  "epoch",
  "ts",
  "active_ms",
  "prev",
  "crc",
]);

/**
 * Adds an event's line to the batch, advances the position, and returns the entry as a replay will
 * read it (J2).
 */
export function addLine(batch: Batch, position: Position, stamp: Stamp, source: Event): Entry {
  const start = batch.used;
  const { epoch, ts, activeMs: active_ms } = stamp;
  const { prev } = position;
  const seq = position.seq + 1;
  const { event, actor, reason_code } = source;
  const entry: Plain = Object.assign(
    { seq, epoch, ts, active_ms, event, actor, reason_code },
    source,
  );

  putHead(batch, seq, stamp);
  const isSupported = putEvent(batch, source, entry);
  if (!isSupported) {
    batch.used = start;
    putHead(batch, seq, stamp);
    putAsJson(batch, source);
  }

  putAscii(batch, prevName);
  putAscii(batch, prev);
  putByte(batch, quote);
  refuseTooLong(batch, start);
  const crc = formatCrc(crc32(toByteView(batch.bytes, start, batch.used)));
  putAscii(batch, crcName);
  putAscii(batch, crc);
  putAscii(batch, closing);
  const lineEnd = batch.used - 1;

  position.seq = seq;
  position.epoch = epoch;
  position.activeMs = active_ms;
  position.byte += batch.used - start;
  position.prev = hash("sha256", toByteView(batch.bytes, start, lineEnd));

  // Parsing the line would guarantee J2; a copy is the same if the event has nothing that JSON
  // would change. The first line is parsed because its `journal` field is not in the copy.
  if (!isSupported || seq === 1) {
    return JSON.parse(batch.bytes.toString("utf8", start, lineEnd)) as Entry;
  }

  entry["prev"] = prev;
  entry["crc"] = crc;
  return entry as unknown as Entry;
}

function putHead(batch: Batch, seq: number, { epoch, ts, activeMs }: Stamp): void {
  putAscii(batch, '{"seq":');
  putNumber(batch, seq);
  if (seq === 1) putAscii(batch, `,"journal":${journalVersion}`);
  putAscii(batch, ',"epoch":');
  putNumber(batch, epoch);
  putAscii(batch, ',"ts":');
  putText(batch, ts);
  putAscii(batch, ',"active_ms":');
  putNumber(batch, activeMs);
}

type Plain = Record<string, unknown>;

/**
 * Puts the event's fields, name, actor and reason first, and copies nested values into the entry;
 * false if it has a value that `putNamed` does not support.
 */
function putEvent(batch: Batch, source: Event, entry: Plain): boolean {
  const { event, actor, reason_code } = source;
  if (typeof event !== "string" || typeof actor !== "string" || typeof reason_code !== "string") {
    return false;
  }

  putAscii(batch, ',"event":');
  putText(batch, event);
  putAscii(batch, ',"actor":');
  putText(batch, actor);
  putAscii(batch, ',"reason_code":');
  putText(batch, reason_code);

  for (const name of Object.keys(source)) {
    if (name === "event" || name === "actor" || name === "reason_code") continue;
    invariant(!reserved.has(name), "an event bears none of the names that the journal adds");
    const value: unknown = source[name as keyof Event];
    putByte(batch, comma);
    const copy = putNamed(batch, name, value, 0);
    if (copy === unsupported) return false;
    if (copy !== value) entry[name] = copy;
  }

  return true;
}

/** The same by JSON.stringify, for values that `putNamed` does not support. */
function putAsJson(batch: Batch, source: Event): void {
  for (const name of Object.keys(source)) {
    invariant(!reserved.has(name), "an event bears none of the names that the journal adds");
  }

  const { event, actor, reason_code, ...data } = source;
  const body = JSON.stringify({ event, actor, reason_code, ...data });
  // The body comes without its braces: the head opens, and the tail closes.
  const text = `,${body.slice(1, -1)}`;
  reserve(batch, text.length * utf8BytesPerUnitMax);
  batch.used += batch.bytes.write(text, batch.used, "utf8");
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const formatByte = (crc: number, shift: number): string => hexOfByte[(crc >>> shift) & 255] ?? "";

/** A checksum as written in a line. */
export const formatCrc = (crc: number): string =>
  formatByte(crc, 24) + formatByte(crc, 16) + formatByte(crc, 8) + formatByte(crc, 0);

/**
 * Refuses a line that will be too long with its tail. Of the checksum's part the first quote is in
 * the batch already.
 */
function refuseTooLong(batch: Batch, start: number): void {
  const bytes = batch.used - start + crcBytes - 1;
  if (bytes <= lineBytesMax) return;
  batch.used = start;
  throw new JournalFailure({ kind: "event_too_large", bytes, bytesMax: lineBytesMax });
}

/** Judges the line alone, not the chain; null if it is intact. */
export function findLineFault(bytes: Buffer, start: number, lineEnd: number): string | null {
  const length = lineEnd - start;
  if (length > lineBytesMax) return `longer than ${lineBytesMax} bytes`;
  if (length <= tailBytes || bytes[start] !== openingBrace) return "not an entry";
  if (
    !hasBytesAt(bytes, lineEnd - tailBytes, prevKey) ||
    !hasBytesAt(bytes, lineEnd - crcBytes, crcKey) ||
    !hasBytesAt(bytes, lineEnd - 2, closingBytes)
  ) {
    return "not an entry";
  }

  const crcAt = lineEnd - closingBytes.length - crcDigits;
  const crc = crc32(toByteView(bytes, start, crcAt - crcDigits));

  for (let digit = 0; digit < crcDigits; digit++) {
    if (bytes[crcAt + digit] !== hexDigits[(crc >>> (28 - 4 * digit)) & 15]) {
      return "its checksum does not match";
    }
  }

  return null;
}

/** Whether an intact line names this hash as that of the line before. */
export function continues(bytes: Buffer, lineEnd: number, prev: Hash): boolean {
  const prevAt = lineEnd - tailBytes + prevKey.length;
  for (let i = 0; i < hashDigits; i++) if (bytes[prevAt + i] !== prev.charCodeAt(i)) return false;
  return true;
}

/**
 * The JSON of an intact line without its tail, which is known already: parsing it too would take a
 * quarter longer. Overwrites the first byte of the tail.
 */
export function readLineHead(bytes: Buffer, start: number, lineEnd: number): string {
  const tailAt = findHeadEnd(lineEnd);
  bytes[tailAt] = closingBrace;
  return bytes.toString("utf8", start, tailAt + 1);
}

/** Where a line's tail begins; a brace there closes the JSON before it. */
export const findHeadEnd = (lineEnd: number): number => lineEnd - tailBytes;

/** The hash of the line before, as written in a line. */
export const readPrev = (bytes: Buffer, lineEnd: number): Hash => {
  const prevAt = lineEnd - tailBytes + prevKey.length;
  return bytes.toString("latin1", prevAt, prevAt + hashDigits);
};

/** The checksum that a line has. */
export const readCrc = (bytes: Buffer, lineEnd: number): string =>
  bytes.toString(
    "latin1",
    lineEnd - closingBytes.length - crcDigits,
    lineEnd - closingBytes.length,
  );

/** The same from a latin1 string, which is several times as fast. */
export const readCrcFromText = (text: string, lineEnd: number): string =>
  text.slice(lineEnd - closingBytes.length - crcDigits, lineEnd - closingBytes.length);

/**
 * Where the first line of these bytes ends by its tail, with or without a newline; 0 if there is no
 * tail.
 */
export function findLineEnd(bytes: Buffer): number {
  const index = bytes.indexOf(crcKey);
  return index === -1 ? 0 : index + crcBytes;
}

function hasBytesAt(bytes: Buffer, position: number, expected: Buffer): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[position + i] !== expected[i]) return false;
  return true;
}

/**
 * The version a first line claims, read before anything else: a newer format may check its lines in
 * another way. From `{"seq":1,"journal":2,…`, 2.
 */
export function parseFormatVersion(beginning: Buffer): number | null {
  const match = /^\{"seq":1,"journal":(\d{1,9})[,}]/.exec(beginning.toString("latin1"));
  return match === null ? null : Number(match[1]);
}
