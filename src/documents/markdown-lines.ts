// markdown-lines: splits a Markdown text into lines, and marks fenced code and HTML comments.
//
// Invariants:
//   M1. The time it takes is linear in the size of the text: every line is read once, and at most
//       `lineCharactersMax` of it.
//   M2. Comments are replaced by spaces, so that columns stay the same as in the file.
//   M3. A fence or comment that is never closed is an error, since it would hide the rest of the
//       file.

import type { Finding, Position } from "../kit/finding.ts";
import { withoutCode } from "./code-spans.ts";
import { openReport, type Report } from "./report.ts";

export const lineCharactersMax = 20_000;
export const linesMax = 100_000;

export type Line = {
  readonly number: number;
  readonly text: string;
  /** Columns of white space before the text, a tab reaching to the next multiple of four. */
  readonly indent: number;
  /** `comment`: the line has nothing but a comment, and does not count as blank. */
  readonly kind: "text" | "code" | "comment";
};

type Fence = Position & { readonly mark: string; readonly length: number };

export function parseMarkdownLines(
  file: string,
  source: string,
): { readonly lines: readonly Line[]; readonly findings: readonly Finding[] } {
  const report = openReport(file);
  const reader = new LineReader(report);
  for (const line of splitLines(source, report)) reader.read(line);
  reader.end();

  return { lines: reader.lines, findings: report.findings() };
}

function splitLines(source: string, report: Report): readonly string[] {
  const sourceLines = source.replace(/^\ufeff/, "").split(/\r\n|\n|\r/, linesMax + 1);
  if (sourceLines.length > linesMax) {
    sourceLines.pop();
    report.error(
      { line: linesMax, column: 1 },
      "",
      "too_many_lines",
      `found more than ${linesMax} lines, expected fewer; the rest is not read`,
    );
  }

  return sourceLines;
}

/** Reads one line after the other, each inside of a fence, of a comment, or of neither. */
class LineReader {
  readonly lines: Line[] = [];
  readonly #report: Report;
  #fence: Fence | null = null;
  /** Where the comment begins that the next line is in. */
  #comment: Position | null = null;

  constructor(report: Report) {
    this.#report = report;
  }

  read(sourceLine: string): void {
    const number = this.lines.length + 1;
    if (sourceLine.length > lineCharactersMax) {
      const message = `found a line of ${sourceLine.length} characters, expected at most ${lineCharactersMax}`;
      const place = { line: number, column: lineCharactersMax + 1 };
      this.#report.error(place, "", "line_too_long", message);
    }

    const text = sourceLine.slice(0, lineCharactersMax); // M1
    if (this.#isCode(text, number)) this.#add(text, "code");
    else this.#readText(text, number);
  }

  /** Whether the line is in a fence, or opens or closes one. */
  #isCode(text: string, number: number): boolean {
    if (this.#fence !== null) {
      if (closesFence(text, this.#fence)) this.#fence = null;
      return true;
    }

    if (this.#comment === null) this.#fence = parseFence(text, number);
    return this.#fence !== null;
  }

  #readText(text: string, number: number): void {
    const {
      text: visible,
      isInside,
      openedAt,
    } = withoutComments(text, {
      isInside: this.#comment !== null,
    });

    if (openedAt !== null) this.#comment = { line: number, column: openedAt + 1 };
    else if (!isInside) this.#comment = null;

    const hasComment = isInside || visible !== text;
    this.#add(visible, hasComment && visible.trim() === "" ? "comment" : "text");
  }

  #add(text: string, kind: Line["kind"]): void {
    this.lines.push({ number: this.lines.length + 1, text, indent: measureIndent(text), kind });
  }

  /** Reports what was never closed (M3). */
  end(): void {
    if (this.#fence !== null) {
      const closing = this.#fence.mark.repeat(this.#fence.length);
      const message = `found a code fence that never ends, expected a closing ${closing}`;
      this.#report.error(this.#fence, "", "unclosed_fence", message);
    }

    if (this.#comment !== null) {
      const message = "found a comment that never ends, expected a closing -->";
      this.#report.error(this.#comment, "", "unclosed_comment", message);
    }
  }
}

function measureIndent(text: string): number {
  let columns = 0;
  for (const letter of text) {
    if (letter === "\t") columns += 4 - (columns % 4);
    else if (letter === " " || letter === "\u00a0") columns += 1;
    else break;
  }

  return columns;
}

function parseFence(text: string, line: number): Fence | null {
  const match = /^\s*(`{3,}|~{3,})/.exec(text);
  const marks = match?.[1];
  if (match === null || marks === undefined) return null;
  const mark = marks.charAt(0);
  if (mark === "`" && text.includes("`", match[0].length)) return null; // a piece of inline code

  return { line, column: match[0].length - marks.length + 1, mark, length: marks.length };
}

function closesFence(text: string, { mark, length }: Fence): boolean {
  const trimmed = text.trim();
  return trimmed.length >= length && trimmed === mark.repeat(trimmed.length);
}

/**
 * The line with spaces in the place of comments (M2). `openedAt`: where a comment starts that does
 * not end on this line. `isInside`: whether the next line starts within one.
 */
function withoutComments(
  text: string,
  start: { readonly isInside: boolean },
): { readonly text: string; readonly isInside: boolean; readonly openedAt: number | null } {
  if (!start.isInside && !text.includes("<!--")) return { text, isInside: false, openedAt: null };
  const searchable = start.isInside ? text : withoutCode(text);
  const parts: string[] = [];
  let { isInside } = start;
  let openedAt: number | null = null;
  let position = 0;
  while (position < text.length) {
    const next = isInside ? text.indexOf("-->", position) : searchable.indexOf("<!--", position);
    const markEnd = isInside ? next + "-->".length : next;
    const end = next < 0 ? text.length : markEnd;
    parts.push(isInside ? " ".repeat(end - position) : text.slice(position, end));
    if (next < 0) break;
    openedAt = isInside ? null : next;
    isInside = !isInside;
    position = end;
  }

  return { text: parts.join(""), isInside, openedAt: isInside ? openedAt : null };
}
