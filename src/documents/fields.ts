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
      line.kind === "text"
        ? (parseBoldLabel(line.text) ?? parsePlainLabel(line.text, plain))
        : null;
    const isKnown = label !== null && known.has(label.label);
    if (label !== null && (isKnown || (ending === "any" && !label.isBulleted))) {
      openField = {
        label: label.label,
        place: { line: line.number, column: label.column },
        inline: label.textAfter,
        inlinePlace: { line: line.number, column: label.textAfterColumn },
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
export function headingLevel({ text, kind }: Line): number {
  return kind === "text" ? (/^ {0,3}(#{1,6})(?:\s|$)/.exec(text)?.[1]?.length ?? 0) : 0;
}

/**
 * The value as one paragraph: wrapped lines and list items are joined, up to a blank line after
 * some text, a label alone or a checkbox.
 */
export function readFieldParagraph({ inline, lines }: Field): string {
  const parts = inline === "" ? [] : [inline];
  for (const line of lines) {
    if (line.kind !== "text") continue;
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
  const list = new ItemList();
  if (inline !== "") list.addInline(inline, inlinePlace);

  let isAfterBlank = false;
  for (const line of lines) {
    if (line.kind !== "text") continue;
    if (line.text.trim() === "") {
      isAfterBlank = true;
      continue;
    }

    if (!list.addLine(line, isAfterBlank)) break;
    isAfterBlank = false;
  }

  return list.toItems();
}

type ListItem = NonNullable<ReturnType<typeof parseListItem>>;

class ItemList {
  readonly #items: { readonly text: string[]; place: Position; kind: Item["kind"] }[] = [];
  /** The first item below the label: those that follow have its kind, and are not deeper. */
  #firstItem: { readonly indent: number; readonly kind: Item["kind"] } | null = null;
  /** The latest item was a nested one. */
  #isNested = false;

  addInline(inline: string, place: Position): void {
    const text = parseListItem(inline)?.text ?? inline;
    this.#items.push({ text: [text], place, kind: "inline" });
  }

  /** Adds a line that is not blank. False if the list ends before it. */
  addLine(line: Line, isAfterBlank: boolean): boolean {
    const item = parseListItem(line.text);
    return item === null ? this.#addText(line, isAfterBlank) : this.#addItem(line, item);
  }

  #addText(line: Line, isAfterBlank: boolean): boolean {
    const text = line.text.trim();
    if (isBareLabel(text)) return false;
    if (this.#items.length === 0) return true; // an introduction to the list

    const isIndented = this.#firstItem !== null && line.indent > this.#firstItem.indent;
    if (isAfterBlank) return isIndented; // a further paragraph of the item, which is ignored
    if (!this.#isNested) this.#extendLatest(text);
    return true;
  }

  #addItem(line: Line, { kind, text, column }: ListItem): boolean {
    const first = this.#firstItem;
    if (first !== null && line.indent >= first.indent + 2) {
      this.#isNested = true;
      if (/^verified by\b/i.test(text)) this.#extendLatest(`-- ${text}`);
      return true;
    }

    const isOtherList = first !== null && kind !== first.kind;
    if (isOtherList || isPlanItem(text)) return false;

    this.#firstItem ??= { indent: line.indent, kind };
    this.#isNested = false;
    const place = { line: line.number, column };
    this.#items.push({ text: [text.replace(checkbox, "")], place, kind });
    return true;
  }

  #extendLatest(text: string): void {
    this.#items.at(-1)?.text.push(text);
  }

  toItems(): readonly Item[] {
    return this.#items.map(({ text, place, kind }) => ({ text: text.join(" "), place, kind }));
  }
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

/** `[ ] `, `[x] ` */
const checkbox = /^\[[ xX]\]\s+/;
const isCheckbox = (text: string): boolean => checkbox.test(text);
/** `[ ] 01-02: …` is one of the plans listed below a phase. */
const isPlanItem = (text: string): boolean =>
  /^\[[ xX]\]\s+(?:\d+(?:\.\d+)*-\d+\b|TBD\b)/.test(text);
/** A label alone on its line, such as `Plans:`, ends the value. */
const isBareLabel = (text: string): boolean => /^[\p{L}][\p{L} ]{0,40}[:：]$/u.test(text);
