// markdown-lines: a Markdown text as lines with positions, separated from what isn't text: fenced code, HTML comments.
//
// Invariants:
//   M1. One pass, and no line costs more than its length: a file of any size is read in linear time.
//   M2. Nothing moves: a comment is blanked out in place, so every column is the file's own.
//   M3. A fence or a comment that is never closed would swallow what follows, so it is an error.

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
  /** `comment`: nothing but a comment is on it, so it is not even blank. */
  readonly is: "text" | "code" | "comment";
};

type Fence = Position & { readonly mark: string; readonly length: number };

export function markdownLines(file: string, source: string): { readonly lines: readonly Line[]; readonly findings: readonly Finding[] } {
  const report = openReport(file);
  const lines: Line[] = [];
  let fence: Fence | null = null;
  let comment: Position | null = null;
  let number = 0;
  const all = source.replace(/^\ufeff/, "").split(/\r\n|\n|\r/, linesMax + 1);
  if (all.length > linesMax) {
    all.pop();
    report.error(
      { line: linesMax, column: 1 },
      "",
      "too_many_lines",
      `found more than ${linesMax} lines, expected fewer; the rest is not read`,
    );
  }
  for (const whole of all) {
    number += 1;
    if (whole.length > lineCharactersMax) {
      const message = `found a line of ${whole.length} characters, expected at most ${lineCharactersMax}`;
      report.error({ line: number, column: lineCharactersMax + 1 }, "", "line_too_long", message);
    }
    const text = whole.slice(0, lineCharactersMax);
    const push = (shown: string, is: Line["is"]): void => {
      lines.push({ number, text: shown, indent: textIndent(shown), is });
    };
    if (fence !== null) {
      if (closes(text, fence)) fence = null;
      push(text, "code");
      continue;
    }
    const opened: Fence | null = comment === null ? findFence(text, number) : null;
    if (opened !== null) {
      fence = opened;
      push(text, "code");
      continue;
    }
    const masked = withoutComments(text, { isInside: comment !== null });
    if (masked.openedAt !== null) comment = { line: number, column: masked.openedAt + 1 };
    else if (!masked.isInside) comment = null;
    const isOnlyComment = masked.text !== text && masked.text.trim() === "";
    push(masked.text, isOnlyComment || (masked.isInside && masked.text.trim() === "") ? "comment" : "text");
  }
  if (fence !== null)
    report.error(fence, "", "unclosed_fence", `found a code fence that never ends, expected a closing ${fence.mark.repeat(fence.length)}`); // M3
  if (comment !== null) report.error(comment, "", "unclosed_comment", "found a comment that never ends, expected a closing -->"); // M3
  return { lines, findings: report.findings() };
}

function textIndent(text: string): number {
  let columns = 0;
  for (let n = 0; n < text.length; n += 1) {
    const letter = text.charAt(n);
    if (letter === "\t") columns += 4 - (columns % 4);
    else if (letter === " " || letter === "\u00a0") columns += 1;
    else break;
  }
  return columns;
}

function findFence(text: string, line: number): Fence | null {
  const match = /^\s*(`{3,}|~{3,})/.exec(text);
  const marks = match?.[1];
  if (match === null || marks === undefined) return null;
  const mark = marks.charAt(0);
  if (mark === "`" && text.includes("`", match[0].length)) return null; // a piece of inline code
  return { line, column: match[0].length - marks.length + 1, mark, length: marks.length };
}

function closes(text: string, { mark, length }: Fence): boolean {
  const shut = text.trim();
  return shut.length >= length && shut === mark.repeat(shut.length);
}

/** M2. `openedAt` is where a comment begins that does not end on this line; `isInside` whether the next line begins within one. */
function withoutComments(
  text: string,
  from: { readonly isInside: boolean },
): { readonly text: string; readonly isInside: boolean; readonly openedAt: number | null } {
  if (!from.isInside && !text.includes("<!--")) return { text, isInside: false, openedAt: null };
  const plain = from.isInside ? text : withoutCode(text);
  const parts: string[] = [];
  let { isInside } = from;
  let openedAt: number | null = null;
  let position = 0;
  while (position < text.length) {
    const next = isInside ? text.indexOf("-->", position) : plain.indexOf("<!--", position);
    const end = next < 0 ? text.length : isInside ? next + 3 : next;
    parts.push(isInside ? " ".repeat(end - position) : text.slice(position, end));
    if (next < 0) break;
    if (!isInside) openedAt = next;
    else openedAt = null;
    isInside = !isInside;
    position = end;
  }
  return { text: parts.join(""), isInside, openedAt: isInside ? openedAt : null };
}
