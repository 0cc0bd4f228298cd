// plan: parses the plan of a phase: its tasks, the task of each requirement, and the criteria.

import * as v from "valibot";
import type { Plan, PlanTask } from "../../../contracts/roadmap.ts";
import type { Finding, Position } from "../../../kit/finding.ts";
import { isRefused, parseLocated, type Positions } from "../../../kit/located.ts";
import { isTree } from "../../../documents/line-rules.ts";
import { parseFields, headingLevel, parseListItem, type Field } from "../../../documents/fields.ts";
import { parseMarkdownLines, type Line } from "../../../documents/markdown-lines.ts";
import { parseTaskBlocks } from "./plan-tags.ts";
import { parsePlanTask } from "./plan-task.ts";
import { openReport, type Report } from "../../../documents/report.ts";
import { parseCriteria, splitNames } from "./roadmap-fields.ts";

export const planTasksMax = 200;

export type ParsedPlan = { readonly plan: Plan; readonly findings: readonly Finding[] };

/**
 * Never throws: everything that is wrong is among the findings, and the plan has what could be
 * read.
 */
export function parsePlan(file: string, text: string): ParsedPlan {
  const report = openReport(file);
  const frontMatter = splitFrontMatter(text.replace(/^\ufeff/, ""));
  const { lines, findings } = parseMarkdownLines(file, frontMatter.body);
  report.add(findings);
  const { blocks, outside } = parseTaskBlocks(lines, report);
  if (blocks.length === 0) {
    report.error(
      { line: 1, column: 1 },
      "",
      "no_tasks",
      'found no task, expected <task id="01-01" type="auto" complexity="simple"> … </task>, and not inside a code fence',
    );
  }

  const firstExtra = blocks[planTasksMax];
  if (firstExtra !== undefined) {
    report.error(
      firstExtra.place,
      "",
      "too_many",
      `found ${blocks.length} tasks, expected at most ${planTasksMax}`,
    );
  }

  const tasks = blocks
    .slice(0, planTasksMax)
    .flatMap((block) => parsePlanTask(block, report) ?? []);

  const { requirements, mustHaves } = parseFrontMatter(file, frontMatter.yaml, report);
  const plan: Plan = {
    requirements: mergeRequirements([...requirements, ...parseTraceabilityTable(outside)], tasks),
    must_haves: [...mustHaves],
    criteria: parsePlanCriteria(outside, report),
    tasks,
  };

  return { plan, findings: report.findings() };
}

/** A requirement and the tasks that meet it. */
type RequirementRow = {
  readonly id: string;
  readonly tasks: readonly string[];
  readonly line: number;
};

/** Merges the traceability table with the requirements that tasks name themselves. */
function mergeRequirements(
  rows: readonly RequirementRow[],
  tasks: readonly PlanTask[],
): Plan["requirements"] {
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

/**
 * The rows of tables with the heads `Requirement` and `Task…`. Lint reports requirements that no
 * row gives a task.
 */
function parseTraceabilityTable(lines: readonly Line[]): readonly RequirementRow[] {
  const rows: RequirementRow[] = [];
  let isInTable = false;

  for (const line of lines) {
    if (line.kind !== "text" || !line.text.trim().startsWith("|")) {
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

    if (isHeader) {
      isInTable = true;
    } else if (isInTable && !isDivider && id !== "") {
      rows.push({ id, tasks: splitNames(taskNames), line: line.number });
    }
  }

  return rows;
}

/** `**Success Criteria**:` or a heading of that name, with a numbered list below. */
function parsePlanCriteria(lines: readonly Line[], report: Report): Plan["criteria"] {
  const names = new Set(["success criteria", "acceptance criteria"]);
  const boldField = parseFields(lines, names, "any").find(({ label }) => names.has(label));

  const headingText = ({ text }: Line): string =>
    text
      .replace(/^\s*#+\s*/, "")
      .trim()
      .toLowerCase();
  const headingIndex = lines.findIndex(
    (line) => headingLevel(line) > 0 && names.has(headingText(line)),
  );
  const heading = lines[headingIndex];
  if (boldField === undefined && heading === undefined) return [];

  return parseCriteria(
    boldField ?? buildField(lines, headingIndex, heading),
    "success_criteria",
    report,
  );
}

/** The section under a heading as a field: its lines from the first list item on. */
function buildField(
  lines: readonly Line[],
  headingIndex: number,
  heading: Line | undefined,
): Field {
  const place: Position = { line: heading?.number ?? 1, column: 1 };
  const endIndex = lines.findIndex((line, index) => index > headingIndex && headingLevel(line) > 0);
  const sectionLines = lines.slice(headingIndex + 1, endIndex < 0 ? undefined : endIndex);
  const listIndex = sectionLines.findIndex((line) => parseListItem(line.text) !== null);

  return {
    label: "success criteria",
    place,
    inline: "",
    inlinePlace: place,
    lines: listIndex < 0 ? [] : sectionLines.slice(listIndex),
  };
}

/**
 * Splits off the YAML front matter. Its lines are blank in `body`, so that every line keeps its
 * number.
 */
function splitFrontMatter(text: string): { readonly yaml: string | null; readonly body: string } {
  if (!/^---[ \t]*[\r\n]/.test(text)) return { yaml: null, body: text };
  const lines = text.split(/\r\n|\n|\r/);
  const endIndex = lines.findIndex((line, index) => index > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (endIndex < 0) return { yaml: null, body: text };
  const blankLines = Array.from({ length: endIndex + 1 }, () => "");

  return {
    yaml: ["", ...lines.slice(1, endIndex)].join("\n"),
    body: [...blankLines, ...lines.slice(endIndex + 1)].join("\n"),
  };
}

type FrontMatter = {
  readonly requirements: readonly RequirementRow[];
  readonly mustHaves: readonly string[];
};

/** `requirements` and `must_haves` of the front matter; other keys are ignored. */
function parseFrontMatter(file: string, yaml: string | null, report: Report): FrontMatter {
  const empty: FrontMatter = { requirements: [], mustHaves: [] };
  if (yaml === null) return empty;
  // The suffix keeps a file called x.json from being read as JSON: front matter is YAML.
  const parsed = parseLocated(`${file}#front`, yaml);
  if (isRefused(parsed)) {
    report.add(parsed.findings.map((finding) => ({ ...finding, file })));
    return empty;
  }

  const { value, positions } = parsed;
  if (value === null || value === undefined) return empty;
  if (!isTree(value)) {
    report.warning(
      { line: 2, column: 1 },
      "",
      "wrong_type",
      "found front matter that is no mapping, expected `requirements: [...]`; it is not read",
    );

    return empty;
  }

  return {
    requirements: readRequirements(value, positions, report),
    mustHaves: readMustHaves(value, positions, report),
  };
}

type FrontFields = Readonly<Record<string, unknown>>;

function readRequirements(
  { requirements }: FrontFields,
  positions: Positions,
  report: Report,
): readonly RequirementRow[] {
  if (requirements === undefined || requirements === null) return [];
  const result = v.safeParse(v.array(v.string()), requirements);
  if (!result.success) {
    const message = "found requirements of another form, expected a list of requirement ids";
    report.error(positions.placeOf(["requirements"]), "requirements", "wrong_type", message);
    return [];
  }

  return result.output.map((id, index) => ({
    id: id.trim(),
    tasks: [],
    line: positions.placeOf(["requirements", index]).line,
  }));
}

/**
 * A list of sentences, or `truths:` with one. An item that is no sentence is reported and left out.
 */
function readMustHaves(
  { must_haves: mustHaves }: FrontFields,
  positions: Positions,
  report: Report,
): readonly string[] {
  if (mustHaves === undefined || mustHaves === null) return [];
  const list = isTree(mustHaves) ? (mustHaves["truths"] ?? []) : mustHaves;
  const listPath = isTree(mustHaves) ? ["must_haves", "truths"] : ["must_haves"];

  if (!Array.isArray(list)) {
    const message =
      "found must_haves of another form, expected a list of sentences, or truths: with one";
    report.error(positions.placeOf(["must_haves"]), "must_haves", "wrong_type", message);
    return [];
  }

  const sentences: string[] = [];
  for (const [index, item] of (list as readonly unknown[]).entries()) {
    if (typeof item === "string") {
      sentences.push(item);
    } else {
      report.warning(
        positions.placeOf([...listPath, index]),
        `${listPath.join(".")}[${index}]`,
        "wrong_type",
        "found an item that is no sentence, which is not read; put it in quotes if it has a colon",
      );
    }
  }

  return sentences;
}
