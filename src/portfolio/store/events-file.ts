// events-file: reads and writes `events/events.jsonl`, which other tools append to as well: finds their lines, and adds ours without losing any.
//
// Invariants:
//   V1. What is ours is known by its content, never by its place: whatever else is found is taken into the journal or set aside.
//   V2. Nothing is believed to be as we left it beyond the bytes that we have compared.
//   V3. What came between our reading and our writing is found after the writing, also in a file that was replaced meanwhile.
// Invariants D1 and on: portfolio/store/draw.ts.

import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { PortfolioEvent, portfolioFiles } from "../../contracts/portfolio.ts";
import type { PortfolioPaths } from "./folder.ts";
import { faultOf, judgeLines, replace, setAside, type InvalidLine } from "./log-lines.ts";

/**
 * How far the files follow the journal: up to which entry, how long the events file was then, the checksum of that, and which file it was when
 * nothing stood behind it.
 */
export type Cursor = { readonly seq: number; readonly bytes: number; readonly crc: number; readonly file: string };

/** A line of another tool's, with its place for messages: `events/events.jsonl:12`. */
export type ForeignLine = { readonly place: string; readonly row: string };

/** What is in the events file that the journal does not have. */
export type Beyond = {
  readonly foreign: readonly ForeignLine[];
  readonly warnings: readonly string[];
  /** Every row that was taken in or set aside. */
  readonly handled: readonly string[];
  /** What is before the cursor is not as we left it, so the cursor says nothing. */
  readonly isWhole: boolean;
  /** The file has to be written anew. */
  readonly isTorn: boolean;
};

/** The lines up to the cursor, made again. */
type DrawnLines = () => Promise<readonly string[]>;

const eventsFile = portfolioFiles.events;
const eventsPath = ({ shown }: PortfolioPaths): string => join(shown, eventsFile);
export const joinLines = (lines: readonly string[]): Buffer => Buffer.from(lines.map((line) => `${line}\n`).join(""));
const nothing: Beyond = { foreign: [], warnings: [], handled: [], isWhole: false, isTorn: false };

/** Reads what is behind the cursor; all of it if what is before is not as we left it. `undrawn`: lines that may stand there or not. */
export async function linesBeyond(
  paths: PortfolioPaths,
  cursor: Cursor,
  undrawn: readonly string[],
  drawnLines: DrawnLines,
): Promise<Beyond> {
  if (fileMark(paths) === cursor.file) return nothing;
  const bytes = readFrom(eventsPath(paths), 0);
  const isOurs = bytes.length >= cursor.bytes && crc32(bytes.subarray(0, cursor.bytes)) === cursor.crc; // V2
  if (isOurs) return notOurs(paths, bytes.subarray(cursor.bytes), cursor.bytes, undrawn);
  const known = [...(await drawnLines()), ...undrawn];
  if (bytes.equals(joinLines(known))) return { ...nothing, isWhole: true };
  const beyond = notOurs(paths, bytes, 0, known);
  const changed = `${eventsFile} was ${bytes.length < cursor.bytes ? "shorter than" : "not as"} we left it; it is written anew from the journal`;
  return { ...beyond, warnings: [...beyond.warnings, changed], isWhole: true, isTorn: true };
}

/** V1. Rows that are there more often than they are known are not ours. `from`: where the bytes stand in the file. */
function notOurs(paths: PortfolioPaths, bytes: Buffer, from: number, knownRows: readonly string[]): Beyond {
  const known = new Map<string, number>();
  for (const row of knownRows) known.set(row, (known.get(row) ?? 0) + 1);
  const foreign: { readonly at: number; readonly row: string }[] = [];
  const invalid: InvalidLine[] = [];
  for (const { at, row, fault } of judgeLines(bytes.toString("utf8"))) {
    const countLeft = known.get(row) ?? 0;
    known.set(row, countLeft - 1);
    const why = countLeft > 0 ? null : (fault ?? faultOf(PortfolioEvent, row));
    if (why !== null) invalid.push({ at, row, fault: why });
    else if (countLeft <= 0) foreign.push({ at, row });
  }
  if (foreign.length + invalid.length === 0) return nothing;
  const before = from === 0 ? 0 : readFileSync(eventsPath(paths), "latin1").slice(0, from).split("\n").length - 1;
  return {
    foreign: foreign.map(({ at, row }) => ({ place: `${eventsFile}:${before + at}`, row })),
    warnings: invalid.length === 0 ? [] : setAside(paths, eventsFile, invalid, before),
    handled: [...foreign, ...invalid].map(({ row }) => row),
    isWhole: false,
    isTorn: invalid.length > 0,
  };
}

const roundsMax = 20;

export type EventsToDraw = {
  readonly cursor: Cursor;
  readonly beyond: Beyond;
  /** All lines behind the cursor, in the journal's order; `takeIn` adds to them. */
  readonly lines: readonly string[];
  readonly drawnLines: DrawnLines;
  readonly takeIn: (found: Beyond) => Promise<void>;
};

/** Brings the events file up to the journal; null if others write faster than we can look. */
export async function drawEvents(
  paths: PortfolioPaths,
  { cursor, beyond, lines, drawnLines, takeIn }: EventsToDraw,
): Promise<Omit<Cursor, "seq"> | null> {
  const path = eventsPath(paths);
  const handled = [...beyond.handled];
  let { isWhole } = beyond;
  const start = (): { readonly bytes: number; readonly crc: number } => (isWhole ? { bytes: 0, crc: 0 } : cursor);
  const wantedLines = async (): Promise<readonly string[]> => (isWhole ? [...(await drawnLines()), ...lines] : lines);
  const take = async (bytes: Buffer, known: readonly string[]): Promise<Beyond> => {
    const isKnown = new Set(known); // what was taken in is in the journal, if nothing in it had to be redacted
    const found = notOurs(paths, bytes, start().bytes, [...known, ...handled.filter((row) => !isKnown.has(row))]);
    handled.push(...found.handled);
    await takeIn(found);
    return found;
  };
  const writeAnew = async (): Promise<void> => {
    isWhole = true;
    const known = await wantedLines();
    const before = openSync(path, "r");
    try {
      replace(path, joinLines(known));
      await take(readFileSync(before), known); // V3
    } finally {
      closeSync(before);
    }
  };
  if (beyond.isTorn) await writeAnew();
  for (let round = 0; round < roundsMax; round++) {
    const mark = fileMark(paths);
    const { bytes: from, crc } = start();
    const present = readFrom(path, from);
    const known = await wantedLines();
    const wanted = joinLines(known);
    if (present.subarray(0, wanted.length).equals(wanted))
      return { bytes: from + wanted.length, crc: crc32(wanted, crc), file: present.length === wanted.length ? mark : "" };
    if (wanted.subarray(0, present.length).equals(present)) {
      appendFileSync(path, wanted.subarray(present.length)); // D3
      continue; // V3
    }
    const { isTorn } = await take(present, known);
    const ordered = joinLines(await wantedLines());
    // The same lines in another order are put in order where they stand, so that nothing that is appended meanwhile is lost.
    if (!isTorn && ordered.length === present.length) writeAt(path, ordered, from);
    else await writeAnew();
  }
  return null;
}

/** Which file this is, and how it was left: its length, and when it was last written to. */
function fileMark(paths: PortfolioPaths): string {
  const { ino, size, mtimeNs } = statSync(eventsPath(paths), { bigint: true });
  return `${ino}:${size}:${mtimeNs}`;
}

const waitMs = 20;
const waitsMax = 5;

/** A line of another tool's that is being written is waited for. */
function readFrom(path: string, from: number): Buffer {
  for (let waits = 0; ; waits++) {
    const bytes = bytesFrom(path, from);
    if (bytes.length === 0 || bytes.at(-1) === 10 || waits === waitsMax) return bytes;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
  }
}

function bytesFrom(path: string, from: number): Buffer {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - from));
    let done = 0;
    for (let read = -1; read !== 0 && done < bytes.length; done += read) read = readSync(fd, bytes, done, bytes.length - done, from + done);
    return bytes.subarray(0, done);
  } finally {
    closeSync(fd);
  }
}

function writeAt(path: string, bytes: Buffer, from: number): void {
  const fd = openSync(path, "r+");
  try {
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, from + done);
  } finally {
    closeSync(fd);
  }
}
