// read: reads a journal's lines from the store. Each is checked as a file's lines are: by checksum,
// number, and the hash of the line before.

import { hash } from "node:crypto";
import type { Entry } from "../../contracts/event.ts";
import { journalVersion } from "../../contracts/journal-version.ts";
import { damaged, JournalFailure } from "../../journal/journal-failure.ts";
import type { Position } from "../../journal/journal.ts";
import { findLineFault, parseFormatVersion } from "../../journal/line.ts";
import { acceptLine } from "../../journal/scan-lines.ts";
import type { Query, Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";

const pageLinesMax = 256;
/** As much of a first line as names its format's version. */
const versionBytes = 64;

/** Lines after a number, in order, as they were written. */
export async function* readLinesAfter(
  { query, name }: Database,
  run: string,
  seq: number,
): AsyncIterable<Buffer> {
  for (let lastSeq = seq; ;) {
    const rows = await readPage(query, name, run, lastSeq);
    for (const line of rows) yield line;
    lastSeq += rows.length;
    if (rows.length < pageLinesMax) return;
  }
}

async function readPage(
  query: Query,
  name: string,
  run: string,
  seq: number,
): Promise<readonly Buffer[]> {
  try {
    const { rows } = await query(
      `select line from autopilot.entry where run_id = $1 and seq > $2 order by seq limit ${pageLinesMax}`,
      [run, seq],
    );
    return rows.map((row) => row["line"] as Buffer);
  } catch (error) {
    throw storeFailure(error, name);
  }
}

/** Reads the lines after a position, and returns the position after the last of them. */
export async function readLines(
  database: Database,
  run: string,
  from: Readonly<Position>,
  onEntry: (entry: Entry) => void,
  onLine: (line: Buffer) => void = () => undefined,
): Promise<Position> {
  const position = { ...from };
  for await (const line of readLinesAfter(database, run, from.seq)) {
    if (position.seq === 0) refuseNewer(line);
    const fault = findLineFault(line, 0, line.length);
    if (fault !== null) throw damaged(position.seq + 1, position.byte, fault);
    onLine(line);
    onEntry(acceptLine(position, Buffer.from(line), 0, line.length, false)); // a copy, because accepting a line changes its bytes
  }

  return position;
}

/**
 * Refuses a journal of a newer format, by its first line, for a reader that doesn't begin there.
 */
export async function refuseNewerRun({ query }: Database, run: string): Promise<void> {
  const { rows } = await query(
    `select substring(line for ${versionBytes}) as start from autopilot.entry where run_id = $1 and seq = 1`,
    [run],
  );
  const start = rows[0]?.["start"];
  if (start instanceof Buffer) refuseNewer(start);
}

function refuseNewer(line: Buffer): void {
  const version = parseFormatVersion(line.subarray(0, versionBytes));
  if (version !== null && version > journalVersion) {
    throw new JournalFailure({ kind: "journal_newer", version });
  }
}

/** The position after one line, from that line; null if there is no intact line of that number. */
export async function readPositionAfter(
  { query }: Database,
  run: string,
  seq: number,
  byte: number,
): Promise<Position | null> {
  const { rows } = await query("select line from autopilot.entry where run_id = $1 and seq = $2", [
    run,
    seq,
  ]);
  const line = rows[0]?.["line"];
  if (!(line instanceof Buffer) || findLineFault(line, 0, line.length) !== null) return null;

  const stored = JSON.parse(line.toString("utf8")) as {
    readonly seq: number;
    readonly epoch: number;
    readonly active_ms: number;
  };
  return stored.seq === seq
    ? { seq, epoch: stored.epoch, activeMs: stored.active_ms, byte, prev: hash("sha256", line) }
    : null;
}
