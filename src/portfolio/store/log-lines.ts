// log-lines: finds invalid lines in a portfolio's two logs, to which other tools write too. Each is
// set aside and reported with its file and line; nothing is thrown away.

import { renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { ensureFolderBelow } from "../../project/own-folder.ts";
import { seqKey } from "../views/event-line.ts";
import type { PortfolioPaths } from "./folder.ts";
import { sha256 } from "../../project/sha256.ts";

/** The valid lines of a whole log; the others are set aside, and reported. */
export function keepSoundLines(
  paths: PortfolioPaths,
  name: string,
  text: string,
  schema: v.GenericSchema,
): { readonly kept: readonly string[]; readonly warnings: readonly string[] } {
  const kept: string[] = [];
  const invalid: InvalidLine[] = [];

  for (const { number, line, fault } of judgeLines(text)) {
    const why = fault ?? findLineFault(schema, line);
    if (why === null) kept.push(line);
    else invalid.push({ number, line, fault: why });
  }

  return { kept, warnings: invalid.length === 0 ? [] : setAsideLines(paths, name, invalid, 0) };
}

export type InvalidLine = {
  readonly number: number;
  readonly line: string;
  readonly fault: string;
};
type JudgedLine = Omit<InvalidLine, "fault"> & { readonly fault: string | null };

/**
 * The lines of a log with their numbers; bytes at its end that are no whole line come with their
 * fault.
 */
export function judgeLines(text: string): readonly JudgedLine[] {
  const lines = text.split("\n");
  const tail = lines.pop() ?? "";
  const wholeLines: JudgedLine[] = lines.map((line, index) => ({
    number: index + 1,
    line,
    fault: null,
  }));
  if (tail === "") return wholeLines;

  const fault = "the file ended in the middle of a line";
  return [...wholeLines, { number: lines.length + 1, line: tail, fault }];
}

const warningsMax = 20;

/**
 * Keeps invalid lines in a file of their own; returns a warning for each of the first, and one for
 * the rest. `linesBefore`: how many lines precede those that were judged.
 */
export function setAsideLines(
  paths: PortfolioPaths,
  name: string,
  invalid: readonly InvalidLine[],
  linesBefore: number,
): string[] {
  const text = invalid.map(({ line }) => line).join("\n");
  const fileName = name.slice(name.lastIndexOf("/") + 1);
  const kept = keepCopy(paths, fileName, `${text}\n`);

  const shown = invalid.slice(0, warningsMax);
  const warnings = shown.map(
    ({ number, fault }) => `${name}:${linesBefore + number}: set aside in ${kept}: ${fault}`,
  );

  const moreCount = invalid.length - shown.length;
  if (moreCount > 0) warnings.push(`${name}: ${moreCount} more lines like these`);
  return warnings;
}

/** Why a line is no valid one of its log; null if it is one. */
export function findLineFault(schema: v.GenericSchema, line: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "not JSON";
  }

  const parsed = v.safeParse(schema, value);
  if (!parsed.success) {
    const [{ message, received }] = parsed.issues;
    const key = v.getDotPath(parsed.issues[0]) ?? "";
    return received === "undefined" ? `${key} is missing` : `${key} ${message}`.trim();
  }

  const { meta } = value as { readonly meta?: Readonly<Record<string, unknown>> };
  return typeof meta?.[seqKey] === "number"
    ? "it says that it is ours, and the journal does not know it"
    : null;
}

/**
 * Keeps a text under a name that follows from its content, so that the same text is kept once.
 * Returns the path.
 */
export function keepCopy({ ownFolder }: PortfolioPaths, name: string, text: string): string {
  const kept = join(ensureFolderBelow(ownFolder, "kept"), `${name}.${sha256(text).slice(0, 12)}`);
  replaceFile(kept, text, 0o600);
  return kept;
}

/**
 * Replaces a file so that readers find the old or the new one. It isn't synced: after a power cut
 * it is drawn again.
 */
export function replaceFile(path: string, text: string | Uint8Array, mode = 0o644): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.new`); // hidden: others list these folders
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode, flag: "wx" }); // fails if anything has that name, such as a link to another file
  renameSync(temporary, path);
}
