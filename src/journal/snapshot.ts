// snapshot: stores the state at one position of the journal, so that opening need not read what
// came before (J6 of journal.ts).
//
// `{"snapshot":1,"seq":…,"byte":…,"prev":"…","sha256":"<of the state's JSON>","state":{…}}`
//
// A snapshot is used only if its checksum matches and the journal's line in front of `byte` has the
// hash `prev` and the number `seq`.

import { hash } from "node:crypto";
import { closeSync, fstatSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Disk } from "./disk.ts";
import { nodeDisk, readFlags, replaceFile } from "./disk.ts";
import type { Position } from "./journal.ts";
import { findLineFault, lineBytesMax, lineFeed } from "./line.ts";
import { openFile } from "./open-file.ts";

const version = 1;
const snapshotFile = "snapshot.json";
/** A larger one is neither written nor read. */
const snapshotBytesMax = 256 * 1024 * 1024;
const header =
  /^\{"snapshot":1,"seq":(\d{1,15}),"byte":(\d{1,15}),"prev":"([0-9a-f]{64})","sha256":"([0-9a-f]{64})","state":$/;
const headerBytesMax = 300;
/**
 * How much is read to find the beginning of a journal's last line, at first and by how much more
 * each time.
 */
const firstWindowBytes = 4096;
const windowGrowth = 16;

export type Snapshot = { readonly state: unknown; readonly position: Position };

/** False if it is too large to be read again: then the one before it is kept. */
export function writeSnapshot(
  disk: Disk,
  dir: string,
  position: Readonly<Position>,
  state: object,
  bytesMax = snapshotBytesMax,
): boolean {
  const json = Buffer.from(JSON.stringify(state));
  const head = `{"snapshot":${version},"seq":${position.seq},"byte":${position.byte},"prev":"${position.prev}","sha256":"${hash("sha256", json)}","state":`;
  const bytes = Buffer.concat([Buffer.from(head), json, Buffer.from("}\n")]);
  if (bytes.length > bytesMax) return false;
  replaceFile(disk, join(dir, snapshotFile), join(dir, `${snapshotFile}.tmp`), bytes);
  return true;
}

/** The last snapshot, if it is intact and of this journal; null in any doubt. */
export function readSnapshot(dir: string, journalFd: number): Snapshot | null {
  try {
    return parseSnapshot(readBytes(join(dir, snapshotFile)), journalFd);
  } catch {
    // Whatever is wrong with it, the journal has the same from its start.
    return null;
  }
}

function readBytes(path: string): Buffer {
  const fd = openFile(nodeDisk, path, readFlags);
  try {
    return fstatSync(fd).size > snapshotBytesMax ? Buffer.alloc(0) : readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function parseSnapshot(bytes: Buffer, journalFd: number): Snapshot | null {
  const key = '"state":';
  const stateAt = bytes.subarray(0, headerBytesMax).indexOf(key) + key.length;
  const [, seq, byte, prev, sha256] = header.exec(bytes.toString("latin1", 0, stateAt)) ?? [];
  if (prev === undefined || bytes.toString("latin1", bytes.length - 2) !== "}\n") return null;
  const position = findPositionAfter(journalFd, Number(byte));
  if (position === null || position.prev !== prev || position.seq !== Number(seq)) return null;
  const json = bytes.subarray(stateAt, bytes.length - 2);
  if (hash("sha256", json) !== sha256) return null;

  return { state: JSON.parse(json.toString("utf8")) as unknown, position };
}

/**
 * The journal's position after the line that ends at this byte, from that line; null if no intact
 * line ends there.
 */
export function findPositionAfter(fd: number, byte: number): Position | null {
  if (byte <= 1 || byte > fstatSync(fd).size) return null;
  for (let window = firstWindowBytes; ; window *= windowGrowth) {
    const length = Math.min(window, byte, lineBytesMax + 2);
    const bytes = Buffer.alloc(length);
    if (
      readSync(fd, bytes, 0, length, byte - length) !== length ||
      bytes[length - 1] !== lineFeed
    ) {
      return null;
    }

    const lineBreak = bytes.lastIndexOf(lineFeed, length - 2);
    if (lineBreak === -1 && length < byte && length < lineBytesMax + 2) continue;
    if (lineBreak === -1 && length < byte) return null;
    const start = lineBreak + 1;
    if (findLineFault(bytes, start, length - 1) !== null) return null;

    const line = JSON.parse(bytes.toString("utf8", start, length - 1)) as {
      seq: number;
      epoch: number;
      active_ms: number;
    };

    return {
      seq: line.seq,
      epoch: line.epoch,
      activeMs: line.active_ms,
      byte,
      prev: hash("sha256", bytes.subarray(start, length - 1)),
    };
  }
}
