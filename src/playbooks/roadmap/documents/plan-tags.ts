// plan-tags: splits a plan into its `<task …>` blocks and parses their attributes, in any order and quoting.

import { shown, type Position } from "../../../kit/finding.ts";
import { withoutCode } from "../../../documents/code-spans.ts";
import { headingLevel } from "../../../documents/fields.ts";
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

/** The task blocks of a plan, and the lines outside of them. Tags in code and comments are ignored. */
export function parseTaskBlocks(
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
    const tagMatch = line.is === "text" ? /^\s*<(\/?)task(?=[\s>/]|$)/i.exec(line.text) : null;
    const place: Position = { line: line.number, column: line.text.search(/\S/) + 1 };
    if (tagMatch === null) {
      const inner = open === null ? null : textBeforeEnd(line);
      if (inner !== null && open !== null) {
        open.lines.push({ ...line, text: inner });
        open = null;
      } else if (open !== null) open.lines.push(line);
      else {
        wave = parseWave(line) ?? wave;
        outside.push(line);
      }
      continue;
    }
    if (tagMatch[1] === "/") {
      if (open === null) report.error(place, "", "task_tag", "found </task> without a <task> before it");
      open = null;
      continue;
    }
    if (open !== null) reportUnclosed(open, report);
    const tag = parseTag(lines, index, tagMatch[0].length, report);
    open = { place, attributes: tag.attributes, wave, lines: tag.rest === null ? [] : [tag.rest] };
    blocks.push(open);
    index = tag.lastIndex;
    if (tag.isClosed) open = null;
  }
  if (open !== null) reportUnclosed(open, report);
  return { blocks, outside };
}

function reportUnclosed({ place, attributes }: TaskBlock, report: Report): void {
  report.error(place, pathOf(attributes), "unclosed_task", "found <task> without an end, expected </task> behind it");
}

export const pathOf = (attributes: ReadonlyMap<string, string>): string => {
  const id = attributes.get("id") ?? "";
  return id === "" ? "task" : `task_${id}`;
};

/** The text before a `</task>` at the end of the line; null if there is none. */
function textBeforeEnd(line: Line): string | null {
  if (line.is !== "text") return null;
  const index = withoutCode(line.text).search(/<\/task\s*>\s*$/i);
  return index < 0 ? null : line.text.slice(0, index);
}

function parseWave(line: Line): number | null {
  if (headingLevel(line) === 0) return null;
  const number = /^\s*#+\s+wave\s+(\d{1,4})\b/i.exec(line.text)?.[1];
  return number === undefined ? null : Number(number);
}

/** A tag may span several lines. Text after it on its last line is the first line of the task. */
function parseTag(
  lines: readonly Line[],
  from: number,
  column: number,
  report: Report,
): {
  readonly attributes: ReadonlyMap<string, string>;
  readonly rest: Line | null;
  readonly lastIndex: number;
  readonly isClosed: boolean;
} {
  const first = lines[from];
  const place: Position = { line: first?.number ?? 1, column: column + 1 };
  let text = first?.text.slice(column) ?? "";
  for (let index = from; ; index += 1) {
    const parsed = parseAttributes(text);
    const line = lines[index];
    if (parsed !== null && line !== undefined) {
      for (const name of parsed.duplicates)
        report.error(place, "", "duplicate_attribute", `found the attribute ${name} twice in one <task>, expected it once`);
      const tail = text.slice(parsed.end);
      const inner = tail.replace(/<\/task\s*>\s*$/i, "");
      const isClosed = parsed.isEmpty || inner !== tail;
      const rest =
        inner.trim() === "" ? null : { ...line, text: " ".repeat(line.text.length - Math.min(line.text.length, tail.length)) + inner };
      return { attributes: parsed.attributes, rest, lastIndex: index, isClosed };
    }
    const nextLine = lines[index + 1];
    if (nextLine === undefined || nextLine.is !== "text" || index - from >= tagLinesMax) {
      report.error(place, "", "task_tag", `found ${shown(text.trim())} behind <task, expected attributes such as id="03-01" and a >`);
      return { attributes: new Map(), rest: null, lastIndex: from, isClosed: false };
    }
    text += `\n${nextLine.text}`;
  }
}

/** The attributes up to the tag's `>`; null if the tag is incomplete or invalid. */
function parseAttributes(text: string): {
  readonly attributes: ReadonlyMap<string, string>;
  readonly duplicates: readonly string[];
  readonly end: number;
  readonly isEmpty: boolean;
} | null {
  const attributes = new Map<string, string>();
  const duplicates: string[] = [];
  const attributePattern = /\s*(?:(\/?>)|([A-Za-z_][\w:.-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`=]+)))?(?=[\s/>]|$))/y;
  for (let n = 0; n <= attributesMax; n += 1) {
    const match = attributePattern.exec(text);
    if (match === null) return null;
    const [, end, name = "", double, single, bare] = match;
    if (end !== undefined) return { attributes, duplicates, end: attributePattern.lastIndex, isEmpty: end === "/>" };
    const key = name.toLowerCase().replaceAll("-", "_");
    if (attributes.has(key)) duplicates.push(name);
    else attributes.set(key, (double ?? single ?? bare ?? "").trim());
  }
  return null;
}
