// plan-task: parses one task of a plan: its attributes, and its parts as bold fields or child
// elements.

import { taskTypes, type CheckedCriterion, type PlanTask } from "../../../contracts/roadmap.ts";
import { complexities } from "../../../contracts/roadmap-values.ts";
import { shown, type Position } from "../../../kit/finding.ts";
import { didYouMean } from "../../../kit/suggest.ts";
import { listCodeSpans } from "../../../documents/code-spans.ts";
import {
  parseFields,
  headingLevel,
  listFieldItems,
  indexByLabel,
  readFieldParagraph,
  type Field,
} from "../../../documents/fields.ts";
import type { Line } from "../../../documents/markdown-lines.ts";
import { dropParentheses } from "../../../documents/parentheses.ts";
import { parseElements } from "./plan-elements.ts";
import { findingPath, type TaskBlock } from "./plan-tags.ts";
import type { Report } from "../../../documents/report.ts";
import {
  isPlaceholder,
  parseLocatedCriterion,
  parseRequirements,
  splitNames,
} from "./roadmap-fields.ts";

const fieldLabels = new Set(["files", "action", "verify", "done", "depends on", "requirements"]);
const filesMax = 500;
const titleCharsMax = 300;
const idPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Missing fields are empty, and lint reports them. Null if the task has no valid id. */
export function parsePlanTask(block: TaskBlock, report: Report): PlanTask | null {
  const { attributes, place, wave, lines } = block;
  const path = findingPath(attributes);
  const id = attributes.get("id") ?? "";
  if (!idPattern.test(id)) {
    const message = `found ${id === "" ? "no id" : `the id ${shown(id)}`}, expected id="03-01": letters, digits, _ . -`;
    report.error(place, path, "task_id", message);
  }

  const fields = fieldsByName(lines, path, report); // before the id is refused, so that all faults are reported at once
  if (!idPattern.test(id)) return null;
  const dependsField = fields.get("depends on");
  const dependsAttributes = ["depends_on", "depends", "after"]
    .flatMap((name) => attributes.get(name) ?? [])
    .join(",");

  const dependsText = dependsField === undefined ? "" : readFieldParagraph(dependsField);
  const requirementsField = fields.get("requirements");
  const requirementsAttribute =
    attributes.get("requirements") ?? attributes.get("requirement") ?? "";
  const fieldRequirements =
    requirementsField === undefined
      ? []
      : parseRequirements(requirementsField, `${path}.requirements`, report);

  return {
    id,
    title: findTitle(lines, id, attributes),
    type: parseType(attributes, place, path, report),
    complexity: parseComplexity(attributes, place, path, report),
    wave,
    after: [...new Set([...splitNames(dependsAttributes), ...splitNames(dependsText)])],
    files: parseFiles(fields.get("files"), path, report),
    action: rawText(fields.get("action")),
    verify: parseVerify(fields.get("verify"), `${path}.verify`, report),
    done: rawText(fields.get("done")),
    requirements: [...new Set([...splitNames(requirementsAttribute), ...fieldRequirements])],
    line: place.line,
  };
}

function parseType(
  attributes: ReadonlyMap<string, string>,
  place: Position,
  path: string,
  report: Report,
): PlanTask["type"] {
  const typeText = attributes.get("type") ?? "";
  const type = taskTypes.find((taskType) => taskType === typeText);
  if (type !== undefined) return type;
  const actual = typeText === "" ? "no type" : `the type ${shown(typeText)}`;
  const message = `found ${actual}, expected ${taskTypes.join(" or ")}.${didYouMean(typeText, taskTypes)}`;
  report.error(place, `${path}.type`, "task_type", message);

  return "auto";
}

function parseComplexity(
  attributes: ReadonlyMap<string, string>,
  place: Position,
  path: string,
  report: Report,
): PlanTask["complexity"] {
  const complexityText = attributes.get("complexity") ?? "";
  const complexity = complexities.find((candidate) => candidate === complexityText);
  if (complexity !== undefined) return complexity;
  const isMissing = complexityText === "";
  const actual = isMissing ? "no complexity" : `the complexity ${shown(complexityText)}`;
  const message = `found ${actual}, expected ${complexities.join(", ")}.${didYouMean(complexityText, complexities)}`;
  report[isMissing ? "warning" : "error"](place, `${path}.complexity`, "task_complexity", message);

  return null;
}

/** From `### Task 03-01: Name`, else a `<name>` child, else the `name` attribute, else the id. */
function findTitle(
  lines: readonly Line[],
  id: string,
  attributes: ReadonlyMap<string, string>,
): string {
  const heading = lines.find((line) => headingLevel(line) > 0);
  if (heading !== undefined) {
    const text = heading.text.replace(/^\s*#+\s*/, "").trim();
    const title = /^task\s+\S+\s*[:：]\s*(.+)$/i.exec(text)?.[1] ?? text;
    return title.slice(0, titleCharsMax);
  }

  const textLines = lines.filter(({ kind }) => kind === "text");
  const childNames = textLines.flatMap(
    ({ text }) => /^\s*<(?:name|title)>(.{1,300}?)<\/(?:name|title)>/i.exec(text)?.[1] ?? [],
  );
  return childNames[0]?.trim() ?? attributes.get("name") ?? id;
}

/** The fields of a task, whether written as bold labels or as elements. */
function fieldsByName(
  lines: readonly Line[],
  path: string,
  report: Report,
): ReadonlyMap<string, Field> {
  const { elements, outside } = parseElements(lines, path, report);
  const fields = [...parseFields(outside, fieldLabels, "known"), ...elements];
  return indexByLabel(fields, { known: fieldLabels, path, report });
}

/**
 * Paths, separated by commas or one per line; text in parentheses is a remark. Paths beyond the
 * limit are reported and left out.
 */
function parseFiles(field: Field | undefined, path: string, report: Report): string[] {
  const files = new Set<string>();
  for (const { text, place } of field === undefined ? [] : itemsOrLines(field)) {
    for (const piece of splitPaths(text)) {
      const file = piece.replace(/^(?:\.\/)+/, "");
      if (isPlaceholder(file) || /^(none|n\/a|[-–—])$/i.test(file)) continue;
      const isInside = !/^[/\\~]|^[A-Za-z]:|[\\\s]/.test(file) && !file.split("/").includes("..");
      if (isInside) {
        files.add(file);
      } else {
        report.error(
          place,
          `${path}.files`,
          "file_path",
          `found ${shown(piece)}, expected a path inside the project`,
        );
      }
    }
  }

  if (field !== undefined && files.size > filesMax) {
    report.error(
      field.place,
      `${path}.files`,
      "too_many",
      `found ${files.size} files, expected at most ${filesMax}`,
    );
  }

  return [...files].slice(0, filesMax);
}

/**
 * Splits at commas. In each part the text in backticks counts, else the words that look like a
 * path.
 */
function splitPaths(text: string): readonly string[] {
  return dropParentheses(text)
    .text.split(/[,;、，；]/)
    .map((piece) => piece.trim().replace(/^\*\*(.*)\*\*$/, "$1"))
    .flatMap((piece) => {
      const spans = listCodeSpans(piece);
      if (spans.length > 0) return spans.map(({ code }) => code.trim());
      if (piece === "") return [];
      const paths = piece.split(/\s+/).filter((word) => /[./]/.test(word));

      return paths.length === 0 ? [piece] : paths;
    });
}

/** The items of a field's list; if it has none, its lines. */
const itemsOrLines = (
  field: Field,
): readonly { readonly text: string; readonly place: Position }[] => {
  const items = listFieldItems(field);
  if (items.length > 0) return items;
  const lines = field.lines.filter(({ kind, text }) => kind === "text" && text.trim() !== "");

  return lines.map(({ text, number }) => ({
    text: text.trim(),
    place: { line: number, column: text.search(/\S/) + 1 },
  }));
};

/** The text of a field, including code. */
function rawText(field: Field | undefined): string {
  if (field === undefined) return "";
  return [field.inline, ...field.lines.map(({ text }) => text.trimEnd())].join("\n").trim();
}

/**
 * Every item with its check. For an item that is only a command in backticks, the command is also
 * its text.
 */
function parseVerify(field: Field | undefined, path: string, report: Report): CheckedCriterion[] {
  if (field === undefined) return [];
  return itemsOrLines(field)
    .filter(({ text }) => !isPlaceholder(text))
    .map(({ text, place }, index) => {
      const criterion = parseLocatedCriterion(text, place, `${path}[${index}]`, report);
      const [span] = listCodeSpans(text);

      const isCode =
        criterion.command === null &&
        span !== undefined &&
        span.start === 0 &&
        span.end === text.trim().length;
      return isCode
        ? { ...criterion, text: span.code.trim(), command: span.code.trim() }
        : criterion;
    });
}
