// plan-tags: the `<task …>` tags of a plan and their attributes, in any order and quoting.

import { shown, type Position } from "../../../kit/finding.ts";
import { withoutCode } from "../../../documents/code-spans.ts";
import { computeHeadingLevel } from "../../../documents/fields.ts";
import type { Line } from "../../../documents/markdown-lines.ts";
import type { Report } from "../../../documents/report.ts";

const tagLinesMax = 20;
const attributesMax = 50;

/** A task as it is in the file: its attributes, and the lines between its tags. */
export type TaskBlock = {
  readonly place: Position;
  readonly attributes: ReadonlyMap<string, string>;
  readonly wave: number | null;
  readonly lines: readonly Line[];
};

/** The task blocks of a plan, and the lines outside them. Tags in code and comments are none. */
export function buildTaskBlocks(
  lines: readonly Line[],
  report: Report,
): { readonly blocks: readonly TaskBlock[]; readonly outside: readonly Line[] } {
  const blocks: TaskBlock[] = [];
  const outside: Line[] = [];
  let open: (TaskBlock & { readonly lines: Line[] }) | null = null;
  let wave: number | null = null;
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined) break;
    const tag = line.is === "text" ? /^\s*<(\/?)task(?=[\s>/]|$)/i.exec(line.text) : null;
    const place: Position = { line: line.number, column: line.text.search(/\S/) + 1 };
    if (tag === null) {
      const inner = open === null ? null : closedWithin(line);
      if (inner !== null && open !== null) {
        open.lines.push({ ...line, text: inner });
        open = null;
      } else if (open !== null) open.lines.push(line);
      else {
        wave = lineWave(line) ?? wave;
        outside.push(line);
      }
      continue;
    }
    if (tag[1] === "/") {
      if (open === null) report.error(place, "", "task_tag", "found </task> without a <task> before it");
      open = null;
      continue;
    }
    if (open !== null) unclosed(open, report);
    const read = tagFrom(lines, index, tag[0].length, report);
    open = { place, attributes: read.attributes, wave, lines: read.rest === null ? [] : [read.rest] };
    blocks.push(open);
    index = read.at;
    if (read.isClosed) open = null;
  }
  if (open !== null) unclosed(open, report);
  return { blocks, outside };
}

function unclosed({ place, attributes }: TaskBlock, report: Report): void {
  report.error(place, pathOf(attributes), "unclosed_task", "found <task> without an end, expected </task> behind it");
}

export const pathOf = (attributes: ReadonlyMap<string, string>): string => {
  const id = attributes.get("id") ?? "";
  return id === "" ? "task" : `task_${id}`;
};

/** `…</task>` at the end of a line of text. */
function closedWithin(line: Line): string | null {
  if (line.is !== "text") return null;
  const index = withoutCode(line.text).search(/<\/task\s*>\s*$/i);
  return index < 0 ? null : line.text.slice(0, index);
}

function lineWave(line: Line): number | null {
  if (computeHeadingLevel(line) === 0) return null;
  const number = /^\s*#+\s+wave\s+(\d{1,4})\b/i.exec(line.text)?.[1];
  return number === undefined ? null : Number(number);
}

/** A tag may reach over some lines; what is behind it on its last line is the task's first. */
function tagFrom(
  lines: readonly Line[],
  from: number,
  column: number,
  report: Report,
): { readonly attributes: ReadonlyMap<string, string>; readonly rest: Line | null; readonly at: number; readonly isClosed: boolean } {
  const first = lines[from];
  const place: Position = { line: first?.number ?? 1, column: column + 1 };
  let text = first?.text.slice(column) ?? "";
  for (let index = from; ; index += 1) {
    const read = findAttributes(text);
    const line = lines[index];
    if (read !== null && line !== undefined) {
      for (const name of read.twice)
        report.error(place, "", "duplicate_attribute", `found the attribute ${name} twice in one <task>, expected it once`);
      const behind = text.slice(read.end);
      const inner = behind.replace(/<\/task\s*>\s*$/i, "");
      const isClosed = read.isEmpty || inner !== behind;
      const rest =
        inner.trim() === "" ? null : { ...line, text: " ".repeat(line.text.length - Math.min(line.text.length, behind.length)) + inner };
      return { attributes: read.attributes, rest, at: index, isClosed };
    }
    const nextLine = lines[index + 1];
    if (nextLine === undefined || nextLine.is !== "text" || index - from >= tagLinesMax) {
      report.error(place, "", "task_tag", `found ${shown(text.trim())} behind <task, expected attributes such as id="03-01" and a >`);
      return { attributes: new Map(), rest: null, at: from, isClosed: false };
    }
    text += `\n${nextLine.text}`;
  }
}

/** The attributes up to the tag's `>`; null if it has not come yet, or something else is there. */
function findAttributes(text: string): {
  readonly attributes: ReadonlyMap<string, string>;
  readonly twice: readonly string[];
  readonly end: number;
  readonly isEmpty: boolean;
} | null {
  const attributes = new Map<string, string>();
  const twice: string[] = [];
  const piece = /\s*(?:(\/?>)|([A-Za-z_][\w:.-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`=]+)))?(?=[\s/>]|$))/y;
  for (let n = 0; n <= attributesMax; n += 1) {
    const match = piece.exec(text);
    if (match === null) return null;
    const [, end, name = "", double, single, bare] = match;
    if (end !== undefined) return { attributes, twice, end: piece.lastIndex, isEmpty: end === "/>" };
    const key = name.toLowerCase().replaceAll("-", "_");
    if (attributes.has(key)) twice.push(name);
    else attributes.set(key, (double ?? single ?? bare ?? "").trim());
  }
  return null;
}
