// imported-line: applies a line that another tool appended to the events file: its projects, tasks
// and questions. Missing fields get our defaults. The file may have come with a repository, so a
// line is only data and gives no rights.
//
// Invariants:
//   I1. A line starts nothing: a task that is ready or running there is proposed here, and one that
//       failed there is not tried again.
//   I2. A line names no repository to work in and lets no unproved work land: only a person does.
//   I3. A line changes no task of ours, nor one of theirs that was continued here, and answers no
//       question of ours.

import {
  type PortfolioTaskStatus,
  portfolioTaskStatuses,
} from "../../contracts/portfolio/portfolio.ts";
import {
  prioritiesMax,
  priorityDefault,
  type TaskFields,
} from "../../contracts/portfolio/portfolio-journal.ts";
import { noUsage, type Portfolio, type PortfolioView, failuresMax } from "./state.ts";
import { addTask, type NewTask, setStatus, type Stamp } from "./task-changes.ts";

const criteriaMax = 100;

type Fields = Readonly<Record<string, unknown>>;

/**
 * A line that isn't a JSON object, or that names nothing we know, changes nothing; the events file
 * keeps it.
 */
export function applyImportedLine(state: Portfolio, line: string, stamp: Stamp): void {
  const event = parseObject(line);
  if (event === null) return;
  const imported = readEvent(event);
  if (imported.project_id !== null) addProject(state, imported, imported.project_id, stamp);
  if (imported.project_id !== null && imported.task_id !== null) {
    applyToTask(state, imported, stamp);
  }

  if (imported.block_id !== null) applyToBlock(state, imported, imported.block_id, stamp);
}

/** The fields of a line that count, each null if it is missing. */
const readEvent = (event: Fields) => ({
  event,
  meta: toRecord(event["meta"]) ?? {},
  project_id: readText(event, "project_id"),
  task_id: readText(event, "task_id"),
  block_id: readText(event, "block_id"),
  summary: readText(event, "summary") ?? "",
  to_status: parseStatus(event["to_status"]),
});
type ImportedEvent = ReturnType<typeof readEvent>;

function addProject(
  state: Portfolio,
  { event, meta, task_id, summary }: ImportedEvent,
  project_id: string,
  stamp: Stamp,
): void {
  if (state.projects[project_id] !== undefined) return;
  state.projects[project_id] = {
    name: readText(meta, "name") ?? project_id,
    objective: readText(meta, "objective") ?? (task_id === null ? summary : ""),
    repository: null, // I2
    target: "main",
    priority: parsePriority(meta["priority"] ?? event["priority"]),
    slots: 1,
    budget: {},
    accept_unproved: false, // I2
    paused: false,
    project_id,
    created_at: stamp.ts,
    changed: stamp.seq,
    last_dispatch: 0,
    spent: noUsage(),
    tasks: [],
  };
}

function applyToTask(state: Portfolio, imported: ImportedEvent, stamp: Stamp): void {
  const task_id = imported.task_id ?? "";
  if (state.tasks[task_id] === undefined) addTask(state, createTask(imported, task_id), stamp);
  const task = state.tasks[task_id];
  const { to_status } = imported;
  const status = to_status === "running" || to_status === "ready" ? "proposed" : to_status; // I1
  if (task?.is_imported !== true || status === null || task.status === status) return;
  setStatus(state, task, status, stamp); // I3
  if (status === "failed") task.failures = failuresMax; // I1
}

function createTask({ event, meta, project_id, summary }: ImportedEvent, task_id: string): NewTask {
  const objective = readText(meta, "objective") ?? summary;
  return {
    task_id,
    project_id: project_id ?? "",
    parent_task_id: readText(event, "parent_task_id"),
    status: "proposed",
    is_imported: true,
    fields: {
      objective,
      acceptance_criteria: readCriteria(meta, objective),
      dependencies: [],
      touches: [],
      priority: parsePriority(event["priority"] ?? meta["priority"]),
      budget: {},
      agent: null,
      flow: null,
      isolation: null,
    },
  };
}

function applyToBlock(
  state: Portfolio,
  imported: ImportedEvent,
  block_id: string,
  stamp: Stamp,
): void {
  const type = readText(imported.event, "event_type");
  const block = state.blocks[block_id];
  if (type === "block_opened" && block === undefined) {
    state.blocks[block_id] = createBlock(imported, block_id, stamp);
  }

  if (type === "block_resolved" && block?.resolved_at === null && block.content === "") {
    // I3: every question of ours has a content.
    block.resolved_at = stamp.ts;
    block.answer = imported.summary;
  }
}

const createBlock = (
  { meta, project_id, task_id, summary }: ImportedEvent,
  block_id: string,
  stamp: Stamp,
): Portfolio["blocks"][string] => ({
  block_id,
  project_id,
  task_id,
  question: readText(meta, "question") ?? summary,
  expected_action: readText(meta, "expected_action") ?? "",
  impact: readText(meta, "impact") ?? "",
  options: {},
  content: "",
  about: "",
  asked_by: null,
  replaces: null,
  tasks: {},
  opened_at: stamp.ts,
  resolved_at: null,
  answer: null,
});

/**
 * Why a line has no effect (I1, I3), for the warning; null if it has one, or names nothing to
 * change.
 */
export function whyIgnored(state: PortfolioView, line: string): string | null {
  const event = parseObject(line);
  if (event === null) return null;
  return whyNoAnswer(state, event) ?? whyNotFollowed(state, event);
}

function whyNoAnswer(state: PortfolioView, event: Fields): string | null {
  if (readText(event, "event_type") !== "block_resolved") return null;

  const block = state.blocks[readText(event, "block_id") ?? ""];
  if (block?.resolved_at !== null || block.content === "") return null;

  const { block_id } = block;
  return `not taken as an answer: ${block_id} is a question of ours. To answer it: autopilot portfolio answer --block ${block_id} "…"`;
}

function whyNotFollowed(state: PortfolioView, event: Fields): string | null {
  const task = state.tasks[readText(event, "task_id") ?? ""];
  const toStatus = parseStatus(event["to_status"]);
  if (task === undefined || toStatus === null) return null;

  const { task_id, status, is_imported } = task;
  if (is_imported || status === toStatus) return null;

  const command =
    toStatus === "canceled"
      ? `autopilot portfolio cancel ${task_id}`
      : `autopilot portfolio status`;
  return `not followed: it says that ${task_id} is ${toStatus}, and it is ${status} here; another tool's line moves no task of ours. See ${command}`;
}

/**
 * Another tool's criteria as texts for a person to judge, because its commands are not run. Without
 * any, its objective is the criterion.
 */
function readCriteria(meta: Fields, objective: string): TaskFields["acceptance_criteria"] {
  const value = meta["acceptance_criteria"];
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const texts = items.map(readCriterionText).filter((text) => text !== "");
  const shown = texts.length === 0 ? [objective] : texts.slice(0, criteriaMax);

  return shown.map((text) => ({ text, command: null }));
}

function readCriterionText(item: unknown): string {
  const text = typeof item === "string" ? item : readText(toRecord(item) ?? {}, "text");
  return text?.split("::")[0]?.trim() ?? "";
}

function parseObject(line: string): Fields | null {
  try {
    return toRecord(JSON.parse(line) as unknown);
  } catch {
    return null;
  }
}

const toRecord = (value: unknown): Fields | null =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

function readText(fields: Fields, key: string): string | null {
  const value = fields[key];
  return typeof value === "string" && value !== "" ? value : null;
}

const parseStatus = (value: unknown): PortfolioTaskStatus | null =>
  portfolioTaskStatuses.find((status) => status === value) ?? null;

/**
 * Another tool may count differently: a number within our scale is kept, everything else becomes
 * the default.
 */
function parsePriority(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value)) return priorityDefault;
  return value >= 1 && value <= prioritiesMax ? value : priorityDefault;
}
