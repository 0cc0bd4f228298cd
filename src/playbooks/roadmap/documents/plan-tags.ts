// plan-tags: splits a plan into its `<task …>` blocks and parses their attributes, in any order and
// quoting.

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

/**
 * The task blocks of a plan, and the lines outside of them. Tags in code and comments are ignored.
 */
export function parseTaskBlocks(
  lines: readonly Line[],
  report: Report,
): { readonly blocks: readonly TaskBlock[]; readonly outside: readonly Line[] } {
  const blocks: TaskBlock[] = [];
  const outside: Line[] = [];
  let openBlock: (TaskBlock & { readonly lines: Line[] }) | null = null;
  let wave: number | null = null;

  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index];
    if (line === undefined) break;
    const tagMatch = line.kind === "text" ? /^\s*<(\/?)task(?=[\s>/]|$)/i.exec(line.text) : null;
    const place: Position = { line: line.number, column: line.text.search(/\S/) + 1 };

    if (tagMatch === null && openBlock === null) {
      wave = parseWave(line) ?? wave;
      outside.push(line);
    } else if (tagMatch === null && openBlock !== null) {
      const lastText = textBeforeEnd(line);
      openBlock.lines.push(lastText === null ? line : { ...line, text: lastText });
      if (lastText !== null) openBlock = null;
    } else if (tagMatch?.[1] === "/") {
      if (openBlock === null) {
        report.error(place, "", "task_tag", "found </task> without a <task> before it");
      }

      openBlock = null;
    } else if (tagMatch !== null) {
      if (openBlock !== null) reportUnclosed(openBlock, report);
      const tag = parseTag(lines, index, tagMatch[0].length, report);

      const block = {
        place,
        attributes: tag.attributes,
        wave,
        lines: tag.firstLine === null ? [] : [tag.firstLine],
      };
      blocks.push(block);
      openBlock = tag.isClosed ? null : block;
      index = tag.lastIndex;
    }
  }

  if (openBlock !== null) reportUnclosed(openBlock, report);
  return { blocks, outside };
}

function reportUnclosed({ place, attributes }: TaskBlock, report: Report): void {
  report.error(
    place,
    findingPath(attributes),
    "unclosed_task",
    "found <task> without an end, expected </task> behind it",
  );
}

/** The task in the path of a finding: `task_03-01`. */
export const findingPath = (attributes: ReadonlyMap<string, string>): string => {
  const id = attributes.get("id") ?? "";
  return id === "" ? "task" : `task_${id}`;
};

/** The text before a `</task>` at the end of the line; null if there is none. */
function textBeforeEnd(line: Line): string | null {
  if (line.kind !== "text") return null;
  const index = withoutCode(line.text).search(/<\/task\s*>\s*$/i);
  return index < 0 ? null : line.text.slice(0, index);
}

/** `## Wave 2` → 2; null for other lines. */
function parseWave(line: Line): number | null {
  if (headingLevel(line) === 0) return null;
  const number = /^\s*#+\s+wave\s+(\d{1,4})\b/i.exec(line.text)?.[1];
  return number === undefined ? null : Number(number);
}

type Tag = {
  readonly attributes: ReadonlyMap<string, string>;
  /**
   * The text after the tag on its last line, which is the first line of the task; null if there is
   * none.
   */
  readonly firstLine: Line | null;
  /** The index of the tag's last line: a tag may span several. */
  readonly lastIndex: number;
  /** The task has no lines of its own: `<task … />` or `<task …>text</task>`. */
  readonly isClosed: boolean;
};

/**
 * Parses the tag that begins in the line with this index; `column`, from 0, is where its attributes
 * begin.
 */
function parseTag(lines: readonly Line[], startIndex: number, column: number, report: Report): Tag {
  const startLine = lines[startIndex];
  const place: Position = { line: startLine?.number ?? 1, column: column + 1 };
  let text = startLine?.text.slice(column) ?? "";

  for (let index = startIndex; ; index += 1) {
    const parsed = parseAttributes(text);
    const line = lines[index];
    if (parsed !== null && line !== undefined) {
      for (const name of parsed.duplicates) {
        report.error(
          place,
          "",
          "duplicate_attribute",
          `found the attribute ${name} twice in one <task>, expected it once`,
        );
      }

      const textAfterTag = text.slice(parsed.end);
      const innerText = textAfterTag.replace(/<\/task\s*>\s*$/i, "");
      const indent = " ".repeat(Math.max(0, line.text.length - textAfterTag.length)); // keeps the columns of findings

      return {
        attributes: parsed.attributes,
        firstLine: innerText.trim() === "" ? null : { ...line, text: indent + innerText },
        lastIndex: index,
        isClosed: parsed.isEmpty || innerText !== textAfterTag,
      };
    }

    const nextLine = lines[index + 1];
    if (nextLine === undefined || nextLine.kind !== "text" || index - startIndex >= tagLinesMax) {
      report.error(
        place,
        "",
        "task_tag",
        `found ${shown(text.trim())} behind <task, expected attributes such as id="03-01" and a >`,
      );

      return { attributes: new Map(), firstLine: null, lastIndex: startIndex, isClosed: false };
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
  // The end `>` or `/>`, or one attribute: id="03-01", id='03-01', id=03-01, or a name alone.
  const attributePattern =
    /\s*(?:(\/?>)|([A-Za-z_][\w:.-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`=]+)))?(?=[\s/>]|$))/y;

  for (let count = 0; count <= attributesMax; count += 1) {
    const match = attributePattern.exec(text);
    if (match === null) return null;
    const [, end, name = "", doubleQuoted, singleQuoted, bare] = match;
    if (end !== undefined) {
      return { attributes, duplicates, end: attributePattern.lastIndex, isEmpty: end === "/>" };
    }

    const key = name.toLowerCase().replaceAll("-", "_");
    if (attributes.has(key)) duplicates.push(name);
    else attributes.set(key, (doubleQuoted ?? singleQuoted ?? bare ?? "").trim());
  }

  return null;
}
