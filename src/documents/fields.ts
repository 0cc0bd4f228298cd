// fields: the bold fields of a section, in whatever order they stand, and the three ways to read one: as a paragraph, as a list, as it is.

import type { Position } from "../kit/finding.ts";
import { parseBoldLabel, plainLabelOf } from "./bold-label.ts";
import type { Line } from "./markdown-lines.ts";
import type { Report } from "./report.ts";

/** A field and what belongs to it: the rest of its own line first, as a line whose `text` begins where the value does. */
export type Field = {
  readonly label: string;
  readonly place: Position;
  readonly inline: string;
  readonly inlinePlace: Position;
  readonly lines: readonly Line[];
};

/** `any`: every bold label ends the field before it. `known`: only the labels asked for, so that free text may have labels of its own. */
export type Ending = "any" | "known";

const none: ReadonlySet<string> = new Set();

/** The known fields by their label; a second one of a label is reported, and the first counts. */
export function oncePerLabel(
  foundFields: readonly Field[],
  known: ReadonlySet<string>,
  path: string,
  report: Pick<Report, "error">,
): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const field of foundFields.filter(({ label }) => known.has(label))) {
    const first = fields.get(field.label);
    if (first === undefined) fields.set(field.label, field);
    else
      report.error(
        field.place,
        `${path}.${field.label.replaceAll(" ", "_")}`,
        "duplicate_field",
        `found a second ${field.label}, the first is on line ${first.place.line}; expected one`,
      );
  }
  return fields;
}

/**
 * All fields that have a label; those of unknown label too, so that a typo can be reported. A label of `plain` need not be bold: `Goal: …`,
 * `#### Success Criteria`, or the label alone on its line.
 */
export function fieldsOf(
  lines: readonly Line[],
  known: ReadonlySet<string>,
  ending: Ending,
  plain: ReadonlySet<string> = none,
): readonly Field[] {
  const fields: Field[] = [];
  let open: (Omit<Field, "lines"> & { readonly lines: Line[] }) | null = null;
  for (const line of lines) {
    const label = line.is === "text" ? (parseBoldLabel(line.text) ?? plainLabelOf(line.text, plain)) : null;
    const isKnown = label !== null && known.has(label.label);
    if (label !== null && (isKnown || (ending === "any" && !label.isBulleted))) {
      open = {
        label: label.label,
        place: { line: line.number, column: label.column },
        inline: label.rest,
        inlinePlace: { line: line.number, column: label.restColumn },
        lines: [],
      };
      fields.push(open);
      continue;
    }
    if (ending === "any" && computeHeadingLevel(line) > 0) open = null;
    else open?.lines.push(line);
  }
  return fields;
}

/** The level of a heading; 0 for any other line. */
export function computeHeadingLevel({ text, is }: Line): number {
  return is === "text" ? (/^ {0,3}(#{1,6})(?:\s|$)/.exec(text)?.[1]?.length ?? 0) : 0;
}

/** A field's value as one paragraph: wrapped lines and a list right under it joined, up to the first blank line behind something. */
export function fieldParagraph({ inline, lines }: Field): string {
  const parts = inline === "" ? [] : [inline];
  for (const line of lines) {
    if (line.is !== "text") continue;
    const text = line.text.trim();
    if (text === "" && parts.length === 0) continue;
    if (text === "" || isBareLabel(text)) break;
    const item = parseListItem(line.text);
    if (item !== null && isCheckbox(item.text)) break;
    parts.push(item === null ? text : item.text);
  }
  return parts.join(" ");
}

export type Item = { readonly text: string; readonly place: Position; readonly kind: "inline" | "number" | "bullet" };

/** A field's value as a list: its own items with their wrapped lines; nested items are ignored, except for a check alone on its line. */
export function fieldItems({ inline, inlinePlace, lines }: Field): readonly Item[] {
  const items: { text: string[]; place: Position; kind: Item["kind"] }[] = [];
  if (inline !== "") items.push({ text: [parseListItem(inline)?.text ?? inline], place: inlinePlace, kind: "inline" });
  let base: { readonly indent: number; readonly kind: Item["kind"] } | null = null;
  let isBehindBlank = false;
  let isNested = false;
  for (const line of lines) {
    if (line.is !== "text") continue;
    const text = line.text.trim();
    if (text === "") {
      isBehindBlank = true;
      continue;
    }
    const found = parseListItem(line.text);
    const wasBehindBlank = isBehindBlank;
    isBehindBlank = false;
    if (found === null) {
      if (isBareLabel(text)) break;
      if (base === null) {
        if (items.length > 0 && !wasBehindBlank) items.at(-1)?.text.push(text);
        else if (items.length > 0) break;
        continue;
      }
      if (wasBehindBlank && line.indent <= base.indent) break;
      if (!wasBehindBlank && !isNested) items.at(-1)?.text.push(text);
      continue;
    }
    if (base !== null && line.indent >= base.indent + 2) {
      isNested = true;
      if (/^verified by\b/i.test(found.text)) items.at(-1)?.text.push(`-- ${found.text}`);
      continue;
    }
    if (isPlanItem(found.text) || (base !== null && found.kind !== base.kind)) break;
    base ??= { indent: line.indent, kind: found.kind };
    isNested = false;
    items.push({ text: [found.text.replace(/^\[[ xX]\]\s+/, "")], place: { line: line.number, column: found.column }, kind: found.kind });
  }
  return items.map(({ text, place, kind }) => ({ text: text.join(" "), place, kind }));
}

/** The words of a list's item, `column` where they begin. */
export function parseListItem(text: string): { readonly kind: "number" | "bullet"; readonly text: string; readonly column: number } | null {
  const match = /^\s*(?:([-*+])|\d{1,9}[.)])\s+(?=\S)/.exec(text);
  if (match === null) return null;
  return { kind: match[1] === undefined ? "number" : "bullet", text: text.slice(match[0].length).trimEnd(), column: match[0].length + 1 };
}

const isCheckbox = (text: string): boolean => /^\[[ xX]\]\s/.test(text);
/** `[ ] 01-02: …`: one of a phase's plans, listed below it. */
const isPlanItem = (text: string): boolean => /^\[[ xX]\]\s+(?:\d+(?:\.\d+)*-\d+\b|TBD\b)/.test(text);
/** `Plans:` alone on its line begins something else. */
const isBareLabel = (text: string): boolean => /^[\p{L}][\p{L} ]{0,40}[:：]$/u.test(text);
