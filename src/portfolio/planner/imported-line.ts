// imported-line: applies a line that another tool appended to the events file: its projects, tasks and questions. Missing fields get our
// defaults. The file may have come with a repository, so a line is data and grants nothing.
//
// Invariants:
//   I1. It starts nothing: a task that it makes ready, or running elsewhere, is proposed here, and one that failed there is not tried
//       again.
//   I2. It names no repository to work in, and lands nothing unproved: a person does.
//   I3. It moves no task and answers no question of ours, nor one of theirs that was taken up here.

import { type PortfolioTaskStatus, portfolioTaskStatuses } from "../../contracts/portfolio.ts";
import { prioritiesMax, priorityDefault, type TaskFields } from "../../contracts/portfolio-journal.ts";
import { noUsage, type Portfolio, type PortfolioView, failuresMax } from "./state.ts";
import { addTask, type NewTask, setStatus, type Stamp } from "./task-changes.ts";

const criteriaMax = 100;

type Fields = Readonly<Record<string, unknown>>;

/** A line that isn't a JSON object, or that names nothing we know, changes nothing; the events file keeps it. */
export function applyImportedLine(state: Portfolio, line: string, at: Stamp): void {
  const event = parseObject(line);
  if (event === null) return;
  const imported = readEvent(event);
  if (imported.project_id !== null) addProject(state, imported, imported.project_id, at);
  if (imported.project_id !== null && imported.task_id !== null) applyToTask(state, imported, at);
  if (imported.block_id !== null) applyToBlock(state, imported, imported.block_id, at);
}

/** The fields of a line that count, each null if it is missing. */
const readEvent = (event: Fields) => ({
  event,
  meta: record(event["meta"]) ?? {},
  project_id: textIn(event, "project_id"),
  task_id: textIn(event, "task_id"),
  block_id: textIn(event, "block_id"),
  summary: textIn(event, "summary") ?? "",
  to_status: statusOf(event["to_status"]),
});
type ImportedEvent = ReturnType<typeof readEvent>;

function addProject(state: Portfolio, { event, meta, task_id, summary }: ImportedEvent, project_id: string, at: Stamp): void {
  if (state.projects[project_id] !== undefined) return;
  state.projects[project_id] = {
    name: textIn(meta, "name") ?? project_id,
    objective: textIn(meta, "objective") ?? (task_id === null ? summary : ""),
    repository: null, // I2
    target: "main",
    priority: priorityOf(meta["priority"] ?? event["priority"]),
    slots: 1,
    budget: {},
    accept_unproved: false,
    paused: false,
    project_id,
    created_at: at.ts,
    changed: at.seq,
    last_dispatch: 0,
    spent: noUsage(),
    tasks: [],
  };
}

function applyToTask(state: Portfolio, imported: ImportedEvent, at: Stamp): void {
  const task_id = imported.task_id ?? "";
  if (state.tasks[task_id] === undefined) addTask(state, newTask(imported, task_id), at);
  const task = state.tasks[task_id];
  const { to_status } = imported;
  const status = to_status === "running" || to_status === "ready" ? "proposed" : to_status; // I1
  if (task?.is_imported !== true || status === null || task.status === status) return;
  setStatus(state, task, status, at); // I3
  if (status === "failed") task.failures = failuresMax; // I1
}

function newTask({ event, meta, project_id, summary }: ImportedEvent, task_id: string): NewTask {
  const objective = textIn(meta, "objective") ?? summary;
  return {
    task_id,
    project_id: project_id ?? "",
    parent_task_id: textIn(event, "parent_task_id"),
    status: "proposed",
    is_imported: true,
    fields: {
      objective,
      acceptance_criteria: criteriaIn(meta, objective),
      dependencies: [],
      touches: [],
      priority: priorityOf(event["priority"] ?? meta["priority"]),
      budget: {},
      agent: null,
      flow: null,
      isolation: null,
    },
  };
}

function applyToBlock(state: Portfolio, { event, meta, project_id, task_id, summary }: ImportedEvent, block_id: string, at: Stamp): void {
  const type = textIn(event, "event_type");
  const block = state.blocks[block_id];
  if (type === "block_opened" && block === undefined)
    state.blocks[block_id] = {
      block_id,
      project_id,
      task_id,
      question: textIn(meta, "question") ?? summary,
      expected_action: textIn(meta, "expected_action") ?? "",
      impact: textIn(meta, "impact") ?? "",
      options: {},
      content: "",
      about: "",
      asked_by: null,
      replaces: null,
      tasks: {},
      opened_at: at.ts,
      resolved_at: null,
      answer: null,
    };
  if (type === "block_resolved" && block?.resolved_at === null && block.content === "") {
    // I3: every question of ours has a content.
    block.resolved_at = at.ts;
    block.answer = summary;
  }
}

/** Why a line has no effect, for the warning; null if it has one, or names nothing to change. I1, I3 */
export function whyIgnored(state: PortfolioView, line: string): string | null {
  const event = parseObject(line);
  if (event === null) return null;
  const [task, block, to] = [state.tasks[textIn(event, "task_id") ?? ""], textIn(event, "block_id"), statusOf(event["to_status"])];
  const ownBlock = state.blocks[block ?? ""];
  if (textIn(event, "event_type") === "block_resolved" && ownBlock?.resolved_at === null && ownBlock.content !== "")
    return `not taken as an answer: ${ownBlock.block_id} is a question of ours. To answer it: autopilot portfolio answer --block ${ownBlock.block_id} "…"`;
  if (task === undefined || to === null || task.is_imported || task.status === to) return null;
  const command = to === "canceled" ? `autopilot portfolio cancel ${task.task_id}` : `autopilot portfolio status`;
  return `not followed: it says that ${task.task_id} is ${to}, and it is ${task.status} here; another tool's line moves no task of ours. See ${command}`;
}

/** Another tool's criteria as texts for a person to judge, because its commands are not run. Without any, its objective is the criterion. */
function criteriaIn(meta: Fields, objective: string): TaskFields["acceptance_criteria"] {
  const items = Array.isArray(meta["acceptance_criteria"]) ? (meta["acceptance_criteria"] as readonly unknown[]) : [];
  const texts = items.flatMap((item) => (typeof item === "string" ? item : (textIn(record(item) ?? {}, "text") ?? [])));
  const criteria = texts.map((text) => text.split("::")[0]?.trim() ?? "").filter((text) => text !== "");
  return (criteria.length === 0 ? [objective] : criteria.slice(0, criteriaMax)).map((text) => ({ text, command: null }));
}

function parseObject(line: string): Fields | null {
  try {
    return record(JSON.parse(line) as unknown);
  } catch {
    return null;
  }
}

const record = (value: unknown): Fields | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

function textIn(from: Fields, key: string): string | null {
  const value = from[key];
  return typeof value === "string" && value !== "" ? value : null;
}

const statusOf = (value: unknown): PortfolioTaskStatus | null => portfolioTaskStatuses.find((status) => status === value) ?? null;

/** Another tool may count differently: a number within our scale is kept, everything else becomes the default. */
const priorityOf = (value: unknown): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= prioritiesMax ? value : priorityDefault;
