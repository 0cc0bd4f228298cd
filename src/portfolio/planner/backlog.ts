// backlog: reads tasks from a Markdown backlog: headings name projects, open check boxes are tasks,
// items below one say more: `accept: …`. Anything else is a note.

import { prioritiesMax } from "../../contracts/portfolio/portfolio-journal.ts";
import { parseMarkdownLines } from "../../documents/markdown-lines.ts";
import { didYouMean } from "../../kit/suggest.ts";
import type { TaskDraft } from "./draft-tasks.ts";
import { parseBudget } from "./task-notation.ts";

/** The keys of the items below a task. */
export const backlogKeys = [
  "key",
  "accept",
  "after",
  "touches",
  "priority",
  "agent",
  "flow",
  "isolation",
  "budget",
] as const;
type BacklogKey = (typeof backlogKeys)[number];

type MutableDraft = { -readonly [Key in keyof TaskDraft]: TaskDraft[Key] };
type Report = (problem: string) => void;

/** What the lines so far came to. */
type BacklogReader = {
  readonly tasks: MutableDraft[];
  /** The name in the last heading; empty before the first. */
  project: string;
  /** Whether the last check box, to which indented items belong, is one of an open task. */
  boxAbove: "none" | "open" | "done";
};

/** Reads every task; what is wrong is reported with its line, and the other lines still count. */
export function readBacklog(
  file: string,
  text: string,
): { readonly tasks: readonly TaskDraft[]; readonly problems: readonly string[] } {
  const { lines, findings } = parseMarkdownLines(file, text);
  const problems = findings.map(({ line, message }) => `${file}:${line}: ${message}`);
  const reader: BacklogReader = { tasks: [], project: "", boxAbove: "none" };

  for (const { number, text: row, kind } of lines) {
    if (kind !== "text") continue; // a task in a code block or a comment is an example

    const place = `${file}:${number}`;
    const report: Report = (problem) => void problems.push(`${place}: ${problem}`);
    readRow(reader, { row, place }, report);
  }

  return { tasks: reader.tasks, problems };
}

const headingPattern = /^#{1,6}\s+(.+?)\s*#*\s*$/; // "## Shop"
const boxPattern = /^(?:[-*+]|\d+[.)])\s+\[([ xX])\]\s+(\S.*)$/; // "- [ ] add a basket"
const detailPattern = /^\s+[-*+]\s+([A-Za-z_-]+):(?:\s+(.*))?$/; // "  - priority: 2"

/**
 * A mistyped box: `- []`, `-[ ] x`, `- [y] x`, or an indented one. A link in brackets isn't one,
 * and a ticked box is no task anyway.
 */
const mistypedBoxPattern = /^\s*(?:[-*+]|\d+[.)])\s*\[(?:\s*|[^\]xX]|[xX]?\s+|\s+[xX]?)\](?![([])/;

function readRow(
  reader: BacklogReader,
  { row, place }: { readonly row: string; readonly place: string },
  report: Report,
): void {
  const heading = headingPattern.exec(row)?.[1];
  if (heading !== undefined) {
    reader.project = heading;
    reader.boxAbove = "none";
    return;
  }

  const box = boxPattern.exec(row);
  if (box !== null) {
    const [, mark, objective = ""] = box;
    reader.boxAbove = mark === " " ? "open" : "done";
    if (reader.boxAbove === "open") addTask(reader, { objective, place }, report);
    return;
  }

  if (mistypedBoxPattern.test(row)) {
    report(
      'not a check box as a task has it, expected "- [ ] what is to be done" at the margin, or [x]',
    );
    return;
  }

  const detail = detailPattern.exec(row);
  if (detail !== null && reader.boxAbove !== "done") {
    const [, key = "", value = ""] = detail;
    const task = reader.boxAbove === "open" ? reader.tasks.at(-1) : undefined;
    readDetail(task, { key: key.toLowerCase(), value: value.trim() }, report);
  }
}

function addTask(
  { tasks, project }: BacklogReader,
  { objective, place }: { readonly objective: string; readonly place: string },
  report: Report,
): void {
  if (project === "") report("no heading names a project before this task");
  tasks.push({ place, project, objective: objective.trim() });
}

/** An item below a task: `accept: the tests pass :: npm test`. */
function readDetail(
  task: MutableDraft | undefined,
  { key, value }: { readonly key: string; readonly value: string },
  report: Report,
): void {
  if (task === undefined) {
    report(`${key}: belongs to no task`);
  } else if (!isKey(key)) {
    report(`${key} is unknown, expected ${backlogKeys.join(", ")}.${didYouMean(key, backlogKeys)}`);
  } else if (value === "") {
    report(`${key}: says nothing`);
  } else {
    setTaskDetail(task, { key, value }, report);
  }
}

const isKey = (word: string): word is BacklogKey => backlogKeys.some((key) => key === word);

/** Sets the field that an item below a task names; a list adds to what earlier items said. */
function setTaskDetail(
  task: MutableDraft,
  { key, value }: { readonly key: BacklogKey; readonly value: string },
  report: Report,
): void {
  switch (key) {
    case "accept":
      task.accept = [...(task.accept ?? []), value];
      return;
    case "after":
    case "touches":
      task[key] = [...(task[key] ?? []), ...splitList(value)];
      return;
    case "priority":
      setPriority(task, value, report);
      return;
    case "budget":
      setBudget(task, value, report);
      return;
    default:
      task[key] = value;
  }
}

function splitList(value: string): readonly string[] {
  const items = value.split(",").map((item) => item.trim());
  return items.filter((item) => item !== "");
}

function setPriority(task: MutableDraft, value: string, report: Report): void {
  if (/^\d$/.test(value)) task.priority = Number(value);
  else report(`its priority is ${value}, expected 1 (highest) to ${prioritiesMax}`);
}

function setBudget(task: MutableDraft, value: string, report: Report): void {
  const budget = parseBudget(value);
  if (typeof budget === "string") report(budget);
  else task.budget = budget;
}
