// placeholder-lines: classifies the lines of a text: content, or something that only frames
// content. Pure, one pass.

import { isEmptyAnswer, isPlaceholder } from "../../kit/placeholder.ts";

export type ContentLines = {
  /** Lines with content, without list marks and surrounding space. */
  readonly contentLines: readonly string[];
  readonly headingCount: number;
  /** Horizontal rules, empty items, table heads, labels without a value, fences. */
  readonly frameCount: number;
  /** Lines that stand for missing text: `TBD`, `n/a`. */
  readonly placeholderCount: number;
};

type Tally = {
  contentLines: string[];
  headingCount: number;
  frameCount: number;
  placeholderCount: number;
};

export function classifyPlainLines(text: string): ContentLines {
  const tally = emptyTally();
  for (const line of text.split("\n")) if (line.trim() !== "") addText(tally, line.trim());
  return tally;
}

export function classifyMarkdownLines(text: string): ContentLines {
  const tally = emptyTally();
  let fence: string | null = null;
  let isAfterText = false;

  for (const rawLine of withoutComments(withoutFrontMatter(text)).split("\n")) {
    const line = rawLine.trim();
    const mark: string | undefined = /^(?:`{3,}|~{3,})/.exec(line)?.[0];
    if (mark !== undefined && (fence === null || (line === mark && mark.startsWith(fence)))) {
      fence = fence === null ? mark : null;
      tally.frameCount++;
      isAfterText = false;
      continue;
    }

    if (line === "") isAfterText = false;
    else if (fence !== null) tally.contentLines.push(line);
    else isAfterText = addMarkdown(tally, line, isAfterText);
  }

  return tally;
}

const emptyTally = (): Tally => ({
  contentLines: [],
  headingCount: 0,
  frameCount: 0,
  placeholderCount: 0,
});

/**
 * Returns whether the line was added as content, so that the next one can still make it a heading
 * or a table's head.
 */
function addMarkdown(tally: Tally, line: string, isAfterText: boolean): boolean {
  if (/^#{1,6}(?:\s|$)/.test(line)) {
    tally.headingCount++;
    return false;
  }

  const isUnderline = /^(?:=+|-+)$/.test(line);
  const isTableRule = line.includes("|") && /^[\s|:-]+$/.test(line) && line.includes("-");
  if (isAfterText && (isUnderline || isTableRule)) {
    tally.contentLines.pop();
    if (isUnderline) tally.headingCount++;
    else tally.frameCount++;

    return false;
  }

  if (isTableRule || /^[\s|:_*=-]+$/.test(line)) {
    tally.frameCount++;
    return false;
  }

  return addText(tally, withoutMarks(line));
}

const labelCharsMax = 60;

function addText(tally: Tally, text: string): boolean {
  if (text === "" || isLabel(text)) {
    tally.frameCount++;
  } else if (isMissing(text) || isMissing(valueAfterLabel(text))) {
    tally.placeholderCount++;
  } else {
    tally.contentLines.push(text);
    return true;
  }

  return false;
}

const isMissing = (text: string): boolean => isPlaceholder(text) || isEmptyAnswer(text);

/** `Owner:` and `**Owner:**` are labels; by themselves they say nothing. */
const isLabel = (text: string): boolean =>
  text.length <= labelCharsMax && /^(?:\*\*[^*]+:\s*\*\*|\*\*[^*]+\*\*\s*:|[^:]+:)$/.test(text);

/** The value after a label: `TBD` of `**Owner:** TBD`. */
function valueAfterLabel(text: string): string {
  const index = text.slice(0, labelCharsMax).indexOf(":");
  if (index < 0) return text;
  let [start, end] = [index + 1, text.length];
  while (start < end && isBlankOrStar(text.charAt(start))) start++;
  while (end > start && isBlankOrStar(text.charAt(end - 1))) end--;

  return text.slice(start, end);
}

const isBlankOrStar = (letter: string): boolean => letter === "*" || letter.trim() === "";

/** Without quotation and list marks, and without the bars of a table row with empty cells. */
function withoutMarks(line: string): string {
  const unmarked = line
    .replace(/^(?:>\s?)+/, "")
    .replace(/^(?:[-*+]|\d{1,9}[.)])(?:\s+|$)(?:\[[ xX]\](?:\s+|$))?/, "");
  return (unmarked.startsWith("|") ? unmarked.replaceAll(/^\||\|$/g, "") : unmarked).trim();
}

/** Without the YAML between two lines of `---` at the top. */
function withoutFrontMatter(text: string): string {
  if (!/^---\r?\n/.test(text)) return text;
  const closing = text.indexOf("\n---", 3);
  if (closing < 0) return text;
  const lineEnd = text.indexOf("\n", closing + 1);

  return lineEnd < 0 ? "" : text.slice(lineEnd);
}

function withoutComments(text: string): string {
  let withoutThem = "";
  for (let index = 0; ;) {
    const open = text.indexOf("<!--", index);
    const close = open < 0 ? -1 : text.indexOf("-->", open + 4);
    if (close < 0) return withoutThem + text.slice(index); // no further comment, or one that does not close
    withoutThem += text.slice(index, open);
    index = close + 3;
  }
}
