// bold-label: parses the label that opens a field in a Markdown document, such as `**Goal**: …`,
// with its position.

import { findClosingParenthesis } from "./parentheses.ts";

const labelCharactersMax = 80;

export type BoldLabel = {
  /** In lower case and without parentheses: `success criteria`. */
  readonly label: string;
  /** The rest of the line, after the label. */
  readonly textAfter: string;
  /** Where `textAfter` begins, from 1. */
  readonly textAfterColumn: number;
  readonly column: number;
  readonly isBulleted: boolean;
};

/**
 * A bold word with a colon that opens a field: `**Goal**: …`, `**Goal:** …`, `**Success Criteria**
 * (what must hold): …`.
 */
export function parseBoldLabel(text: string): BoldLabel | null {
  const head = /^\s*(?:([-*+])\s+)?(\*\*|__)(?!\s)/.exec(text);
  const mark = head?.[2];
  if (head === null || mark === undefined) return null;
  const close = text.indexOf(mark, head[0].length);
  if (close < 0 || close - head[0].length > labelCharactersMax) return null;
  const inner = text.slice(head[0].length, close).trim();
  const labelText = inner.replace(/[:：]$/, "").trim();
  let position = close + mark.length;

  if (labelText === inner) {
    const labelEnd = afterParenthesis(text, position);
    const colon = /^\s*[:：]/.exec(text.slice(labelEnd));
    if (colon === null) return null;
    position = labelEnd + colon[0].length;
  }

  const label = labelText
    .replace(/\s*[(（].*$/, "")
    .replaceAll(/\s+/g, " ")
    .toLowerCase();

  const textAfter = text.slice(position);
  const leadingSpaces = textAfter.length - textAfter.trimStart().length;
  return {
    label,
    textAfter: textAfter.trim(),
    textAfterColumn: position + leadingSpaces + 1,
    column: head[0].length - mark.length + 1,
    isBulleted: head[1] !== undefined,
  };
}

/**
 * One of these labels without bold: with a colon, as a heading, or alone on its line. It must begin
 * with a capital letter.
 */
export function parsePlainLabel(text: string, labels: ReadonlySet<string>): BoldLabel | null {
  if (labels.size === 0) return null;
  const head = /^ {0,3}(?:#{4,6}\s+)?(?=\p{Lu})/u.exec(text);
  if (head === null) return null;
  const labelText = text.slice(head[0].length);
  const label = [...labels].find(
    (candidate) => labelText.slice(0, candidate.length).toLowerCase() === candidate,
  );
  if (label === undefined) return null;
  const labelEnd = afterParenthesis(labelText, label.length);
  const colon = /^\s*[:：]\s*/.exec(labelText.slice(labelEnd));
  if (colon === null && !/^[\s#]*$/.test(labelText.slice(labelEnd))) return null;
  const position = head[0].length + labelEnd + (colon?.[0].length ?? labelText.length - labelEnd);

  return {
    label,
    textAfter: text.slice(position).trim(),
    textAfterColumn: position + 1,
    column: head[0].length + 1,
    isBulleted: false,
  };
}

/** The position behind the parenthesis that opens here, if one does. */
function afterParenthesis(text: string, position: number): number {
  const openingMatch = /^\s*[(（]/.exec(text.slice(position));
  if (openingMatch === null) return position;
  const end = findClosingParenthesis(text, position + openingMatch[0].length - 1);

  return end < 0 ? position : end + 1;
}
