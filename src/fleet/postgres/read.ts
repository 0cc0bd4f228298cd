// read: a journal's lines out of the store, each checked as a file's are: by its checksum, tied to the line before, next in number (J4).

import { hash } from "node:crypto";
import type { Entry } from "../../contracts/event.ts";
import { journalVersion } from "../../contracts/journal-version.ts";
import { damaged, JournalFailure } from "../../journal/failure.ts";
import type { Position } from "../../journal/journal.ts";
import { findLineFault, formatVersion } from "../../journal/line.ts";
import { acceptLine } from "../../journal/scan-lines.ts";
import type { Ask, Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";

const linesAtOnce = 256;

/** Lines after a number, in order, as they were written. */
export async function* linesAfter({ ask, name }: Database, run: string, seq: number): AsyncIterable<Buffer> {
  for (let lastSeq = seq; ;) {
    const rows = await page(ask, name, run, lastSeq);
    for (const line of rows) yield line;
    lastSeq += rows.length;
    if (rows.length < linesAtOnce) return;
  }
}

async function page(ask: Ask, name: string, run: string, seq: number): Promise<readonly Buffer[]> {
  try {
    const { rows } = await ask(`select line from autopilot.entry where run_id = $1 and seq > $2 order by seq limit ${linesAtOnce}`, [
      run,
      seq,
    ]);
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
  for await (const line of linesAfter(database, run, from.seq)) {
    if (position.seq === 0) refuseNewer(line);
    const fault = findLineFault(line, 0, line.length);
    if (fault !== null) throw damaged(position.seq + 1, position.byte, fault);
    onLine(line);
    onEntry(acceptLine(position, Buffer.from(line), 0, line.length, false)); // a copy: admitting spends the bytes
  }
  return position;
}

/** The first line says which format its journal has; asked where reading does not begin there. */
export async function refuseNewerRun({ ask }: Database, run: string): Promise<void> {
  const { rows } = await ask("select substring(line for 64) as start from autopilot.entry where run_id = $1 and seq = 1", [run]);
  const start = rows[0]?.["start"];
  if (start instanceof Buffer) refuseNewer(start);
}

function refuseNewer(line: Buffer): void {
  const version = formatVersion(line.subarray(0, 64));
  if (version !== null && version > journalVersion) throw new JournalFailure({ kind: "journal_newer", version });
}

/** The position after one line, from that line; null if there is no intact line of that number. */
export async function placeAfter({ ask }: Database, run: string, seq: number, byte: number): Promise<Position | null> {
  const { rows } = await ask("select line from autopilot.entry where run_id = $1 and seq = $2", [run, seq]);
  const line = rows[0]?.["line"];
  if (!(line instanceof Buffer) || findLineFault(line, 0, line.length) !== null) return null;
  const stored = JSON.parse(line.toString("utf8")) as { readonly seq: number; readonly epoch: number; readonly active_ms: number };
  return stored.seq === seq ? { seq, epoch: stored.epoch, activeMs: stored.active_ms, byte, prev: hash("sha256", line) } : null;
}
