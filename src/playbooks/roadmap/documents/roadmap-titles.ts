// roadmap-titles: parses the two lines that declare a phase: `- [ ] **Phase 3: Name** *(INSERTED)*
// - what` and `### Phase 3: Name`.

import { shown, type Position } from "../../../kit/finding.ts";
import { headingLevel, parseListItem } from "../../../documents/fields.ts";
import type { Line } from "../../../documents/markdown-lines.ts";
import { parsePhaseId } from "../../../documents/phase-id.ts";
import type { Report } from "../../../documents/report.ts";

export type PhaseTitle = {
  readonly id: string;
  readonly name: string;
  readonly inserted: boolean;
  readonly place: Position;
};
export type ChecklistLine = PhaseTitle & { readonly checked: boolean };
export type HeadingLine = PhaseTitle & { readonly level: number };

const nameCharactersMax = 500;
const expectedForm = "expected Phase <id>: <name>, the id a number such as 3 or 2.1";

/** A phase's line in the checklist; null for other items. A line that is almost one is reported. */
export function parseChecklistLine(
  line: Line,
  { isInSection }: { readonly isInSection: boolean },
  report: Report,
): ChecklistLine | null {
  const item = line.kind === "text" ? parseListItem(line.text) : null;
  const box = item === null ? null : /^\[(.{0,3}?)\]\s+(?=(?:\*\*|__)?\s*phase\b)/i.exec(item.text);
  if (item === null || box === null) return null;
  const place: Position = { line: line.number, column: item.column };

  const title = parseTitle(
    item.text.slice(box[0].length),
    { place, isChecklistLine: true },
    report,
  );
  if (title === null) return null;
  if (!title.isBold) {
    if (isInSection) return null; // free text of a phase may have checklists of its own
    report.warning(
      place,
      `phase_${title.id}`,
      "title_not_bold",
      `found a checklist line whose title is not bold, expected **Phase ${title.id}: ${title.name}**`,
    );
  }

  const checkSign = box[1] ?? "";
  if (!/^[ xX]$/.test(checkSign)) {
    report.error(
      place,
      `phase_${title.id}.checked`,
      "checkbox",
      `found [${checkSign}], expected [ ] or [x]`,
    );
  }

  const { id, name, inserted } = title;
  return { id, name, inserted, place, checked: /^[xX]$/.test(checkSign) };
}

/** A phase's heading of any level; the caller decides which level counts. */
export function parseHeadingLine(line: Line, report: Report): HeadingLine | null {
  const level = headingLevel(line);
  if (level === 0) return null;
  const index = line.text.search(/[^#\s]/);
  if (index < 0) return null;
  let text = line.text.slice(index).trimEnd();
  const lastSpace = text.lastIndexOf(" ");
  const hasClosingMarks = lastSpace > 0 && /^#+$/.test(text.slice(lastSpace + 1)); // ### Phase 3: Name ###
  if (hasClosingMarks) text = text.slice(0, lastSpace).trimEnd();
  const place: Position = { line: line.number, column: index + 1 };
  const title = parseTitle(text, { place, isChecklistLine: false }, level === 3 ? report : null);

  return title === null
    ? null
    : { id: title.id, name: title.name, inserted: title.inserted, place, level };
}

type ParsedTitle = {
  readonly id: string;
  readonly name: string;
  readonly inserted: boolean;
  readonly isBold: boolean;
};

/**
 * `**Phase 3: Name**`, `Phase 3: Name`; null for other text. With a report, text that is almost a
 * title is reported.
 */
function parseTitle(
  text: string,
  context: { readonly place: Position; readonly isChecklistLine: boolean },
  report: Report | null,
): ParsedTitle | null {
  const head = /^(\*\*|__)?\s*phase\s+([^\s:：*_]{1,40})\s*/i.exec(text);
  if (head === null) return null;
  const [whole, boldMark, token = ""] = head;
  const refuse = (rule: string, message: string): null => {
    report?.error(context.place, "", rule, message);
    return null;
  };

  const id = parsePhaseId(token);
  if (id === null) {
    const message = `found the phase id ${shown(token)}, ${expectedForm}`;
    const isPhaseLike =
      /\d/.test(token) ||
      /^\p{L}$/u.test(token) ||
      (context.isChecklistLine && boldMark !== undefined);
    if (isPhaseLike) return refuse("phase_id", message);
    // `### Phase numbering: …` is prose, `### Phase three: …` is probably a phase: both are
    // reported, and read as prose.
    if (/^[:：]/.test(text.slice(whole.length))) {
      report?.warning(context.place, "", "phase_id", message);
    }

    return null;
  }

  const parts = splitTitle(text.slice(whole.length), boldMark);
  if (parts === null) return refuse("phase_title", `found ${shown(text)}, ${expectedForm}`);
  const title =
    parts.isWhole && !context.isChecklistLine
      ? parts.title
      : beforeDash(parts.title, parts.isWhole);
  const name = title.replace(insertedMark, " ").replaceAll("**", "").replaceAll(/\s+/g, " ").trim();
  if (name === "") return refuse("phase_name", `found phase ${id} without a name, ${expectedForm}`);
  if (name.length > nameCharactersMax) {
    return refuse(
      "phase_name",
      `found a name of ${name.length} characters, expected at most ${nameCharactersMax}`,
    );
  }

  const inserted = insertedMark.test(title) || insertedMark.test(beforeDash(parts.rest, true));
  return { id, name, inserted, isBold: boldMark !== undefined };
}

const insertedMark = /[*_]{0,2}[(（]\s*inserted\s*[)）][*_]{0,2}/i;

/**
 * The title and the text after it, from what follows `Phase 3`. `isWhole`: the title reaches to the
 * end of the text and may include a description. `: Name - what`: all of it is the title. `: Name**
 * - what`: "Name", rest " - what". `:** Name - what`: "Name - what" again.
 */
function splitTitle(
  body: string,
  boldMark: string | undefined,
): { readonly title: string; readonly rest: string; readonly isWhole: boolean } | null {
  const colon = /^\s*[:：]/;
  if (boldMark === undefined) {
    return colon.test(body) ? { title: body.replace(colon, ""), rest: "", isWhole: true } : null;
  }

  const close = body.indexOf(boldMark);
  if (close < 0) return null;
  const [inner, rest] = [body.slice(0, close).trim(), body.slice(close + boldMark.length)];
  if (inner !== "" && !colon.test(inner)) return null;
  const name = inner.replace(colon, "").trim();
  if (name !== "") return { title: name, rest, isWhole: false };
  if (inner === "" && !colon.test(rest)) return null;

  return { title: rest.replace(colon, ""), rest: "", isWhole: true };
}

/** The text before ` - description`. */
function beforeDash(text: string, hasDescription: boolean): string {
  if (!hasDescription) return text;
  const index = text.search(/\s[-–—]\s/);
  return index < 0 ? text : text.slice(0, index);
}
