// fields: parses the labelled fields of a section, and gets the value of one as a paragraph or as a
// list.

import type { Position } from "../kit/finding.ts";
import { parseBoldLabel, parsePlainLabel } from "./bold-label.ts";
import type { Line } from "./markdown-lines.ts";
import type { Report } from "./report.ts";

/** A field: `inline` is the rest of the line with its label, `lines` are the lines below it. */
export type Field = {
  readonly label: string;
  readonly place: Position;
  readonly inline: string;
  readonly inlinePlace: Position;
  readonly lines: readonly Line[];
};

/**
 * `any`: every bold label ends the field before it. `known`: only known labels do, so that free
 * text may contain bold labels.
 */
export type FieldEnd = "any" | "known";

const noLabels: ReadonlySet<string> = new Set();

/** The known fields by label. A duplicate is reported, and the first counts. */
export function indexByLabel(
  allFields: readonly Field[],
  {
    known,
    path,
    report,
  }: {
    readonly known: ReadonlySet<string>;
    readonly path: string;
    readonly report: Pick<Report, "error">;
  },
): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>();
  for (const field of allFields.filter(({ label }) => known.has(label))) {
    const first = fields.get(field.label);
    if (first === undefined) {
      fields.set(field.label, field);
    } else {
      report.error(
        field.place,
        `${path}.${field.label.replaceAll(" ", "_")}`,
        "duplicate_field",
        `found a second ${field.label}, the first is on line ${first.place.line}; expected one`,
      );
    }
  }

  return fields;
}

/**
 * All labelled fields, including those with an unknown label, so that a typo can be reported. A
 * label of `plain` need not be bold: `Goal: …`, `#### Success Criteria`, or the label alone on its
 * line.
 */
export function parseFields(
  lines: readonly Line[],
  known: ReadonlySet<string>,
  ending: FieldEnd,
  plain: ReadonlySet<string> = noLabels,
): readonly Field[] {
  const fields: Field[] = [];
  let openField: (Omit<Field, "lines"> & { readonly lines: Line[] }) | null = null;

  for (const line of lines) {
    const label =
      line.is === "text" ? (parseBoldLabel(line.text) ?? parsePlainLabel(line.text, plain)) : null;
    const isKnown = label !== null && known.has(label.label);
    if (label !== null && (isKnown || (ending === "any" && !label.isBulleted))) {
      openField = {
        label: label.label,
        place: { line: line.number, column: label.column },
        inline: label.rest,
        inlinePlace: { line: line.number, column: label.restColumn },
        lines: [],
      };

      fields.push(openField);
      continue;
    }

    if (ending === "any" && headingLevel(line) > 0) openField = null;
    else openField?.lines.push(line);
  }

  return fields;
}

/** The level of a heading; 0 for any other line. */
export function headingLevel({ text, is }: Line): number {
  return is === "text" ? (/^ {0,3}(#{1,6})(?:\s|$)/.exec(text)?.[1]?.length ?? 0) : 0;
}

/**
 * The value as one paragraph: wrapped lines and list items are joined, up to a blank line after
 * some text, a label alone or a checkbox.
 */
export function readFieldParagraph({ inline, lines }: Field): string {
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

export type Item = {
  readonly text: string;
  readonly place: Position;
  readonly kind: "inline" | "number" | "bullet";
};

/**
 * The value as a list of items with their wrapped lines. Nested items are ignored, except for a
 * check (`verified by`).
 */
export function listFieldItems({ inline, inlinePlace, lines }: Field): readonly Item[] {
  const items: { text: string[]; place: Position; kind: Item["kind"] }[] = [];
  if (inline !== "") {
    items.push({
      text: [parseListItem(inline)?.text ?? inline],
      place: inlinePlace,
      kind: "inline",
    });
  }

  let firstItem: { readonly indent: number; readonly kind: Item["kind"] } | null = null;
  let isAfterBlank = false;
  let isNested = false;

  for (const line of lines) {
    if (line.is !== "text") continue;
    const text = line.text.trim();
    if (text === "") {
      isAfterBlank = true;
      continue;
    }

    const item = parseListItem(line.text);
    const wasAfterBlank = isAfterBlank;
    isAfterBlank = false;

    if (item === null) {
      if (isBareLabel(text)) break;
      if (firstItem === null) {
        if (items.length > 0 && !wasAfterBlank) items.at(-1)?.text.push(text);
        else if (items.length > 0) break;

        continue;
      }

      if (wasAfterBlank && line.indent <= firstItem.indent) break;
      if (!wasAfterBlank && !isNested) items.at(-1)?.text.push(text);
      continue;
    }

    if (firstItem !== null && line.indent >= firstItem.indent + 2) {
      isNested = true;
      if (/^verified by\b/i.test(item.text)) items.at(-1)?.text.push(`-- ${item.text}`);
      continue;
    }

    if (isPlanItem(item.text) || (firstItem !== null && item.kind !== firstItem.kind)) break;
    firstItem ??= { indent: line.indent, kind: item.kind };
    isNested = false;
    items.push({
      text: [item.text.replace(/^\[[ xX]\]\s+/, "")],
      place: { line: line.number, column: item.column },
      kind: item.kind,
    });
  }

  return items.map(({ text, place, kind }) => ({ text: text.join(" "), place, kind }));
}

/** The text of a list item, and the column where it begins. */
export function parseListItem(
  text: string,
): { readonly kind: "number" | "bullet"; readonly text: string; readonly column: number } | null {
  const match = /^\s*(?:([-*+])|\d{1,9}[.)])\s+(?=\S)/.exec(text);
  if (match === null) return null;
  return {
    kind: match[1] === undefined ? "number" : "bullet",
    text: text.slice(match[0].length).trimEnd(),
    column: match[0].length + 1,
  };
}

const isCheckbox = (text: string): boolean => /^\[[ xX]\]\s/.test(text);
/** `[ ] 01-02: …` is one of the plans listed below a phase. */
const isPlanItem = (text: string): boolean =>
  /^\[[ xX]\]\s+(?:\d+(?:\.\d+)*-\d+\b|TBD\b)/.test(text);
/** A label alone on its line, such as `Plans:`, ends the value. */
const isBareLabel = (text: string): boolean => /^[\p{L}][\p{L} ]{0,40}[:：]$/u.test(text);
