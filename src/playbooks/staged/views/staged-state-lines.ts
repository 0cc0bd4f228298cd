// staged-state-lines: splits a staged state file into sections, fields, table rows and list items,
// with their line numbers.

import type { Finding } from "../../../kit/finding.ts";

export type Line = { readonly number: number; readonly text: string };
export type Section = {
  readonly title: string;
  readonly line: number;
  readonly lines: readonly Line[];
};

export type Report = (
  severity: Finding["severity"],
  line: number,
  rule: string,
  message: string,
) => void;
/** Takes the lines of a section that are not part of the format. */
export type KeepLines = (lines: readonly Line[]) => void;

export const hasTitle = (section: Section, title: string): boolean =>
  section.title.toLowerCase() === title.toLowerCase();
export const findSections = (sections: readonly Section[], title: string): readonly Section[] =>
  sections.filter((section) => hasTitle(section, title));
export const findSection = (sections: readonly Section[], title: string): Section | undefined =>
  sections.find((section) => hasTitle(section, title));

/**
 * The sections below level-2 headings; text before the first one has an empty title. In the
 * format's own sections code fences are dropped; in a foreign section they are kept, and lines
 * inside of a fence are never headings.
 */
export function splitSections(text: string, ownTitles: readonly string[]): readonly Section[] {
  const sections: { title: string; line: number; lines: Line[] }[] = [
    { title: "", line: 1, lines: [] },
  ];

  const isOwn = (title: string): boolean =>
    title === "" || ownTitles.some((heading) => heading.toLowerCase() === title.toLowerCase());
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/);
  let openFence: string | null = null;

  for (const [index, line] of lines.entries()) {
    const fenceMark = /^\s*(```|~~~)/.exec(line)?.[1];
    const heading = openFence === null ? parseHeading(line) : null;
    if (heading !== null) {
      sections.push({ title: heading, line: index + 1, lines: [] });
      continue;
    }

    const section = sections.at(-1);
    if (fenceMark !== undefined && isOwn(section?.title ?? "")) continue;
    if (fenceMark !== undefined && openFence === null) openFence = fenceMark;
    else if (fenceMark !== undefined && openFence === fenceMark) openFence = null;

    section?.lines.push({ number: index + 1, text: line.trimEnd() });
  }

  return sections;
}

/**
 * The title of a level-2 heading, without closing marks; null for another line. Linear in the
 * length of the line.
 */
function parseHeading(line: string): string | null {
  const marks = /^ {0,3}##(?!#)/.exec(line)?.[0];
  if (marks === undefined) return null;
  const title = line.slice(marks.length).trim();
  let end = title.length;
  while (title[end - 1] === "#") end--;

  return title.slice(0, end).trimEnd();
}

export type Field = { readonly name: string; readonly value: string; readonly line: number };

/**
 * `step: 3`, also as a list item or in bold: `- **Step**: 3 ← now`. A remark after an arrow is not
 * part of the value.
 */
export function parseField({ number, text }: Line): Field | null {
  const match = /^\s*(?:[-*]\s+)?\**([A-Za-z][A-Za-z_ ]{0,30}?)\**\s*:\**\s*(.*)$/.exec(text);
  const [, name, value] = match ?? [];
  if (name === undefined || value === undefined) return null;

  return {
    name: name.trim().toLowerCase().replaceAll(" ", "_"),
    value: unquote(withoutRemark(value)),
    line: number,
  };
}

/** The text before an arrow that follows white space. */
function withoutRemark(value: string): string {
  for (let index = value.indexOf("←"); index !== -1; index = value.indexOf("←", index + 1)) {
    if (/\s/.test(value.charAt(index - 1))) return value.slice(0, index);
  }

  return value;
}

/** The cells of a table row; null for another line. A bar after a backslash is text. */
export function parseCells({ text }: Line): readonly string[] | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith("|")) return null;
  const cells: string[] = [];
  let cell = "";

  for (let index = 1; index < trimmed.length; index++) {
    const letter = trimmed.charAt(index);
    if (letter === "\\" && index + 1 < trimmed.length) {
      cell += trimmed.charAt(++index);
    } else if (letter === "|") {
      cells.push(cell.trim());
      cell = "";
    } else {
      cell += letter;
    }
  }

  return cell.trim() === "" ? cells : [...cells, cell.trim()];
}

/** The line between a table's head and its rows. */
export const isSeparatorRow = (cells: readonly string[]): boolean =>
  cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell));

/**
 * The items of a list. Indented lines continue the item above; any other line is an item of its
 * own.
 */
export function parseList(lines: readonly Line[]): readonly string[] {
  const items: string[] = [];
  for (const { text } of lines) {
    if (text.trim() === "") continue;
    const itemText = /^ {0,3}[-*+]\s+(.*)$/.exec(text)?.[1];
    const lastIndex = items.length - 1;

    if (itemText !== undefined) {
      items.push(itemText.trim());
    } else if (/^\s{2,}\S/.test(text) && lastIndex >= 0) {
      items[lastIndex] = `${items[lastIndex] ?? ""} ${text.trim()}`;
    } else {
      items.push(text.trim());
    }
  }

  return items.filter((item) => !isEmptyMark(item));
}

/** Marks that people write for "nothing", and the format's own placeholders. */
export const isEmptyMark = (text: string): boolean =>
  /^(?:\[?none\]?|\[[^\]]*\]|-+|—|n\/a|\.\.\.)?\.?$/i.test(text.trim());

const unquote = (text: string): string => text.trim().replace(/^"(.*)"$/, "$1");
