// plan: parses the plan of a phase: its tasks, the task of each requirement, and the criteria.

import * as v from "valibot";
import type { Plan, PlanTask } from "../../../contracts/roadmap.ts";
import type { Finding, Position } from "../../../kit/finding.ts";
import { isRefused, parseLocated } from "../../../kit/located.ts";
import { parseFields, headingLevel, parseListItem, type Field } from "../../../documents/fields.ts";
import { parseMarkdownLines, type Line } from "../../../documents/markdown-lines.ts";
import { outsideParentheses } from "../../../documents/parentheses.ts";
import { parseTaskBlocks } from "./plan-tags.ts";
import { parsePlanTask } from "./plan-task.ts";
import { openReport, type Report } from "../../../documents/report.ts";
import { parseCriteria } from "./roadmap-fields.ts";

export const planTasksMax = 200;

export type ParsedPlan = { readonly plan: Plan; readonly findings: readonly Finding[] };

/** Never throws: everything that is wrong is among the findings, and the plan has what could be read. */
export function parsePlan(file: string, text: string): ParsedPlan {
  const report = openReport(file);
  const frontMatter = splitFrontMatter(text.replace(/^\ufeff/, ""));
  const { lines, findings } = parseMarkdownLines(file, frontMatter.body);
  report.add(findings);
  const { blocks, outside } = parseTaskBlocks(lines, report);
  if (blocks.length === 0)
    report.error(
      { line: 1, column: 1 },
      "",
      "no_tasks",
      'found no task, expected <task id="01-01" type="auto" complexity="simple"> … </task>, and not inside a code fence',
    );
  const extra = blocks[planTasksMax];
  if (extra !== undefined) report.error(extra.place, "", "too_many", `found ${blocks.length} tasks, expected at most ${planTasksMax}`);
  const tasks = blocks.slice(0, planTasksMax).flatMap((block) => parsePlanTask(block, report) ?? []);
  const header = parseHeader(file, frontMatter.yaml, report);
  const plan: Plan = {
    requirements: mergeRequirements([...header.requirements, ...parseTable(outside)], tasks),
    must_haves: [...header.mustHaves],
    criteria: parsePlanCriteria(outside, report),
    tasks,
  };
  return { plan, findings: report.findings() };
}

/** A requirement and the tasks that meet it. */
type Row = { readonly id: string; readonly tasks: readonly string[]; readonly line: number };

/** Merges the traceability table with the requirements that tasks name themselves. */
function mergeRequirements(rows: readonly Row[], tasks: readonly PlanTask[]): Plan["requirements"] {
  const taskRows = tasks.flatMap(({ id, requirements, line }) =>
    requirements.map((requirement) => ({ id: requirement, tasks: [id], line })),
  );
  const rowsById = new Map<string, { id: string; tasks: string[]; line: number }>();
  for (const { id, tasks: names, line } of [...rows, ...taskRows]) {
    const merged = rowsById.get(id) ?? { id, tasks: [], line };
    rowsById.set(id, { ...merged, tasks: [...new Set([...merged.tasks, ...names])] });
  }
  return [...rowsById.values()];
}

/** The table whose first column is the requirement and whose second names its tasks. */
function parseTable(lines: readonly Line[]): readonly Row[] {
  const rows: Row[] = [];
  let isInTable = false;
  for (const line of lines) {
    if (line.is !== "text" || !line.text.trim().startsWith("|")) {
      isInTable = false;
      continue;
    }
    const cells = line.text
      .trim()
      .replace(/^\|/, "")
      .split("|")
      .map((cell) => cell.trim());
    const [id = "", taskNames = ""] = cells.map((cell) => cell.replaceAll(/[*`]/g, ""));
    const isHeader = /^requirements?$/i.test(id) && /^tasks?\b/i.test(taskNames);
    const isDivider = /^:?-+:?$/.test(id);
    if (isHeader) isInTable = true;
    else if (isInTable && !isDivider && id !== "") rows.push({ id, tasks: splitNames(taskNames), line: line.number });
  }
  return rows;
}

/** `01-01, 01-02 (both)` → 01-01, 01-02 */
const splitNames = (text: string): readonly string[] =>
  outsideParentheses(text)
    .text.split(/[\s,;、，；]+/)
    .filter((name) => name !== "" && !/^(tasks?|and|none|[-–—]+|tbd)$/i.test(name));

/** `**Success Criteria**:` or a heading of that name, with a numbered list below. */
function parsePlanCriteria(lines: readonly Line[], report: Report): Plan["criteria"] {
  const names = new Set(["success criteria", "acceptance criteria"]);
  const boldField = parseFields(lines, names, "any").find(({ label }) => names.has(label));
  const headingText = ({ text }: Line): string =>
    text
      .replace(/^\s*#+\s*/, "")
      .trim()
      .toLowerCase();
  const headingIndex = lines.findIndex((line) => headingLevel(line) > 0 && names.has(headingText(line)));
  const heading = lines[headingIndex];
  if (boldField === undefined && heading === undefined) return [];
  return parseCriteria(boldField ?? buildField(lines, headingIndex, heading), "success_criteria", report);
}

/** The section under a heading as a field: its lines from the first list item on. */
function buildField(lines: readonly Line[], headingIndex: number, heading: Line | undefined): Field {
  const place: Position = { line: heading?.number ?? 1, column: 1 };
  const endIndex = lines.findIndex((line, index) => index > headingIndex && headingLevel(line) > 0);
  const sectionLines = lines.slice(headingIndex + 1, endIndex < 0 ? undefined : endIndex);
  const listIndex = sectionLines.findIndex((line) => parseListItem(line.text) !== null);
  return { label: "success criteria", place, inline: "", inlinePlace: place, lines: listIndex < 0 ? [] : sectionLines.slice(listIndex) };
}

/** Splits off the YAML front matter. Its lines are blank in `body`, so that every line keeps its number. */
function splitFrontMatter(text: string): { readonly yaml: string | null; readonly body: string } {
  if (!/^---[ \t]*[\r\n]/.test(text)) return { yaml: null, body: text };
  const lines = text.split(/\r\n|\n|\r/);
  const endIndex = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (endIndex < 0) return { yaml: null, body: text };
  const blankLines = Array.from({ length: endIndex + 1 }, () => "");
  return { yaml: ["", ...lines.slice(1, endIndex)].join("\n"), body: [...blankLines, ...lines.slice(endIndex + 1)].join("\n") };
}

const stringList = v.pipe(
  v.array(v.unknown()),
  v.transform((list) => list.filter((item) => typeof item === "string")),
);
/** A list of sentences, or `truths:` with one. */
const MustHaves = v.union([
  stringList,
  v.pipe(
    v.looseObject({ truths: v.optional(stringList, []) }),
    v.transform(({ truths }) => truths),
  ),
]);

/** `requirements` and `must_haves` of the front matter; other keys are ignored. */
function parseHeader(
  file: string,
  yaml: string | null,
  report: Report,
): { readonly requirements: readonly Row[]; readonly mustHaves: readonly string[] } {
  const emptyHeader = { requirements: [], mustHaves: [] };
  if (yaml === null) return emptyHeader;
  const parsed = parseLocated(`${file}#front`, yaml);
  if (isRefused(parsed)) {
    report.add(parsed.findings.map((finding) => ({ ...finding, file })));
    return emptyHeader;
  }
  if (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) return emptyHeader;
  const fields = parsed.value as Readonly<Record<string, unknown>>;
  const readField = <T>(name: string, schema: v.GenericSchema<unknown, T>, expected: string): T | null => {
    if (fields[name] === undefined || fields[name] === null) return null;
    const result = v.safeParse(schema, fields[name]);
    if (result.success) return result.output;
    report.error(parsed.positions.placeOf([name]), name, "wrong_type", `found ${name} of another form, expected ${expected}`);
    return null;
  };
  const requirements = readField("requirements", v.array(v.string()), "a list of requirement ids") ?? [];
  return {
    requirements: requirements.map((id, index) => ({
      id: id.trim(),
      tasks: [],
      line: parsed.positions.placeOf(["requirements", index]).line,
    })),
    mustHaves: readField("must_haves", MustHaves, "a list of sentences, or truths: with one") ?? [],
  };
}
