// edit-index: writes a git index without a process: a new one, or one with a few changed entries
// that keeps what it says of all other files.
//
// An index (`gitformat-index`): a head, entries in the order of their paths, extensions, and a hash
// of all of it.

import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync } from "node:fs";
import { type BytePath, bytePathToBytes, listParentFolders, toDiskPath } from "./byte-path.ts";
import { gitlinkMode, type ObjectFormat, type TreeEntry } from "./tree.ts";

export type IndexChanges = {
  readonly changed: readonly (readonly [BytePath, TreeEntry])[];
  /** Files, and folders with all that is in them. */
  readonly deleted: readonly BytePath[];
  /** The folder whose files the changed entries describe. */
  readonly files: string;
};

const headBytes = 12;
/** The oldest version, which every git reads. */
const plainVersion = 2;
const statBytes = 40;
const entryAlignment = 8;
const flagBytes = 2;
const extendedFlag = 0x4000;
const nameLengthMax = 0xfff;
const hashBytes = { sha1: 20, sha256: 32 } as const;

type Row = { readonly path: BytePath; readonly bytes: Buffer };

/** The index with these changes; null if it is of a kind that git itself must edit. */
export function editIndex(
  index: Buffer,
  format: ObjectFormat,
  { changed, deleted, files }: IndexChanges,
): Buffer | null {
  const rows = readRows(index, format);
  if (rows === null) return null;
  const gone = new Set<BytePath>([...deleted, ...changed.map(([path]) => path)]);
  // A file may be where a folder is now.
  const folders = new Set<BytePath>(changed.flatMap(([path]) => listParentFolders(path)));
  const kept = rows.filter(
    ({ path }) =>
      !gone.has(path) &&
      !folders.has(path) &&
      !listParentFolders(path).some((folder) => gone.has(folder)),
  );

  const version = index.readUInt32BE(4);
  return concatRows(format, version, [...kept, ...composeRows(changed, files)]);
}

/** The index of exactly these entries, which are in the folder `files`. */
export const composeIndex = (
  format: ObjectFormat,
  entries: IndexChanges["changed"],
  files: string,
): Buffer => concatRows(format, plainVersion, composeRows(entries, files));

const composeRows = (entries: IndexChanges["changed"], files: string): readonly Row[] =>
  entries.map(([path, entry]) => {
    const stat =
      entry.mode === gitlinkMode ? null : lstatSync(toDiskPath(files, path), { bigint: true });
    return { path, bytes: composeRow(path, entry, stat) };
  });

function concatRows(format: ObjectFormat, version: number, rows: readonly Row[]): Buffer {
  const sorted = rows.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const head = Buffer.alloc(headBytes);
  head.write("DIRC", "latin1");
  head.writeUInt32BE(version, 4);
  head.writeUInt32BE(sorted.length, 8);
  const body = Buffer.concat([head, ...sorted.map(({ bytes }) => bytes)]);

  return Buffer.concat([body, createHash(format).update(body).digest()]);
}

/** The entries; null for a version that shortens paths, or for an index that lies in several files. */
function readRows(index: Buffer, format: ObjectFormat): readonly Row[] | null {
  const version = index.length < headBytes ? 0 : index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3)) return null;
  const rows: Row[] = [];
  let at = headBytes;

  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + statBytes + hashBytes[format];
    const isExtended = (index.readUInt16BE(flagsAt) & extendedFlag) !== 0;
    const pathAt = flagsAt + (isExtended ? 2 : 1) * flagBytes;
    const end = index.indexOf(0, pathAt);
    const next = at + alignEntry(end - at);
    const path = index.toString("latin1", pathAt, end) as BytePath;
    rows.push({ path, bytes: index.subarray(at, next) });
    at = next;
  }

  return hasRequiredExtension(index, at, index.length - hashBytes[format]) ? null : rows;
}

/** Whether there is an extension that changes what the entries mean: its name is in small letters. */
function hasRequiredExtension(index: Buffer, start: number, end: number): boolean {
  for (let at = start; at + 8 <= end; at += 8 + index.readUInt32BE(at + 4)) {
    if (index.readUInt8(at) >= 0x61) return true;
  }

  return false;
}

/** An entry ends with one to eight zeros. */
const alignEntry = (bytes: number): number =>
  (Math.floor(bytes / entryAlignment) + 1) * entryAlignment;

function composeRow(path: BytePath, { mode, sha }: TreeEntry, stat: BigIntStats | null): Buffer {
  const name = bytePathToBytes(path);
  const hash = Buffer.from(sha, "hex");
  const pathAt = statBytes + hash.length + flagBytes;
  const row = Buffer.alloc(alignEntry(pathAt + name.length));
  const toWord = (value: bigint): number => Number(BigInt.asUintN(32, value));
  const toTime = (ns: bigint): readonly number[] => [
    toWord(ns / 1_000_000_000n),
    toWord(ns % 1_000_000_000n),
  ];

  const words =
    stat === null
      ? [0, 0, 0, 0, 0, 0, Number.parseInt(mode, 8), 0, 0, 0]
      : [
          ...toTime(stat.ctimeNs),
          ...toTime(stat.mtimeNs),
          toWord(stat.dev),
          toWord(stat.ino),
          Number.parseInt(mode, 8),
          toWord(stat.uid),
          toWord(stat.gid),
          toWord(stat.size),
        ];
  for (const [at, word] of words.entries()) row.writeUInt32BE(word, at * 4);
  hash.copy(row, statBytes);
  row.writeUInt16BE(Math.min(name.length, nameLengthMax), statBytes + hash.length);
  name.copy(row, pathAt);

  return row;
}
