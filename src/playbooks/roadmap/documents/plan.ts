// plan: reads a phase's plan: its tasks, which requirement is whose, what must be there in the end.

import * as v from "valibot";
import type { Plan, PlanTask } from "../../../contracts/roadmap.ts";
import type { Finding, Position } from "../../../kit/finding.ts";
import { isRefused, parseLocated } from "../../../kit/located.ts";
import { fieldsOf, computeHeadingLevel, parseListItem, type Field } from "../../../documents/fields.ts";
import { markdownLines, type Line } from "../../../documents/markdown-lines.ts";
import { outsideParentheses } from "../../../documents/parentheses.ts";
import { buildTaskBlocks } from "./plan-tags.ts";
import { findPlanTask } from "./plan-task.ts";
import { openReport, type Report } from "../../../documents/report.ts";
import { fieldCriteria } from "./roadmap-fields.ts";

export const planTasksMax = 200;

export type PlanRead = { readonly plan: Plan; readonly findings: readonly Finding[] };

export function readPlan(file: string, text: string): PlanRead {
  const report = openReport(file);
  const front = buildFrontMatter(text.replace(/^\ufeff/, ""));
  const { lines, findings } = markdownLines(file, front.body);
  report.add(findings);
  const { blocks, outside } = buildTaskBlocks(lines, report);
  if (blocks.length === 0)
    report.error(
      { line: 1, column: 1 },
      "",
      "no_tasks",
      'found no task, expected <task id="01-01" type="auto" complexity="simple"> … </task>, and not inside a code fence',
    );
  const extra = blocks[planTasksMax];
  if (extra !== undefined) report.error(extra.place, "", "too_many", `found ${blocks.length} tasks, expected at most ${planTasksMax}`);
  const tasks = blocks.slice(0, planTasksMax).flatMap((block) => findPlanTask(block, report) ?? []);
  const header = headerOf(file, front.yaml, report);
  const plan: Plan = {
    requirements: traced([...header.requirements, ...tableOf(outside)], tasks),
    must_haves: [...header.mustHaves],
    criteria: findCriteria(outside, report),
    tasks,
  };
  return { plan, findings: report.findings() };
}

type Row = { readonly id: string; readonly tasks: readonly string[]; readonly line: number };

/** All that was said about who fulfils what, by requirement. */
function traced(rows: readonly Row[], tasks: readonly PlanTask[]): Plan["requirements"] {
  const said = tasks.flatMap(({ id, requirements, line }) => requirements.map((requirement) => ({ id: requirement, tasks: [id], line })));
  const byId = new Map<string, { id: string; tasks: string[]; line: number }>();
  for (const { id, tasks: names, line } of [...rows, ...said]) {
    const known = byId.get(id) ?? { id, tasks: [], line };
    byId.set(id, { ...known, tasks: [...new Set([...known.tasks, ...names])] });
  }
  return [...byId.values()];
}

/** The table whose first column is the requirement and whose second names its tasks. */
function tableOf(lines: readonly Line[]): readonly Row[] {
  const rows: Row[] = [];
  let isInside = false;
  for (const line of lines) {
    if (line.is !== "text" || !line.text.trim().startsWith("|")) {
      isInside = false;
      continue;
    }
    const cells = line.text
      .trim()
      .replace(/^\|/, "")
      .split("|")
      .map((cell) => cell.trim());
    const [first = "", second = ""] = cells.map((cell) => cell.replaceAll(/[*`]/g, ""));
    if (/^requirements?$/i.test(first) && /^tasks?\b/i.test(second)) isInside = true;
    else if (isInside && !/^:?-+:?$/.test(first) && first !== "") rows.push({ id: first, tasks: findNames(second), line: line.number });
  }
  return rows;
}

const findNames = (text: string): readonly string[] =>
  outsideParentheses(text)
    .text.split(/[\s,;、，；]+/)
    .filter((name) => name !== "" && !/^(tasks?|and|none|[-–—]+|tbd)$/i.test(name));

/** `**Success Criteria**:` or a heading of that name, with a numbered list below. */
function findCriteria(lines: readonly Line[], report: Report): Plan["criteria"] {
  const names = new Set(["success criteria", "acceptance criteria"]);
  const bold = fieldsOf(lines, names, "any").find(({ label }) => names.has(label));
  const index = lines.findIndex(
    (line) =>
      computeHeadingLevel(line) > 0 &&
      names.has(
        line.text
          .replace(/^\s*#+\s*/, "")
          .trim()
          .toLowerCase(),
      ),
  );
  const heading = lines[index];
  if (bold === undefined && heading === undefined) return [];
  return fieldCriteria(bold ?? fieldUnder(lines, index, heading), "success_criteria", report);
}

function fieldUnder(lines: readonly Line[], at: number, heading: Line | undefined): Field {
  const place: Position = { line: heading?.number ?? 1, column: 1 };
  const end = lines.findIndex((line, n) => n > at && computeHeadingLevel(line) > 0);
  const ownLines = lines.slice(at + 1, end < 0 ? undefined : end);
  const first = ownLines.findIndex((line) => parseListItem(line.text) !== null);
  return { label: "success criteria", place, inline: "", inlinePlace: place, lines: first < 0 ? [] : ownLines.slice(first) };
}

/** The YAML between two `---` at the very top, and the text with it blanked out, so that every line keeps its number. */
function buildFrontMatter(text: string): { readonly yaml: string | null; readonly body: string } {
  if (!/^---[ \t]*[\r\n]/.test(text)) return { yaml: null, body: text };
  const lines = text.split(/\r\n|\n|\r/);
  const end = lines.findIndex((line, n) => n > 0 && /^(---|\.\.\.)\s*$/.test(line));
  if (end < 0) return { yaml: null, body: text };
  const blank = Array.from({ length: end + 1 }, () => "");
  return { yaml: ["", ...lines.slice(1, end)].join("\n"), body: [...blank, ...lines.slice(end + 1)].join("\n") };
}

const words = v.pipe(
  v.array(v.unknown()),
  v.transform((list) => list.filter((item) => typeof item === "string")),
);
const MustHaves = v.union([
  words,
  v.pipe(
    v.looseObject({ truths: v.optional(words, []) }),
    v.transform(({ truths }) => truths),
  ),
]);

/** What the front matter says: `requirements` and `must_haves`; the rest of it is for others. */
function headerOf(
  file: string,
  yaml: string | null,
  report: Report,
): { readonly requirements: readonly Row[]; readonly mustHaves: readonly string[] } {
  const nothing = { requirements: [], mustHaves: [] };
  if (yaml === null) return nothing;
  const parsed = parseLocated(`${file}#front`, yaml);
  if (isRefused(parsed)) {
    report.add(parsed.findings.map((finding) => ({ ...finding, file })));
    return nothing;
  }
  if (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) return nothing;
  const fields = parsed.value as Readonly<Record<string, unknown>>;
  const take = <T>(name: string, schema: v.GenericSchema<unknown, T>, expected: string): T | null => {
    if (fields[name] === undefined || fields[name] === null) return null;
    const read = v.safeParse(schema, fields[name]);
    if (read.success) return read.output;
    report.error(parsed.positions.placeOf([name]), name, "wrong_type", `found ${name} of another form, expected ${expected}`);
    return null;
  };
  const requirements = take("requirements", v.array(v.string()), "a list of requirement ids") ?? [];
  return {
    requirements: requirements.map((id, n) => ({ id: id.trim(), tasks: [], line: parsed.positions.placeOf(["requirements", n]).line })),
    mustHaves: take("must_haves", MustHaves, "a list of sentences, or truths: with one") ?? [],
  };
}
