// json-place: finds the line and column of a value in a JSON text too large to keep every position of.

/** Where a value is in a JSON text, for texts too large to keep every position of. The text is known to be JSON. */

import type { DataPath, Position } from "../kit/finding.ts";

/** The place of the value at a path, or of the nearest thing around it that is there. */
export function jsonPlaceOf(text: string, path: DataPath): Position {
  let position = blank(text, 0);
  for (const part of path) {
    const next = typeof part === "number" ? itemAt(text, position, part) : memberAt(text, position, part);
    if (next === null) break;
    position = next;
  }
  return placeAt(text, position);
}

/** The lines of all items of the list at a path, in one pass; empty if there is none. */
export function jsonItemLines(text: string, path: DataPath): readonly number[] {
  let from: number | null = blank(text, 0);
  for (const part of path) from = from === null ? null : typeof part === "number" ? itemAt(text, from, part) : memberAt(text, from, part);
  if (from === null || text.charAt(from) !== "[") return [];
  const lines: number[] = [];
  let [line, counted] = [1, 0];
  for (let at = blank(text, from + 1); text.charAt(at) !== "]" && at < text.length;) {
    for (; counted < at; counted++) if (text.charCodeAt(counted) === 10) line++;
    lines.push(line);
    at = blank(text, pastValue(text, at));
    if (text.charAt(at) === ",") at = blank(text, at + 1);
  }
  return lines;
}

export function placeAt(text: string, offset: number): Position {
  const before = text.slice(0, offset);
  const newline = before.lastIndexOf("\n");
  return { line: before.split("\n").length, column: offset - newline };
}

function blank(text: string, from: number): number {
  let position = from;
  while (/\s/.test(text.charAt(position))) position++;
  return position;
}

/** Past a string that begins here. */
function pastText(text: string, from: number): number {
  let position = from + 1;
  while (position < text.length && text.charAt(position) !== '"') position += text.charAt(position) === "\\" ? 2 : 1;
  return position + 1;
}

/** Past any value that begins here. */
function pastValue(text: string, from: number): number {
  const first = text.charAt(from);
  if (first === '"') return pastText(text, from);
  if (first !== "{" && first !== "[") {
    const rest = /[,\]}\s]/g;
    rest.lastIndex = from;
    return rest.exec(text)?.index ?? text.length;
  }
  let depth = 0;
  let position = from;
  while (position < text.length) {
    const mark = text.charAt(position);
    if (mark === '"') {
      position = pastText(text, position);
      continue;
    }
    if (mark === "{" || mark === "[") depth++;
    if (mark === "}" || mark === "]") depth--;
    position++;
    if (depth === 0) return position;
  }
  return position;
}

function itemAt(text: string, from: number, index: number): number | null {
  if (text.charAt(from) !== "[") return null;
  let position = blank(text, from + 1);
  for (let n = 0; text.charAt(position) !== "]" && position < text.length; n++) {
    if (n === index) return position;
    position = blank(text, pastValue(text, position));
    if (text.charAt(position) === ",") position = blank(text, position + 1);
  }
  return null;
}

function memberAt(text: string, from: number, key: string): number | null {
  if (text.charAt(from) !== "{") return null;
  let position = blank(text, from + 1);
  while (text.charAt(position) === '"') {
    const end = pastText(text, position);
    const name: unknown = JSON.parse(text.slice(position, end));
    const value = blank(text, blank(text, end) + 1);
    if (name === key) return value;
    position = blank(text, pastValue(text, value));
    if (text.charAt(position) === ",") position = blank(text, position + 1);
  }
  return null;
}

export type JsonFlaw = { readonly offset: number; readonly what: string };

/** The first place at which a text stops being JSON, and every key that an object has twice: a parser keeps the last one without a word. */
export function jsonFlaws(text: string): { readonly fault: JsonFlaw | null; readonly twice: readonly JsonFlaw[] } {
  const twice: JsonFlaw[] = [];
  const around: { readonly keys: Set<string> | null }[] = [];
  const end = (offset: number, what: string) => ({ fault: { offset, what }, twice });
  let wanted: "value" | "first" | "key" | "rest" = "value";
  let at = blank(text, 0);
  for (; at < text.length; at = blank(text, at)) {
    const mark = text.charAt(at);
    const top = around.at(-1);
    const closes = top === undefined ? "" : top.keys === null ? "]" : "}";
    if (mark === closes && (wanted === "rest" || wanted === "first")) {
      around.pop();
      at += 1;
      wanted = "rest";
    } else if (wanted === "rest") {
      if (mark !== "," || top === undefined) return end(at, top === undefined ? "the end of the file" : `, or ${closes}`);
      at += 1;
      wanted = top.keys === null ? "value" : "key";
    } else if (top?.keys instanceof Set && wanted !== "value") {
      const past = mark === '"' ? pastText(text, at) : at;
      const key = textAt(text, at, past);
      const colon = blank(text, past);
      if (key === null) return end(at, "a key in double quotes");
      if (text.charAt(colon) !== ":") return end(colon, "a colon");
      if (top.keys.has(key)) twice.push({ offset: at, what: key });
      top.keys.add(key);
      at = colon + 1;
      wanted = "value";
    } else if (mark === "{" || mark === "[") {
      around.push({ keys: mark === "{" ? new Set() : null });
      at += 1;
      wanted = "first";
    } else {
      const past = pastValue(text, at);
      const isValue = mark === '"' ? textAt(text, at, past) !== null : scalar.test(text.slice(at, past));
      if (!isValue) return end(at, "a value: a text in double quotes, a number, true, false, null, { or [");
      at = past;
      wanted = "rest";
    }
  }
  return wanted === "rest" && around.length === 0 ? { fault: null, twice } : end(text.length, "more: the file ends too early");
}

const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

function textAt(text: string, from: number, past: number): string | null {
  try {
    const value: unknown = JSON.parse(text.slice(from, past));
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}
