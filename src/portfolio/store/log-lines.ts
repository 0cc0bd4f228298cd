// log-lines: what others left in a portfolio's two logs: lines of other tools, torn ones, and bytes that aren't a line. Each is reported with its
// file and line, and nothing is thrown away.
// Invariants D1 and on: portfolio/store/draw.ts.

import { createHash } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import * as v from "valibot";
import { ensureFolderBelow } from "../../project/own-folder.ts";
import { seqKey } from "../views/event-line.ts";
import type { PortfolioPaths } from "./folder.ts";

/** The valid lines of a whole log; the others are set aside, and reported. */
export function soundLines(
  paths: PortfolioPaths,
  name: string,
  text: string,
  schema: v.GenericSchema,
): { readonly kept: readonly string[]; readonly warnings: readonly string[] } {
  const kept: string[] = [];
  const invalid: InvalidLine[] = [];
  for (const { at, row, fault } of judgeLines(text)) {
    const why = fault ?? faultOf(schema, row);
    if (why === null) kept.push(row);
    else invalid.push({ at, row, fault: why });
  }
  return { kept, warnings: invalid.length === 0 ? [] : setAside(paths, name, invalid, 0) };
}

export type InvalidLine = { readonly at: number; readonly row: string; readonly fault: string };

/** The rows of a log with their numbers; bytes at its end that are no whole line come with their fault. */
export function judgeLines(text: string): readonly (Omit<InvalidLine, "fault"> & { readonly fault: string | null })[] {
  const rows = text.split("\n");
  const tail = rows.pop() ?? "";
  const lines = rows.map((row, index) => ({ at: index + 1, row, fault: null }));
  return tail === "" ? lines : [...lines, { at: rows.length + 1, row: tail, fault: "the file ended in the middle of a line" }];
}

const warningsMax = 20;

export function setAside(paths: PortfolioPaths, name: string, invalid: readonly InvalidLine[], before: number): string[] {
  const kept = keepCopy(paths, name.slice(name.lastIndexOf("/") + 1), `${invalid.map(({ row }) => row).join("\n")}\n`);
  const more = invalid.length > warningsMax ? [`${name}: ${invalid.length - warningsMax} more lines like these`] : [];
  return [...invalid.slice(0, warningsMax).map(({ at, fault }) => `${name}:${before + at}: set aside in ${kept}: ${fault}`), ...more];
}

/** Why a line is none of its log's; null if it is one. */
export function faultOf(schema: v.GenericSchema, row: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(row);
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
  return typeof meta?.[seqKey] === "number" ? "it says that it is ours, and the journal does not know it" : null;
}

export function keepCopy({ own }: PortfolioPaths, name: string, text: string): string {
  const kept = join(ensureFolderBelow(own, "kept"), `${name}.${createHash("sha256").update(text).digest("hex").slice(0, 12)}`);
  replace(kept, text, 0o600);
  return kept;
}

/** D3. Not synced: what a power cut loses is drawn again. */
export function replace(path: string, text: string | Uint8Array, mode = 0o644): void {
  const draft = join(dirname(path), `.${basename(path)}.${process.pid}.new`); // hidden: others list these folders
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode, flag: "wx" }); // D4: a name that is there, a link say, is never written through
  renameSync(draft, path);
}
