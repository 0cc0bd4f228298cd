// json-place: finds the position of a value in a JSON text by its path, without parsing all of the
// text.

import type { DataPath, Position } from "../kit/finding.ts";

/**
 * The position of the value at a path, or of the nearest existing value around it. The text must be
 * valid JSON.
 */
export function locateJsonValue(text: string, path: DataPath): Position {
  let position = skipBlank(text, 0);
  for (const part of path) {
    const next = findChild(text, position, part);
    if (next === null) break;
    position = next;
  }

  return positionAt(text, position);
}

/** The lines of all items of the list at a path, in one pass; empty if there is none. */
export function locateJsonItems(text: string, path: DataPath): readonly number[] {
  let position: number | null = skipBlank(text, 0);
  for (const part of path) {
    if (position === null) return [];
    position = findChild(text, position, part);
  }

  if (position === null || text.charAt(position) !== "[") return [];
  const lines: number[] = [];
  let [line, countedTo] = [1, 0];

  for (const offset of listItemOffsets(text, position)) {
    for (; countedTo < offset; countedTo++) if (text.charCodeAt(countedTo) === 10) line++;
    lines.push(line);
  }

  return lines;
}

/** Where each item of the list begins that begins at `from`. */
function* listItemOffsets(text: string, from: number): Generator<number> {
  let offset = skipBlank(text, from + 1);
  while (text.charAt(offset) !== "]" && offset < text.length) {
    yield offset;
    offset = skipToNext(text, offset);
  }
}

/** The offset of the next item or key, after the value that begins at `from`. */
function skipToNext(text: string, from: number): number {
  const end = skipBlank(text, skipValue(text, from));
  return text.charAt(end) === "," ? skipBlank(text, end + 1) : end;
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const newline = before.lastIndexOf("\n");
  return { line: before.split("\n").length, column: offset - newline };
}

export function skipBlank(text: string, from: number): number {
  let position = from;
  while (/\s/.test(text.charAt(position))) position++;
  return position;
}

/** The offset after a string that begins at `from`. */
export function skipString(text: string, from: number): number {
  let position = from + 1;
  while (position < text.length && text.charAt(position) !== '"') {
    position += text.charAt(position) === "\\" ? 2 : 1;
  }

  return position + 1;
}

/** The offset after a value that begins at `from`. */
export function skipValue(text: string, from: number): number {
  const first = text.charAt(from);
  if (first === '"') return skipString(text, from);
  if (first !== "{" && first !== "[") {
    const valueEnd = /[,\]}\s]/g;
    valueEnd.lastIndex = from;
    return valueEnd.exec(text)?.index ?? text.length;
  }

  let depth = 0;
  let position = from;
  while (position < text.length) {
    const mark = text.charAt(position);
    if (mark === '"') {
      position = skipString(text, position);
      continue;
    }

    if (mark === "{" || mark === "[") depth++;
    if (mark === "}" || mark === "]") depth--;
    position++;
    if (depth === 0) return position;
  }

  return position;
}

const findChild = (text: string, from: number, part: string | number): number | null =>
  typeof part === "number" ? findItem(text, from, part) : findMember(text, from, part);

function findItem(text: string, from: number, index: number): number | null {
  if (text.charAt(from) !== "[") return null;
  let itemIndex = 0;
  for (const offset of listItemOffsets(text, from)) {
    if (itemIndex === index) return offset;
    itemIndex += 1;
  }

  return null;
}

function findMember(text: string, from: number, key: string): number | null {
  if (text.charAt(from) !== "{") return null;
  let position = skipBlank(text, from + 1);
  while (text.charAt(position) === '"') {
    const end = skipString(text, position);
    const name: unknown = JSON.parse(text.slice(position, end));
    const colon = skipBlank(text, end);
    const value = skipBlank(text, colon + 1);
    if (name === key) return value;
    position = skipToNext(text, value);
  }

  return null;
}
