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
import { openReport } from "./report.ts";

export const lineCharactersMax = 20_000;
export const linesMax = 100_000;

export type Line = {
  readonly number: number;
  readonly text: string;
  /** Columns of white space before the text, a tab reaching to the next multiple of four. */
  readonly indent: number;
  /** `comment`: the line has nothing but a comment, and does not count as blank. */
  readonly is: "text" | "code" | "comment";
};

type Fence = Position & { readonly mark: string; readonly length: number };

export function parseMarkdownLines(
  file: string,
  source: string,
): { readonly lines: readonly Line[]; readonly findings: readonly Finding[] } {
  const report = openReport(file);
  const lines: Line[] = [];
  let fence: Fence | null = null;
  let comment: Position | null = null;
  let number = 0;
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

  for (const sourceLine of sourceLines) {
    number += 1;
    if (sourceLine.length > lineCharactersMax) {
      const message = `found a line of ${sourceLine.length} characters, expected at most ${lineCharactersMax}`;
      report.error({ line: number, column: lineCharactersMax + 1 }, "", "line_too_long", message);
    }

    const text = sourceLine.slice(0, lineCharactersMax); // M1
    const push = (shown: string, is: Line["is"]): void => {
      lines.push({ number, text: shown, indent: measureIndent(shown), is });
    };

    if (fence !== null) {
      if (closesFence(text, fence)) fence = null;
      push(text, "code");
      continue;
    }

    const openedFence: Fence | null = comment === null ? parseFence(text, number) : null;
    if (openedFence !== null) {
      fence = openedFence;
      push(text, "code");
      continue;
    }

    const withoutComment = withoutComments(text, { isInside: comment !== null });
    if (withoutComment.openedAt !== null) {
      comment = { line: number, column: withoutComment.openedAt + 1 };
    } else if (!withoutComment.isInside) {
      comment = null;
    }

    const isOnlyComment = withoutComment.text !== text && withoutComment.text.trim() === "";
    push(
      withoutComment.text,
      isOnlyComment || (withoutComment.isInside && withoutComment.text.trim() === "")
        ? "comment"
        : "text",
    );
  }

  if (fence !== null) {
    report.error(
      fence,
      "",
      "unclosed_fence",
      `found a code fence that never ends, expected a closing ${fence.mark.repeat(fence.length)}`,
    );
  } // M3

  if (comment !== null) {
    report.error(
      comment,
      "",
      "unclosed_comment",
      "found a comment that never ends, expected a closing -->",
    );
  } // M3

  return { lines, findings: report.findings() };
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
