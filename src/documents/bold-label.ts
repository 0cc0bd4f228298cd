// bold-label: reads Markdown field labels such as `**Goal**: …`, with their positions.

import { closingParenthesis } from "./parentheses.ts";

const labelCharactersMax = 80;

export type BoldLabel = {
  /** Its words, small and without what is in parentheses: `success criteria`. */
  readonly label: string;
  /** The rest of the line, after the label. */
  readonly rest: string;
  /** Where `rest` begins, from 1. */
  readonly restColumn: number;
  readonly column: number;
  readonly isBulleted: boolean;
};

/** A bold word with a colon that opens a field: `**Goal**: …`, `**Goal:** …`, `**Success Criteria** (what must hold): …`. */
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
    const behind = afterParenthesis(text, position);
    const colon = /^\s*[:：]/.exec(text.slice(behind));
    if (colon === null) return null;
    position = behind + colon[0].length;
  }
  const label = labelText
    .replace(/\s*[(（].*$/, "")
    .replaceAll(/\s+/g, " ")
    .toLowerCase();
  const rest = text.slice(position);
  const lead = rest.length - rest.trimStart().length;
  return {
    label,
    rest: rest.trim(),
    restColumn: position + lead + 1,
    column: head[0].length - mark.length + 1,
    isBulleted: head[1] !== undefined,
  };
}

/** One of these labels without bold: with a colon, as a heading, or alone on its line. A word in the midst of prose begins small. */
export function plainLabelOf(text: string, labels: ReadonlySet<string>): BoldLabel | null {
  if (labels.size === 0) return null;
  const head = /^ {0,3}(?:#{4,6}\s+)?(?=\p{Lu})/u.exec(text);
  if (head === null) return null;
  const labelText = text.slice(head[0].length);
  const label = [...labels].find((candidate) => labelText.slice(0, candidate.length).toLowerCase() === candidate);
  if (label === undefined) return null;
  const behind = afterParenthesis(labelText, label.length);
  const colon = /^\s*[:：]\s*/.exec(labelText.slice(behind));
  if (colon === null && !/^[\s#]*$/.test(labelText.slice(behind))) return null;
  const position = head[0].length + behind + (colon?.[0].length ?? labelText.length - behind);
  return { label, rest: text.slice(position).trim(), restColumn: position + 1, column: head[0].length + 1, isBulleted: false };
}

function afterParenthesis(text: string, position: number): number {
  const opened = /^\s*[(（]/.exec(text.slice(position));
  if (opened === null) return position;
  const end = closingParenthesis(text, position + opened[0].length - 1);
  return end < 0 ? position : end + 1;
}
