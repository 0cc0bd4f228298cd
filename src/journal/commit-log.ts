// commit-log: writes and reads the records of a shared commit log, in which one sync makes lines of
// several runs durable.
//
// A record is a header line and then journal lines, byte for byte as they are in their run's own
// journal: `{"run":"<its folder, seen from the log's>","byte":<where they begin>,"bytes":<how
// many>,"crc":"<8 hex>"}` The CRC covers the header up to it, and the lines.

import { crc32 } from "node:zlib";
import { type Batch, putAscii, putNumber, reserve } from "./batch.ts";
import { batchBytesMax, formatCrc, lineFeed } from "./line.ts";

/** Lines of one run, and the byte of its journal at which they begin. */
export type LogRecord = { readonly run: string; readonly byte: number; readonly lines: Buffer };

/** What a header has after its run's name: two numbers and a checksum, with their keys. */
const headerRestBytesMax = 64;
/** A folder's path is the only part of a header without a fixed length. */
const headerBytesMax = 8 * 1024;
const header =
  /^(\{"run":("(?:[^"\\]|\\.)+"),"byte":(\d{1,15}),"bytes":(\d{1,9})),"crc":"([0-9a-f]{8})"\}$/;

/** The beginning of every header of a run, made once: as bytes, and their checksum. */
export type RunKey = { readonly bytes: Buffer; readonly crc: number };

export function createRunKey(run: string): RunKey {
  const bytes = Buffer.from(`{"run":${JSON.stringify(run)},"byte":`);
  return { bytes, crc: crc32(bytes) };
}

export function addRecord(batch: Batch, key: RunKey, byte: number, lines: Uint8Array): void {
  reserve(batch, key.bytes.length + lines.length + headerRestBytesMax);
  batch.bytes.set(key.bytes, batch.used);
  batch.used += key.bytes.length;
  const start = batch.used;
  putNumber(batch, byte);
  putAscii(batch, ',"bytes":');
  putNumber(batch, lines.length);
  const crc = crc32(lines, continueCrc(key.crc, batch.bytes, start, batch.used));
  putAscii(batch, ',"crc":"');
  putAscii(batch, formatCrc(crc));
  putAscii(batch, '"}\n');
  batch.bytes.set(lines, batch.used);
  batch.used += lines.length;
}

/** Of the polynomial that zlib uses. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/**
 * Continues a CRC-32 over a few bytes: for so few, a native call takes longer than the sum itself.
 */
function continueCrc(crcBefore: number, bytes: Uint8Array, start: number, end: number): number {
  let crc = ~crcBefore;
  for (let index = start; index < end; index++) {
    crc = (crcTable[(crc ^ (bytes[index] ?? 0)) & 255] ?? 0) ^ (crc >>> 8);
  }

  return ~crc >>> 0;
}

/**
 * The records up to the first incomplete or damaged one: what follows was never acknowledged, or is
 * older than the log's last truncation.
 */
export function findRecords(bytes: Buffer): readonly LogRecord[] {
  const records: LogRecord[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.subarray(0, start + headerBytesMax).indexOf(lineFeed, start);
    const [, head = "", run = "", byte, length, crc] =
      header.exec(end === -1 ? "" : bytes.toString("utf8", start, end)) ?? [];
    const linesBytes = Number(length);
    if (crc === undefined || linesBytes > batchBytesMax || end + 1 + linesBytes > bytes.length) {
      break;
    }

    const lines = bytes.subarray(end + 1, end + 1 + linesBytes);
    if (formatCrc(crc32(lines, crc32(head))) !== crc) break;
    records.push({ run: JSON.parse(run) as string, byte: Number(byte), lines });
    start = end + 1 + linesBytes;
  }

  return records;
}
