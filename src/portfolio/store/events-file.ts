// events-file: reads and writes `events/events.jsonl`, to which other tools append too: finds their
// lines, and adds ours without losing any.
//
// Invariants:
//   V1. Our lines are recognised by their content, never by their place; every other line is taken
//       into the journal or set aside.
//   V2. The file counts as we left it only as far as its bytes were compared.
//   V3. Lines that are appended between our reading and our writing are found after the writing,
//       even if the file was replaced meanwhile.
// Invariants D1 and on: portfolio/store/draw.ts.

import {
  appendFileSync,
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { PortfolioEvent, portfolioFiles } from "../../contracts/portfolio/portfolio.ts";
import type { PortfolioPaths } from "./folder.ts";
import {
  findLineFault,
  judgeLines,
  replaceFile,
  setAsideLines,
  type InvalidLine,
} from "./log-lines.ts";

/**
 * How far the files follow the journal: up to which entry, and the length and checksum of the
 * events file then. `fileMark` identifies a file that ended there; it is empty if other lines
 * followed.
 */
export type DrawnCursor = {
  readonly seq: number;
  readonly bytes: number;
  readonly crc: number;
  readonly fileMark: string;
};

/** A line of another tool's, with its place for messages: `events/events.jsonl:12`. */
export type ForeignLine = { readonly place: string; readonly line: string };

/** Lines of the events file that the journal doesn't have. */
export type LinesBeyond = {
  readonly foreign: readonly ForeignLine[];
  readonly warnings: readonly string[];
  /** Every line that was taken in or set aside. */
  readonly handled: readonly string[];
  /** The file isn't as we left it before the cursor, so all of it must be compared. */
  readonly needsFullComparison: boolean;
  /** The file must be written anew. */
  readonly needsRewrite: boolean;
};

/** Makes the lines up to the cursor again, from the journal. */
type ReadDrawnLines = () => Promise<readonly string[]>;

const eventsName = portfolioFiles.events;
/** How often the file is compared again because others write to it. */
const roundsMax = 20;
/** How long, and how often, a tool is waited for that has written half a line. */
const waitMs = 20;
const waitsMax = 5;
const newline = 10;
const eventsPath = ({ pagesFolder }: PortfolioPaths): string => join(pagesFolder, eventsName);
export const joinLines = (lines: readonly string[]): Buffer =>
  Buffer.from(lines.map((line) => `${line}\n`).join(""));
const nothingBeyond: LinesBeyond = {
  foreign: [],
  warnings: [],
  handled: [],
  needsFullComparison: false,
  needsRewrite: false,
};

/**
 * Reads what is behind the cursor; all of it if what is before is not as we left it.
 * `undrawnLines`: lines made from the journal that may or may not have reached the file yet.
 */
export async function readLinesBeyond(
  paths: PortfolioPaths,
  cursor: DrawnCursor,
  undrawnLines: readonly string[],
  readDrawnLines: ReadDrawnLines,
): Promise<LinesBeyond> {
  if (readFileMark(paths) === cursor.fileMark) return nothingBeyond;
  const bytes = readSettledBytes(eventsPath(paths), 0);
  const isOurs =
    bytes.length >= cursor.bytes && crc32(bytes.subarray(0, cursor.bytes)) === cursor.crc; // V2
  if (isOurs) {
    return sortOutUnknownLines(paths, bytes.subarray(cursor.bytes), cursor.bytes, undrawnLines);
  }

  const knownLines = [...(await readDrawnLines()), ...undrawnLines];
  if (bytes.equals(joinLines(knownLines))) return { ...nothingBeyond, needsFullComparison: true };
  const beyond = sortOutUnknownLines(paths, bytes, 0, knownLines);
  const changed = `${eventsName} was ${bytes.length < cursor.bytes ? "shorter than" : "not as"} we left it; it is written anew from the journal`;

  return {
    ...beyond,
    warnings: [...beyond.warnings, changed],
    needsFullComparison: true,
    needsRewrite: true,
  };
}

/**
 * Finds lines that aren't ours (V1): unknown ones, or more of a line than we know of. Those that
 * are no events are written into the file of lines set aside. `firstByte`: where the bytes begin in
 * the file.
 */
function sortOutUnknownLines(
  paths: PortfolioPaths,
  bytes: Buffer,
  firstByte: number,
  knownLines: readonly string[],
): LinesBeyond {
  const countsByLine = new Map<string, number>();
  for (const line of knownLines) countsByLine.set(line, (countsByLine.get(line) ?? 0) + 1);
  const foreign: { readonly number: number; readonly line: string }[] = [];
  const invalid: InvalidLine[] = [];

  for (const { number, line, fault } of judgeLines(bytes.toString("utf8"))) {
    const countLeft = countsByLine.get(line) ?? 0;
    countsByLine.set(line, countLeft - 1);
    const lineFault = countLeft > 0 ? null : (fault ?? findLineFault(PortfolioEvent, line));
    if (lineFault !== null) invalid.push({ number, line, fault: lineFault });
    else if (countLeft <= 0) foreign.push({ number, line });
  }

  if (foreign.length + invalid.length === 0) return nothingBeyond;
  // Few files have such lines, so what stands before them is read only now; in latin1 each byte is
  // one character.
  const linesBefore =
    firstByte === 0
      ? 0
      : readFileSync(eventsPath(paths), "latin1").slice(0, firstByte).split("\n").length - 1;

  return {
    foreign: foreign.map(({ number, line }) => ({
      place: `${eventsName}:${linesBefore + number}`,
      line,
    })),
    warnings: invalid.length === 0 ? [] : setAsideLines(paths, eventsName, invalid, linesBefore),
    handled: [...foreign, ...invalid].map(({ line }) => line),
    needsFullComparison: false,
    needsRewrite: invalid.length > 0,
  };
}

export type EventsToDraw = {
  readonly cursor: DrawnCursor;
  readonly beyond: LinesBeyond;
  /** All lines behind the cursor, in the journal's order; `takeIn` adds to them. */
  readonly lines: readonly string[];
  readonly readDrawnLines: ReadDrawnLines;
  /** Writes the lines that were found into the journal. */
  readonly takeIn: (foundLines: LinesBeyond) => Promise<void>;
};

type EventsUpdate = EventsToDraw & {
  readonly paths: PortfolioPaths;
  /** Every line that was taken in or set aside so far. */
  readonly handled: string[];
};

/** Where a comparison starts: at the cursor, or at the file's beginning, with the lines up to there. */
type ComparisonStart = {
  readonly firstByte: number;
  /** Of everything before the first byte. */
  readonly crc: number;
  readonly linesToCursor: readonly string[];
};

type FileState = Omit<DrawnCursor, "seq">;

/**
 * Makes the events file follow the journal; returns how far it does, null if others write faster
 * than it can be compared.
 */
export async function updateEventsFile(
  paths: PortfolioPaths,
  toDraw: EventsToDraw,
): Promise<FileState | null> {
  const { cursor, beyond } = toDraw;
  const update = { ...toDraw, paths, handled: [...beyond.handled] };
  let start: ComparisonStart = { firstByte: cursor.bytes, crc: cursor.crc, linesToCursor: [] };
  if (beyond.needsFullComparison) start = await startAtBeginning(update);
  if (beyond.needsRewrite) start = await restartFromBeginning(update);

  for (let round = 0; round < roundsMax; round++) {
    const result = await compareOnce(update, start);
    if ("drawn" in result) return result.drawn;
    start = result.nextStart;
  }

  return null;
}

const startAtBeginning = async ({ readDrawnLines }: EventsUpdate): Promise<ComparisonStart> => ({
  firstByte: 0,
  crc: 0,
  linesToCursor: await readDrawnLines(),
});

/** Writes the whole file anew. */
async function restartFromBeginning(update: EventsUpdate): Promise<ComparisonStart> {
  const path = eventsPath(update.paths);
  const start = await startAtBeginning(update);
  const oldFile = openSync(path, "r");
  try {
    replaceFile(path, joinLines(listWanted(update, start)));
    await takeInUnknown(update, readFileSync(oldFile), start); // V3
  } finally {
    closeSync(oldFile);
  }

  return start;
}

/** Compares the file with the journal, and mends it if it differs: then it is compared again. */
async function compareOnce(
  update: EventsUpdate,
  start: ComparisonStart,
): Promise<{ readonly drawn: FileState } | { readonly nextStart: ComparisonStart }> {
  const path = eventsPath(update.paths);
  const fileMark = readFileMark(update.paths);
  const present = readSettledBytes(path, start.firstByte);
  const wanted = joinLines(listWanted(update, start));
  const difference = compareBytes(present, wanted);

  if (difference === "same") {
    const drawn = {
      bytes: start.firstByte + wanted.length,
      crc: crc32(wanted, start.crc),
      fileMark: present.length === wanted.length ? fileMark : "",
    };
    return { drawn };
  }

  if (difference === "append") {
    appendFileSync(path, wanted.subarray(present.length)); // D3
    return { nextStart: start }; // V3
  }

  const { needsRewrite } = await takeInUnknown(update, present, start);
  const ordered = joinLines(listWanted(update, start));
  // The same lines in another order are put in order where they stand, so that nothing that is
  // appended meanwhile is lost.
  if (needsRewrite || compareBytes(present, ordered) !== "overwrite") {
    return { nextStart: await restartFromBeginning(update) };
  }

  writeAt(path, ordered, start.firstByte);
  return { nextStart: start };
}

const listWanted = (
  { lines }: EventsUpdate,
  { linesToCursor }: ComparisonStart,
): readonly string[] => [...linesToCursor, ...lines];

async function takeInUnknown(
  update: EventsUpdate,
  bytes: Buffer,
  start: ComparisonStart,
): Promise<LinesBeyond> {
  const wantedLines = listWanted(update, start);
  const linesInJournal = new Set(wantedLines); // what was taken in is among them, if nothing in it had to be redacted
  const otherHandled = update.handled.filter((line) => !linesInJournal.has(line));
  const knownLines = [...wantedLines, ...otherHandled];
  const foundLines = sortOutUnknownLines(update.paths, bytes, start.firstByte, knownLines);
  update.handled.push(...foundLines.handled);
  await update.takeIn(foundLines);

  return foundLines;
}

/**
 * What makes the file's bytes the wanted ones: nothing, though others' lines may follow them; the
 * rest of them; others of the same length; or all of them anew.
 */
function compareBytes(
  present: Buffer,
  wanted: Buffer,
): "same" | "append" | "overwrite" | "rewrite" {
  if (present.subarray(0, wanted.length).equals(wanted)) return "same";
  if (wanted.subarray(0, present.length).equals(present)) return "append";
  return present.length === wanted.length ? "overwrite" : "rewrite";
}

/** Which file this is, and how it was left: its length, and when it was last written to. */
function readFileMark(paths: PortfolioPaths): string {
  const { ino, size, mtimeNs } = statSync(eventsPath(paths), { bigint: true });
  return `${ino}:${size}:${mtimeNs}`;
}

/**
 * Reads the file from a position on. If its last line is incomplete, waits a moment for the tool
 * that may be writing it.
 */
export function readSettledBytes(path: string, firstByte: number): Buffer {
  for (let waits = 0; ; waits++) {
    const bytes = readBytesFrom(path, firstByte);
    if (bytes.length === 0 || bytes.at(-1) === newline || waits === waitsMax) return bytes;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs); // sleeps without giving up the lock
  }
}

function readBytesFrom(path: string, firstByte: number): Buffer {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - firstByte));
    let doneBytes = 0;
    for (let read = -1; read !== 0 && doneBytes < bytes.length; doneBytes += read) {
      read = readSync(fd, bytes, doneBytes, bytes.length - doneBytes, firstByte + doneBytes);
    }

    return bytes.subarray(0, doneBytes);
  } finally {
    closeSync(fd);
  }
}

function writeAt(path: string, bytes: Buffer, firstByte: number): void {
  const fd = openSync(path, "r+");
  try {
    for (let doneBytes = 0; doneBytes < bytes.length;) {
      doneBytes += writeSync(fd, bytes, doneBytes, bytes.length - doneBytes, firstByte + doneBytes);
    }
  } finally {
    closeSync(fd);
  }
}
