// roadmap-titles: the two lines that make a phase: `- [ ] **Phase 3: Name** *(INSERTED)* - what` and `### Phase 3: Name`.

import { shown, type Position } from "../../../kit/finding.ts";
import { computeHeadingLevel, parseListItem } from "../../../documents/fields.ts";
import type { Line } from "../../../documents/markdown-lines.ts";
import { parsePhaseId } from "../../../documents/phase-id.ts";
import type { Report } from "../../../documents/report.ts";

export type Title = { readonly id: string; readonly name: string; readonly inserted: boolean; readonly place: Position };
export type ChecklistLine = Title & { readonly checked: boolean };
export type HeadingLine = Title & { readonly level: number };

const nameCharactersMax = 500;
const expected = "expected Phase <id>: <name>, the id a number such as 3 or 2.1";

/** A phase's line in the checklist. Plan items and other boxes are none; one that nearly is gets reported. */
export function findChecklistLine(line: Line, { isInSection }: { readonly isInSection: boolean }, report: Report): ChecklistLine | null {
  const item = line.is === "text" ? parseListItem(line.text) : null;
  const box = item === null ? null : /^\[(.{0,3}?)\]\s+(?=(?:\*\*|__)?\s*phase\b)/i.exec(item.text);
  if (item === null || box === null) return null;
  const place: Position = { line: line.number, column: item.column };
  const read = findTitle(item.text.slice(box[0].length), { place, isLine: true }, report);
  if (read === null) return null;
  if (!read.isBold) {
    if (isInSection) return null; // free text of a phase may tick off whatever it likes
    report.warning(
      place,
      `phase_${read.id}`,
      "title_not_bold",
      `found a checklist line whose title is not bold, expected **Phase ${read.id}: ${read.name}**`,
    );
  }
  const mark = box[1] ?? "";
  if (!/^[ xX]$/.test(mark)) report.error(place, `phase_${read.id}.checked`, "checkbox", `found [${mark}], expected [ ] or [x]`);
  const { id, name, inserted } = read;
  return { id, name, inserted, place, checked: /^[xX]$/.test(mark) };
}

/** A phase's heading, whatever its level: which level counts is for the reader to say. */
export function findHeadingLine(line: Line, report: Report): HeadingLine | null {
  const level = computeHeadingLevel(line);
  if (level === 0) return null;
  const index = line.text.search(/[^#\s]/);
  if (index < 0) return null;
  let text = line.text.slice(index).trimEnd();
  const closed = text.lastIndexOf(" ");
  if (closed > 0 && /^#+$/.test(text.slice(closed + 1))) text = text.slice(0, closed).trimEnd();
  const place: Position = { line: line.number, column: index + 1 };
  const read = findTitle(text, { place, isLine: false }, level === 3 ? report : null);
  return read === null ? null : { id: read.id, name: read.name, inserted: read.inserted, place, level };
}

type Read = { readonly id: string; readonly name: string; readonly inserted: boolean; readonly isBold: boolean };

function findTitle(text: string, about: { readonly place: Position; readonly isLine: boolean }, report: Report | null): Read | null {
  const head = /^(\*\*|__)?\s*phase\s+([^\s:：*_]{1,40})\s*/i.exec(text);
  if (head === null) return null;
  const [whole, mark, token = ""] = head;
  const refuse = (rule: string, message: string): null => {
    report?.error(about.place, "", rule, message);
    return null;
  };
  const id = parsePhaseId(token);
  if (id === null) {
    const message = `found the phase id ${shown(token)}, ${expected}`;
    const isMeant = /\d/.test(token) || /^\p{L}$/u.test(token) || (about.isLine && mark !== undefined);
    if (isMeant) return refuse("phase_id", message);
    // `### Phase numbering: …` may be prose, and `### Phase three: …` may not: it is reported, and read as prose.
    if (/^[:：]/.test(text.slice(whole.length))) report?.warning(about.place, "", "phase_id", message);
    return null;
  }
  const parts = bodyOf(text.slice(whole.length), mark);
  if (parts === null) return refuse("phase_title", `found ${shown(text)}, ${expected}`);
  const title = parts.isWhole && !about.isLine ? parts.title : beforeDash(parts.title, parts.isWhole);
  const name = title.replace(insertedMark, " ").replaceAll("**", "").replaceAll(/\s+/g, " ").trim();
  if (name === "") return refuse("phase_name", `found phase ${id} without a name, ${expected}`);
  if (name.length > nameCharactersMax)
    return refuse("phase_name", `found a name of ${name.length} characters, expected at most ${nameCharactersMax}`);
  const inserted = insertedMark.test(title) || insertedMark.test(beforeDash(parts.behind, true));
  return { id, name, inserted, isBold: mark !== undefined };
}

const insertedMark = /[*_]{0,2}[(（]\s*inserted\s*[)）][*_]{0,2}/i;

/** The title and what follows it; `isWhole` where the title runs to the end of the text and may have a description behind it. */
function bodyOf(
  body: string,
  mark: string | undefined,
): { readonly title: string; readonly behind: string; readonly isWhole: boolean } | null {
  const colon = /^\s*[:：]/;
  if (mark === undefined) return colon.test(body) ? { title: body.replace(colon, ""), behind: "", isWhole: true } : null;
  const close = body.indexOf(mark);
  if (close < 0) return null;
  const [inner, behind] = [body.slice(0, close).trim(), body.slice(close + mark.length)];
  if (inner !== "" && !colon.test(inner)) return null;
  const named = inner.replace(colon, "").trim();
  if (named !== "") return { title: named, behind, isWhole: false };
  if (inner === "" && !colon.test(behind)) return null;
  return { title: behind.replace(colon, ""), behind: "", isWhole: true };
}

/** Up to ` - what it is about`. */
function beforeDash(text: string, isCut: boolean): string {
  if (!isCut) return text;
  const index = text.search(/\s[-–—]\s/);
  return index < 0 ? text : text.slice(0, index);
}
