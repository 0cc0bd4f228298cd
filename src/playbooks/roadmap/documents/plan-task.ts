// plan-task: one task of a plan from its block: attributes, and its parts either as bold fields or as child elements.

import { complexities, taskTypes, type CheckedCriterion, type PlanTask } from "../../../contracts/roadmap.ts";
import { shown, type Position } from "../../../kit/finding.ts";
import { didYouMean } from "../../../kit/suggest.ts";
import { listCodeSpans } from "../../../documents/code-spans.ts";
import { fieldsOf, computeHeadingLevel, fieldItems, oncePerLabel, fieldParagraph, type Field } from "../../../documents/fields.ts";
import type { Line } from "../../../documents/markdown-lines.ts";
import { outsideParentheses } from "../../../documents/parentheses.ts";
import { pathOf, type TaskBlock } from "./plan-tags.ts";
import type { Report } from "../../../documents/report.ts";
import { isPlaceholder, locatedCriterion, fieldRequirements } from "./roadmap-fields.ts";

const parts = new Set(["files", "action", "verify", "done", "depends on", "requirements"]);
const namesMax = 500;
const idForm = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** The task, whole or with gaps: missing fields are empty, for lint to report. Null if it has no usable id. */
export function findPlanTask(block: TaskBlock, report: Report): PlanTask | null {
  const { attributes, place, wave, lines } = block;
  const path = pathOf(attributes);
  const id = attributes.get("id") ?? "";
  if (!idForm.test(id)) {
    const message = `found ${id === "" ? "no id" : `the id ${shown(id)}`}, expected id="03-01": letters, digits, _ . -`;
    report.error(place, path, "task_id", message);
  }
  const fields = fieldsByName(lines, path, report);
  const dependsOn = fields.get("depends on");
  const written = ["depends_on", "depends", "after"].flatMap((name) => attributes.get(name) ?? []).join(",");
  const requirements = fields.get("requirements");
  if (!idForm.test(id)) return null;
  return {
    id,
    title: titleIn(lines, id, attributes),
    type: typeOf(attributes, place, path, report),
    complexity: complexityOf(attributes, place, path, report),
    wave,
    after: [...new Set([...findNames(written), ...(dependsOn === undefined ? [] : findNames(fieldParagraph(dependsOn)))])],
    files: fieldFiles(fields.get("files"), path, report),
    action: wholeOf(fields.get("action")),
    verify: fieldVerify(fields.get("verify"), `${path}.verify`, report),
    done: wholeOf(fields.get("done")),
    requirements: [
      ...new Set([
        ...findNames(attributes.get("requirements") ?? attributes.get("requirement") ?? ""),
        ...(requirements === undefined ? [] : fieldRequirements(requirements)),
      ]),
    ],
    line: place.line,
  };
}

function typeOf(attributes: ReadonlyMap<string, string>, place: Position, path: string, report: Report): PlanTask["type"] {
  const written = attributes.get("type") ?? "";
  const type = taskTypes.find((taskType) => taskType === written);
  if (type !== undefined) return type;
  const message = `found ${written === "" ? "no type" : `the type ${shown(written)}`}, expected ${taskTypes.join(" or ")}.${didYouMean(written, taskTypes)}`;
  report.error(place, `${path}.type`, "task_type", message);
  return "auto";
}

function complexityOf(attributes: ReadonlyMap<string, string>, place: Position, path: string, report: Report): PlanTask["complexity"] {
  const written = attributes.get("complexity") ?? "";
  const complexity = complexities.find((candidate) => candidate === written) ?? null;
  const message = `found ${written === "" ? "no complexity" : `the complexity ${shown(written)}`}, expected ${complexities.join(", ")}.${didYouMean(written, complexities)}`;
  if (complexity === null) report[written === "" ? "warning" : "error"](place, `${path}.complexity`, "task_complexity", message);
  return complexity;
}

/** `### Task 03-01: Name`, a `<name>` child, a `name` attribute. */
function titleIn(lines: readonly Line[], id: string, attributes: ReadonlyMap<string, string>): string {
  const heading = lines.find((line) => computeHeadingLevel(line) > 0);
  if (heading !== undefined) {
    const text = heading.text.replace(/^\s*#+\s*/, "").trim();
    const named = /^task\s+\S+\s*[:：]\s*(.+)$/i.exec(text)?.[1] ?? text;
    return named.slice(0, 300);
  }
  const child = lines.map(({ text, is }) =>
    is === "text" ? /^\s*<(?:name|title)>(.{1,300}?)<\/(?:name|title)>/i.exec(text)?.[1] : undefined,
  );
  return child.find((name) => name !== undefined)?.trim() ?? attributes.get("name") ?? id;
}

/** Bold fields, and elements turned into the same shape. */
function fieldsByName(lines: readonly Line[], path: string, report: Report): ReadonlyMap<string, Field> {
  const foundFields = [...fieldsOf(withoutElements(lines), parts, "known"), ...elementsOf(lines, path, report)];
  return oncePerLabel(foundFields, parts, path, report);
}

const elementOpens = /^\s*<(files|action|verify|done|depends_on|requirements)>/i;

/** The lines outside child elements: an element's text may hold bold words that aren't fields. */
function withoutElements(lines: readonly Line[]): readonly Line[] {
  let inside: string | null = null;
  return lines.filter((line) => {
    const opened: string | undefined = inside === null && line.is === "text" ? elementOpens.exec(line.text)?.[1]?.toLowerCase() : undefined;
    if (opened !== undefined) inside = opened;
    const isInside = inside !== null;
    if (inside !== null && line.is === "text" && line.text.toLowerCase().includes(`</${inside}>`)) inside = null;
    return !isInside;
  });
}

function elementsOf(lines: readonly Line[], path: string, report: Report): readonly Field[] {
  const fields: Field[] = [];
  let open: (Omit<Field, "lines"> & { readonly name: string; readonly lines: Line[] }) | null = null;
  for (const line of lines) {
    let text = line.text;
    const opened: RegExpExecArray | null = open === null && line.is === "text" ? elementOpens.exec(text) : null;
    if (opened !== null) {
      const name = (opened[1] ?? "").toLowerCase();
      const place: Position = { line: line.number, column: text.search(/\S/) + 1 };
      open = {
        name,
        label: name.replace("_", " "),
        place,
        inline: "",
        inlinePlace: { line: line.number, column: opened[0].length + 1 },
        lines: [],
      };
      text = text.slice(opened[0].length);
    }
    if (open === null) continue;
    const close: number = line.is === "text" ? text.toLowerCase().lastIndexOf(`</${open.name}>`) : -1;
    const inner = close < 0 ? text : text.slice(0, close);
    if (opened !== null) open = { ...open, inline: inner.trim() };
    else open.lines.push({ ...line, text: inner });
    if (close < 0) continue;
    fields.push(open);
    open = null;
  }
  if (open !== null)
    report.error(open.place, `${path}.${open.name}`, "unclosed_element", `found <${open.name}> without an end, expected </${open.name}>`);
  return fields;
}

const findNames = (text: string): readonly string[] =>
  outsideParentheses(text)
    .text.replaceAll(/[*`"[\]]/g, "")
    .split(/[\s,;、，；]+/)
    .filter((name) => name !== "" && !/^(tasks?|and|nothing|none|n\/a|-)$/i.test(name));

/** Paths, by comma or one a line; what is in parentheses behind one is a remark. */
function fieldFiles(field: Field | undefined, path: string, report: Report): string[] {
  const files = new Set<string>();
  for (const { text, place } of field === undefined ? [] : itemsOrLines(field)) {
    for (const piece of findPieces(text)) {
      const file = piece.replace(/^(?:\.\/)+/, "");
      if (isPlaceholder(file) || /^(none|n\/a|[-–—])$/i.test(file)) continue;
      const isInside = !/^[/\\~]|^[A-Za-z]:|[\\\s]/.test(file) && !file.split("/").includes("..");
      if (isInside) files.add(file);
      else report.error(place, `${path}.files`, "file_path", `found ${shown(piece)}, expected a path inside the project`);
    }
  }
  return [...files].slice(0, namesMax);
}

/** Between commas; of a piece its backticks count, else of several words those that look like a path. */
function findPieces(text: string): readonly string[] {
  return outsideParentheses(text)
    .text.split(/[,;、，；]/)
    .map((piece) => piece.trim().replace(/^\*\*(.*)\*\*$/, "$1"))
    .flatMap((piece) => {
      const spans = listCodeSpans(piece);
      if (spans.length > 0) return spans.map(({ code }) => code.trim());
      const paths = piece.split(/\s+/).filter((word) => /[./]/.test(word));
      return piece === "" ? [] : paths.length === 0 ? [piece] : paths;
    });
}

const itemsOrLines = (field: Field): readonly { readonly text: string; readonly place: Position }[] => {
  const listedItems = fieldItems(field);
  if (listedItems.length > 0) return listedItems;
  const lines = field.lines.filter(({ is, text }) => is === "text" && text.trim() !== "");
  return lines.map(({ text, number }) => ({ text: text.trim(), place: { line: number, column: text.search(/\S/) + 1 } }));
};

/** The field as it was written, code and all. */
function wholeOf(field: Field | undefined): string {
  if (field === undefined) return "";
  return [field.inline, ...field.lines.map(({ text }) => text.trimEnd())].join("\n").trim();
}

/** Every item with its check; a command alone in backticks is its own text. */
function fieldVerify(field: Field | undefined, path: string, report: Report): CheckedCriterion[] {
  if (field === undefined) return [];
  return itemsOrLines(field)
    .filter(({ text }) => !isPlaceholder(text))
    .map(({ text, place }, n) => {
      const criterion = locatedCriterion(text, place, `${path}[${n}]`, report);
      const [span] = listCodeSpans(text);
      const isCode = criterion.command === null && span !== undefined && span.start === 0 && span.end === text.trim().length;
      return isCode ? { ...criterion, text: span.code.trim(), command: span.code.trim() } : criterion;
    });
}
