// json-place: finds positions in a JSON text without parsing all of it: of a value by its path, of
// syntax faults, and of duplicate keys.

import type { DataPath, Position } from "../kit/finding.ts";

/**
 * The position of the value at a path, or of the nearest existing value around it. The text must be
 * valid JSON.
 */
export function locateJsonValue(text: string, path: DataPath): Position {
  let position = skipBlank(text, 0);
  for (const part of path) {
    const next =
      typeof part === "number" ? findItem(text, position, part) : findMember(text, position, part);
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
    position =
      typeof part === "number" ? findItem(text, position, part) : findMember(text, position, part);
  }

  if (position === null || text.charAt(position) !== "[") return [];
  const lines: number[] = [];
  let [line, countedTo] = [1, 0];

  for (
    let offset = skipBlank(text, position + 1);
    text.charAt(offset) !== "]" && offset < text.length;
  ) {
    for (; countedTo < offset; countedTo++) if (text.charCodeAt(countedTo) === 10) line++;
    lines.push(line);
    offset = skipBlank(text, skipValue(text, offset));
    if (text.charAt(offset) === ",") offset = skipBlank(text, offset + 1);
  }

  return lines;
}

export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const newline = before.lastIndexOf("\n");
  return { line: before.split("\n").length, column: offset - newline };
}

function skipBlank(text: string, from: number): number {
  let position = from;
  while (/\s/.test(text.charAt(position))) position++;
  return position;
}

/** The offset after a string that begins at `from`. */
function skipString(text: string, from: number): number {
  let position = from + 1;
  while (position < text.length && text.charAt(position) !== '"') {
    position += text.charAt(position) === "\\" ? 2 : 1;
  }

  return position + 1;
}

/** The offset after a value that begins at `from`. */
function skipValue(text: string, from: number): number {
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

function findItem(text: string, from: number, index: number): number | null {
  if (text.charAt(from) !== "[") return null;
  let position = skipBlank(text, from + 1);
  for (let itemIndex = 0; text.charAt(position) !== "]" && position < text.length; itemIndex++) {
    if (itemIndex === index) return position;
    position = skipBlank(text, skipValue(text, position));
    if (text.charAt(position) === ",") position = skipBlank(text, position + 1);
  }

  return null;
}

function findMember(text: string, from: number, key: string): number | null {
  if (text.charAt(from) !== "{") return null;
  let position = skipBlank(text, from + 1);
  while (text.charAt(position) === '"') {
    const end = skipString(text, position);
    const name: unknown = JSON.parse(text.slice(position, end));
    const value = skipBlank(text, skipBlank(text, end) + 1);
    if (name === key) return value;
    position = skipBlank(text, skipValue(text, value));
    if (text.charAt(position) === ",") position = skipBlank(text, position + 1);
  }

  return null;
}

/** `detail`: what was expected there, or the duplicate key. */
export type JsonFlaw = { readonly offset: number; readonly detail: string };

const levelsMax = 1_000;

/** `keys`: of an object, those seen so far; null for a list. */
type Container = { readonly keys: Set<string> | null };
const closingMarkOf = ({ keys }: Container): string => (keys === null ? "]" : "}");

/** The first syntax fault, and every duplicate key, which a parser would silently accept. */
export function findJsonFlaws(text: string): {
  readonly fault: JsonFlaw | null;
  readonly duplicateKeys: readonly JsonFlaw[];
} {
  const duplicateKeys: JsonFlaw[] = [];
  const openContainers: Container[] = [];
  const fail = (offset: number, detail: string) => ({ fault: { offset, detail }, duplicateKeys });
  /**
   * `first`: a first key or item, or the end of the container. `separator`: a comma, or that end.
   */
  let expected: "value" | "first" | "key" | "separator" = "value";
  let offset = skipBlank(text, 0);
  for (; offset < text.length; offset = skipBlank(text, offset)) {
    const mark = text.charAt(offset);
    const top = openContainers.at(-1);
    const closingMark = top === undefined ? "" : closingMarkOf(top);
    if (mark === closingMark && (expected === "separator" || expected === "first")) {
      openContainers.pop();
      offset += 1;
      expected = "separator";
    } else if (expected === "separator") {
      if (mark !== "," || top === undefined) {
        return fail(offset, top === undefined ? "the end of the file" : `, or ${closingMark}`);
      }

      offset += 1;
      expected = top.keys === null ? "value" : "key";
    } else if (top?.keys instanceof Set && expected !== "value") {
      const end = mark === '"' ? skipString(text, offset) : offset;
      const key = parseString(text, offset, end);
      const colon = skipBlank(text, end);
      if (key === null) return fail(offset, "a key in double quotes");
      if (text.charAt(colon) !== ":") return fail(colon, "a colon");
      if (top.keys.has(key)) duplicateKeys.push({ offset, detail: key });
      top.keys.add(key);
      offset = colon + 1;
      expected = "value";
    } else if (mark === "{" || mark === "[") {
      if (openContainers.length >= levelsMax) return fail(offset, `at most ${levelsMax} levels`);
      openContainers.push({ keys: mark === "{" ? new Set() : null });
      offset += 1;
      expected = "first";
    } else {
      const end = skipValue(text, offset);
      const isValue =
        mark === '"'
          ? parseString(text, offset, end) !== null
          : scalarPattern.test(text.slice(offset, end));
      if (!isValue) {
        return fail(
          offset,
          "a value: a text in double quotes, a number, true, false, null, { or [",
        );
      }

      offset = end;
      expected = "separator";
    }
  }

  return expected === "separator" && openContainers.length === 0
    ? { fault: null, duplicateKeys }
    : fail(text.length, "more: the file ends too early");
}

const scalarPattern = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

function parseString(text: string, from: number, end: number): string | null {
  try {
    const value: unknown = JSON.parse(text.slice(from, end));
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
