// commit-log: the form of a shared commit log, in which one sync makes lines of several runs durable.
//
// A record is a header line and then journal lines, byte for byte as they stand in their run's own journal:
// `{"run":"<its folder, seen from the log's>","byte":<where they begin>,"bytes":<how many>,"crc":"<8 hex>"}`
// The CRC covers the header up to it, and the lines.

import { crc32 } from "node:zlib";
import type { Batch } from "./line.ts";
import { batchBytesMax, hexOf, reserve } from "./line.ts";

export type LogRecord = { readonly run: string; readonly byte: number; readonly lines: Buffer };

/** A folder's path is the only part of a header without a fixed length. */
const headerBytesMax = 8 * 1024;
const header = /^(\{"run":("(?:[^"\\]|\\.)+"),"byte":(\d{1,15}),"bytes":(\d{1,9})),"crc":"([0-9a-f]{8})"\}$/;

/** The beginning of every header of a run, made once. */
export const runKey = (run: string): string => `{"run":${JSON.stringify(run)},"byte":`;

export function addRecord(batch: Batch, key: string, byte: number, lines: Uint8Array): void {
  const head = `${key}${byte},"bytes":${lines.length}`;
  const crc = crc32(lines, crc32(head));
  reserve(batch, head.length * 3 + lines.length + 32);
  const linesAt = batch.used + batch.bytes.write(`${head},"crc":"${hexOf(crc)}"}\n`, batch.used, "utf8");
  batch.bytes.set(lines, linesAt);
  batch.used = linesAt + lines.length;
}

/** The records up to the first that is not whole: what follows was never acknowledged, or is older than the log's last emptying. */
export function recordsIn(bytes: Buffer): readonly LogRecord[] {
  const records: LogRecord[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = bytes.subarray(0, start + headerBytesMax).indexOf(10, start);
    const [, head = "", run = "", byte, length, crc] = header.exec(end === -1 ? "" : bytes.toString("utf8", start, end)) ?? [];
    const linesBytes = Number(length);
    if (crc === undefined || linesBytes > batchBytesMax || end + 1 + linesBytes > bytes.length) break;
    const lines = bytes.subarray(end + 1, end + 1 + linesBytes);
    if (hexOf(crc32(lines, crc32(head))) !== crc) break;
    records.push({ run: JSON.parse(run) as string, byte: Number(byte), lines });
    start = end + 1 + linesBytes;
  }
  return records;
}
