// line: one event as one line of the journal, and the check of a line on its bytes alone.
//
// A line ends in a tail of fixed width, `,"prev":"<64 hex>","crc":"<8 hex>"}`, so that it can be checked without parsing.
// The CRC finds damage in this line; `prev` ties it to the line before.

import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Entry, Event } from "../contracts/event.ts";
import type { Hash } from "../contracts/ids.ts";
import { journalVersion } from "../contracts/journal-version.ts";
import { invariant } from "../kit/invariant.ts";
import { JournalFailure } from "./failure.ts";
import type { Position } from "./journal.ts";

/** A line without its newline. */
export const lineBytesMax = 1024 * 1024;
/** What one append may add, and so what a batch may hold beyond the place where it stops taking more. */
export const appendBytesMax = 2 * lineBytesMax;
/** One write: also the most that a crash can leave torn. */
export const batchBytesMax = 2 * appendBytesMax;

const prevKey = Buffer.from(',"prev":"');
const crcKey = Buffer.from('","crc":"');
const end = Buffer.from('"}');
const hexDigits = Buffer.from("0123456789abcdef");
/** `","crc":"` begins in front of the quote that closes `prev`; the CRC covers that quote too. */
const crcBytes = crcKey.length + 8 + end.length;
const tailBytes = prevKey.length + 64 + crcBytes;

export const genesis: Readonly<Position> = { seq: 0, epoch: 0, activeMs: 0, byte: 0, prev: "0".repeat(64) };

/** Lines on their way to the disk. */
export type Batch = { bytes: Buffer; used: number };

export type Stamp = { readonly epoch: number; readonly ts: string; readonly activeMs: number };

const reserved: ReadonlySet<string> = new Set(["seq", "journal", "epoch", "ts", "active_ms", "prev", "crc"]);

/** Adds an event's line to the batch, moves the position on, and returns the entry as a replay will read it (J2). */
export function addLine(batch: Batch, at: Position, stamp: Stamp, what: Event): Entry {
  const ordered = inOrder(what);
  const { epoch, ts, activeMs: active_ms } = stamp;
  const seq = at.seq + 1;
  const prev = at.prev;
  const version = seq === 1 ? `"journal":${journalVersion},` : "";
  const body = JSON.stringify(ordered);
  refuseOver(body.length);
  // The body comes without its braces: the head opens, and the tail closes.
  const head = `{"seq":${seq},${version}"epoch":${epoch},"ts":${JSON.stringify(ts)},"active_ms":${active_ms}`;
  const text = `${head},${body.slice(1, -1)},"prev":"${prev}"`;

  const start = batch.used;
  reserve(batch, text.length * 3 + crcBytes + 1);
  const { bytes } = batch;
  const crcAt = start + bytes.write(text, start, "utf8");
  const crc = hexOf(crc32(viewOf(bytes, start, crcAt)));
  const lineEnd = crcAt + bytes.write(`,"crc":"${crc}"}\n`, crcAt, "latin1") - 1;
  refuseOver(lineEnd - start);
  batch.used = lineEnd + 1;

  at.seq = seq;
  at.epoch = epoch;
  at.activeMs = active_ms;
  at.byte += batch.used - start;
  at.prev = hash("sha256", viewOf(bytes, start, lineEnd));
  // Parsing the line is the sure way to J2; a copy comes out the same where the event holds nothing that JSON would change.
  const entry = seq > 1 ? copyInto({ seq, epoch, ts, active_ms }, ordered) : null;
  if (entry === null) return JSON.parse(bytes.toString("utf8", start, lineEnd)) as Entry;
  entry["prev"] = prev;
  entry["crc"] = crc;
  return entry as unknown as Entry;
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const hexAt = (crc: number, shift: number): string => hexOfByte[(crc >>> shift) & 255] ?? "";

/** A checksum as a line bears it. */
export const hexOf = (crc: number): string => hexAt(crc, 24) + hexAt(crc, 16) + hexAt(crc, 8) + hexAt(crc, 0);

/** The event with its name, actor and reason in front. */
function inOrder(what: Event): Event {
  const names = Object.keys(what);
  for (const name of names) invariant(!reserved.has(name), "an event bears none of the names that the journal adds");
  // Nearly always they are in front already, and a copy made only to order it would cost as much as its JSON.
  if (names[0] === "event" && names[1] === "actor" && names[2] === "reason_code") return what;
  const { event, actor, reason_code, ...data } = what;
  return { event, actor, reason_code, ...data } as Event;
}

type Plain = Record<string, unknown>;
const depthMax = 8;

/** Copies all values, so that whoever made them cannot change the copy later. Null if JSON would not give each back as it took it. */
function copyInto(copy: Plain, values: object, depth = 0): Plain | null {
  if (depth > depthMax) return null;
  for (const name of Object.keys(values)) {
    if (name === "__proto__" || name === "toJSON") return null;
    const copied = copyOf((values as Plain)[name], depth);
    if (copied === undefined) return null;
    copy[name] = copied;
  }
  return copy;
}

/** Undefined stands for a value that JSON would change. */
function copyOf(value: unknown, depth: number): unknown {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined;
  if (typeof value !== "object") return undefined;
  if (Array.isArray(value)) return copyOfArray(value, depth);
  return Object.getPrototypeOf(value) === Object.prototype ? (copyInto({}, value, depth + 1) ?? undefined) : undefined;
}

function copyOfArray(values: readonly unknown[], depth: number): readonly unknown[] | undefined {
  if (depth > depthMax || Object.getPrototypeOf(values) !== Array.prototype) return undefined;
  const copy: unknown[] = [];
  for (const value of values) {
    const copied = copyOf(value, depth + 1);
    if (copied === undefined) return undefined;
    copy.push(copied);
  }
  return copy;
}

/** A part of a buffer; a plain array of bytes is made several times faster than a Buffer, and once or twice a line that counts. */
export function viewOf(bytes: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
}

function refuseOver(bytes: number): void {
  if (bytes > lineBytesMax) throw new JournalFailure({ kind: "event_too_large", bytes, bytesMax: lineBytesMax });
}

export function reserve(batch: Batch, bytes: number): void {
  const needed = batch.used + bytes;
  if (needed <= batch.bytes.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, batch.bytes.length * 2));
  batch.bytes.copy(larger, 0, 0, batch.used);
  batch.bytes = larger;
}

/** What is wrong with the line at these bytes, as far as it can tell by itself; null if it is sound. */
export function faultOf(bytes: Buffer, start: number, lineEnd: number): string | null {
  const length = lineEnd - start;
  if (length > lineBytesMax) return `longer than ${lineBytesMax} bytes`;
  if (length <= tailBytes || bytes[start] !== 123) return "not an entry";
  if (!holds(bytes, lineEnd - tailBytes, prevKey) || !holds(bytes, lineEnd - crcBytes, crcKey) || !holds(bytes, lineEnd - 2, end))
    return "not an entry";
  const crcAt = lineEnd - 10;
  const crc = crc32(viewOf(bytes, start, crcAt - 8));
  for (let digit = 0; digit < 8; digit++) {
    if (bytes[crcAt + digit] !== hexDigits[(crc >>> (28 - 4 * digit)) & 15]) return "its checksum does not match";
  }
  return null;
}

/** Whether a sound line names this hash as that of the line before. */
export function continues(bytes: Buffer, lineEnd: number, prev: Hash): boolean {
  const prevAt = lineEnd - tailBytes + prevKey.length;
  for (let i = 0; i < 64; i++) if (bytes[prevAt + i] !== prev.charCodeAt(i)) return false;
  return true;
}

/** The JSON of a sound line without its tail, which is known already: to parse it too would take a quarter longer. Spends the bytes. */
export function headOf(bytes: Buffer, start: number, lineEnd: number): string {
  const tailAt = headEnd(lineEnd);
  bytes[tailAt] = 125;
  return bytes.toString("utf8", start, tailAt + 1);
}

/** Where a line's tail begins; a brace there closes what is before it. */
export const headEnd = (lineEnd: number): number => lineEnd - tailBytes;

/** The hash of the line before, as a line bears it. */
export const prevOf = (bytes: Buffer, lineEnd: number): Hash => {
  const prevAt = lineEnd - tailBytes + prevKey.length;
  return bytes.toString("latin1", prevAt, prevAt + 64);
};

/** The checksum that a line bears. */
export const crcOf = (bytes: Buffer, lineEnd: number): string => bytes.toString("latin1", lineEnd - end.length - 8, lineEnd - end.length);

/** The same from a text of one byte a character, which is several times as quick. */
export const crcIn = (text: string, lineEnd: number): string => text.slice(lineEnd - end.length - 8, lineEnd - end.length);

/** Where the first line of these bytes ends by its tail, newline or not; 0 if there is no tail. */
export function endOfLine(bytes: Buffer): number {
  const at = bytes.indexOf(crcKey);
  return at === -1 ? 0 : at + crcBytes;
}

function holds(bytes: Buffer, at: number, expected: Buffer): boolean {
  for (let i = 0; i < expected.length; i++) if (bytes[at + i] !== expected[i]) return false;
  return true;
}

/** The version a first line claims, read before anything else of it: a newer format may check its lines in another way. */
export function versionOf(beginning: Buffer): number | null {
  const match = /^\{"seq":1,"journal":(\d{1,9})[,}]/.exec(beginning.toString("latin1"));
  return match === null ? null : Number(match[1]);
}
