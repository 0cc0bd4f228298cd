// staged-state-lines: a staged state file taken apart: its sections, and in them fields, table rows and points, each with its line.

export type Line = { readonly number: number; readonly text: string };
export type Section = { readonly title: string; readonly line: number; readonly lines: readonly Line[] };

const linesMax = 20_000;

/**
 * The sections by their headings of two marks; what is before the first has an empty title. Around the format's own sections code fences
 * are only wrapping; in a foreign section they belong to it, and no heading is between them.
 */
export function textSections(text: string, own: readonly string[]): readonly Section[] {
  const sections: { title: string; line: number; lines: Line[] }[] = [{ title: "", line: 1, lines: [] }];
  const isOwn = (title: string): boolean => title === "" || own.some((heading) => heading.toLowerCase() === title.toLowerCase());
  const all = text.replace(/^\uFEFF/, "").split(/\r\n|\n|\r/, linesMax);
  let fence: string | null = null;
  for (const [index, whole] of all.entries()) {
    const mark = /^\s*(```|~~~)/.exec(whole)?.[1];
    const heading = fence === null ? findHeading(whole) : null;
    if (heading !== null) {
      sections.push({ title: heading, line: index + 1, lines: [] });
      continue;
    }
    const section = sections.at(-1);
    if (mark !== undefined && isOwn(section?.title ?? "")) continue;
    if (mark !== undefined && (fence === null || fence === mark)) fence = fence === null ? mark : null;
    section?.lines.push({ number: index + 1, text: whole.trimEnd() });
  }
  return sections;
}

/** The words of a heading of two marks, without marks that close it; null if the line is none. Looks at no letter twice. */
function findHeading(line: string): string | null {
  const marks = /^ {0,3}##(?!#)/.exec(line)?.[0];
  if (marks === undefined) return null;
  const title = line.slice(marks.length).trim();
  let end = title.length;
  while (title[end - 1] === "#") end--;
  return title.slice(0, end).trimEnd();
}

export type Field = { readonly name: string; readonly value: string; readonly line: number };

/** `name: value`, also as a point or in bold, as people write it; a remark behind an arrow is none of the value. */
export function findField({ number, text }: Line): Field | null {
  const match = /^\s*(?:[-*]\s+)?\**([A-Za-z][A-Za-z_ ]{0,30}?)\**\s*:\**\s*(.*)$/.exec(text);
  const [, name, value] = match ?? [];
  if (name === undefined || value === undefined) return null;
  return { name: name.trim().toLowerCase().replaceAll(" ", "_"), value: bare(withoutRemark(value)), line: number };
}

/** What is before an arrow that has blank space before it. */
function withoutRemark(value: string): string {
  for (let index = value.indexOf("←"); index !== -1; index = value.indexOf("←", index + 1))
    if (/\s/.test(value.charAt(index - 1))) return value.slice(0, index);
  return value;
}

/** The cells of a table's row; null if the line is none. A bar behind a backslash is text. */
export function findCells({ text }: Line): readonly string[] | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith("|")) return null;
  const cells: string[] = [];
  let cell = "";
  for (let index = 1; index < trimmed.length; index++) {
    const letter = trimmed.charAt(index);
    if (letter === "\\" && index + 1 < trimmed.length) cell += trimmed.charAt(++index);
    else if (letter === "|") {
      cells.push(cell.trim());
      cell = "";
    } else cell += letter;
  }
  return cell.trim() === "" ? cells : [...cells, cell.trim()];
}

/** The line between a table's head and its rows. */
export const isRule = (cells: readonly string[]): boolean => cells.length > 0 && cells.every((cell) => /^:?-+:?$/.test(cell));

/** The points of a list; what is indented below one belongs to it, and its own line is a point too. */
export function findPoints(lines: readonly Line[]): readonly string[] {
  const points: string[] = [];
  for (const { text } of lines) {
    if (text.trim() === "") continue;
    const point = /^ {0,3}[-*+]\s+(.*)$/.exec(text)?.[1];
    const last = points.length - 1;
    if (point !== undefined) points.push(point.trim());
    else if (/^\s{2,}\S/.test(text) && last >= 0) points[last] = `${points[last] ?? ""} ${text.trim()}`;
    else points.push(text.trim());
  }
  return points.filter((point) => !isEmptyMark(point));
}

/** Marks that people write for "nothing", and the format's own placeholders. */
export const isEmptyMark = (text: string): boolean => /^(?:\[?none\]?|\[[^\]]*\]|-+|—|n\/a|\.\.\.)?\.?$/i.test(text.trim());

const bare = (text: string): string => text.trim().replace(/^"(.*)"$/, "$1");
