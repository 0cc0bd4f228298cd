// log-lines: what others left in a portfolio's two logs: lines of other tools, torn ones, and bytes that aren't a line. Each is reported with its
// file and line, and nothing is thrown away.
// Invariants D1 and on: portfolio/store/draw.ts.

import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { PortfolioEvent, portfolioFiles } from "../../contracts/portfolio.ts";
import { folderBelow } from "../../project/own-folder.ts";
import { seqKey } from "../views/event-line.ts";
import type { PortfolioPaths } from "./folder.ts";

/** How far the files follow the journal: up to which entry, and how long the events file was then. */
export type Cursor = { readonly seq: number; readonly bytes: number };

/** A line of another tool's, with its place for messages: `events/events.jsonl:12`. */
export type ForeignLine = { readonly place: string; readonly row: string };

/** What is in the events file behind what we know of. */
export type Beyond = {
  readonly foreign: readonly ForeignLine[];
  readonly warnings: readonly string[];
  /** How many of the lines to draw stand there already. */
  readonly there: number;
  /** The file is not ours as we left it, so it is written again. */
  readonly isTorn: boolean;
};

const eventsFile = portfolioFiles.events;

/** Reads what is behind the cursor: lines of the journal that were not noted as drawn, another tool's, or bytes that aren't a line. */
export function linesBeyond(paths: PortfolioPaths, cursor: Cursor, undrawn: readonly string[]): Beyond {
  const path = join(paths.shown, eventsFile);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === cursor.bytes) return { foreign: [], warnings: [], there: 0, isTorn: false };
  const shorter = `${eventsFile} was shorter than we left it; it is written anew from the journal`;
  if (size < cursor.bytes) return { foreign: [], warnings: [shorter], there: 0, isTorn: true };
  const known = new Set(undrawn);
  const before = (): number => (cursor.bytes === 0 ? 0 : textFrom(path, 0, cursor.bytes).split("\n").length - 1);
  const read = judgeLines(textFrom(path, cursor.bytes, size), (row) => (known.has(row) ? null : faultOf(PortfolioEvent, row)));
  const foreign: ForeignLine[] = [];
  const hasMore = read.wrong.length > 0 || read.sound.some(({ row }) => !known.has(row));
  const lineBefore = hasMore ? before() : 0;
  let there = 0;
  let isInOrder = true;
  for (const { at, row } of read.sound) {
    if (known.has(row)) isInOrder = isInOrder && foreign.length === 0 && undrawn[there++] === row;
    else foreign.push({ place: `${eventsFile}:${lineBefore + at}`, row });
  }
  const warnings = read.wrong.length === 0 ? [] : setAside(paths, eventsFile, read.wrong, lineBefore);
  // The file has the journal's order: what is not in the journal yet may only stand behind all that is.
  const isMixed = !isInOrder || (foreign.length > 0 && undrawn.length > there);
  if (isMixed)
    warnings.push(`${eventsFile} had lines of another tool between ours; it is written anew in the journal's order, with all of them`);
  return { foreign, warnings, there: there + foreign.length, isTorn: read.wrong.length > 0 || isMixed };
}

/** The valid lines of a whole log; the others are set aside, and reported. */
export function soundLines(
  paths: PortfolioPaths,
  name: string,
  text: string,
  schema: v.GenericSchema,
): { readonly kept: readonly string[]; readonly warnings: readonly string[] } {
  const { sound, wrong } = judgeLines(text, (row) => faultOf(schema, row));
  return { kept: sound.map(({ row }) => row), warnings: wrong.length === 0 ? [] : setAside(paths, name, wrong, 0) };
}

type Wrong = { readonly at: number; readonly row: string; readonly fault: string };

function judgeLines(
  text: string,
  fault: (row: string) => string | null,
): { readonly sound: readonly Omit<Wrong, "fault">[]; readonly wrong: readonly Wrong[] } {
  const rows = text.split("\n");
  const tail = rows.pop() ?? "";
  const sound: Omit<Wrong, "fault">[] = [];
  const wrong: Wrong[] = [];
  for (const [at, row] of rows.entries()) {
    const why = fault(row);
    if (why === null) sound.push({ at: at + 1, row });
    else wrong.push({ at: at + 1, row, fault: why });
  }
  if (tail !== "") wrong.push({ at: rows.length + 1, row: tail, fault: "the file ended in the middle of a line" });
  return { sound, wrong };
}

const warningsMax = 20;

function setAside(paths: PortfolioPaths, name: string, wrong: readonly Wrong[], before: number): string[] {
  const kept = keepCopy(paths, name.slice(name.lastIndexOf("/") + 1), `${wrong.map(({ row }) => row).join("\n")}\n`);
  const more = wrong.length > warningsMax ? [`${name}: ${wrong.length - warningsMax} more lines like these`] : [];
  return [...wrong.slice(0, warningsMax).map(({ at, fault }) => `${name}:${before + at}: set aside in ${kept}: ${fault}`), ...more];
}

/** Why a line is none of its log's; null if it is one. */
function faultOf(schema: v.GenericSchema, row: string): string | null {
  let said: unknown;
  try {
    said = JSON.parse(row);
  } catch {
    return "not JSON";
  }
  const read = v.safeParse(schema, said);
  if (!read.success) return `${v.getDotPath(read.issues[0]) ?? ""} ${read.issues[0].message}`.trim();
  const { meta } = said as { readonly meta?: Readonly<Record<string, unknown>> };
  return typeof meta?.[seqKey] === "number" ? "it says that it is ours, and the journal does not know it" : null;
}

function textFrom(path: string, from: number, to: number): string {
  const fd = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(to - from);
    let read = 0;
    while (read < bytes.length) {
      const n = readSync(fd, bytes, read, bytes.length - read, from + read);
      if (n === 0) break;
      read += n;
    }
    return bytes.toString("utf8", 0, read);
  } finally {
    closeSync(fd);
  }
}

export function keepCopy({ own }: PortfolioPaths, name: string, text: string): string {
  const kept = join(folderBelow(own, "kept"), `${name}.${createHash("sha256").update(text).digest("hex").slice(0, 12)}`);
  replace(kept, text, 0o600);
  return kept;
}

/** D3. Not synced: what a power cut loses is drawn again. */
export function replace(path: string, text: string, mode = 0o644): void {
  const draft = `${path}.${process.pid}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode, flag: "wx" }); // D4: a name that is there, a link say, is never written through
  renameSync(draft, path);
}
