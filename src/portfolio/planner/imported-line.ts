// imported-line: reads another tool's event about its projects, tasks and blocks. It is taken literally; missing fields get our defaults.
//
// The file may have come with a repository, so a line is data and gives no right:
//
// Invariants:
//   I1. It starts nothing: a task that it makes ready, or running elsewhere, is proposed here, and one that failed there is not tried
//       again.
//   I2. It names no repository to work in, and lands nothing unproved: a person does.
//   I3. It moves no task and answers no question of ours, nor one of theirs that was taken up here.

import { type PortfolioTaskStatus, portfolioTaskStatuses } from "../../contracts/portfolio.ts";
import { priorityDefault, type TaskFields } from "../../contracts/portfolio-journal.ts";
import { noUsage, type Portfolio, type PortfolioView, failuresMax } from "./state.ts";
import { addTask, setStatus, type Stamp } from "./task-changes.ts";

const criteriaMax = 100;

/** A line that isn't a JSON object, or that speaks of nothing we know, changes nothing: it is only kept. */
export function reduceImported(state: Portfolio, line: string, at: Stamp): void {
  const event = parseObject(line);
  if (event === null) return;
  const meta = record(event["meta"]) ?? {};
  const [project, task, block] = [textIn(event, "project_id"), textIn(event, "task_id"), textIn(event, "block_id")];
  const summary = textIn(event, "summary") ?? "";
  if (project !== null && state.projects[project] === undefined)
    state.projects[project] = {
      name: textIn(meta, "name") ?? project,
      objective: textIn(meta, "objective") ?? (task === null ? summary : ""),
      repository: null, // I2
      target: "main",
      priority: priorityOf(meta["priority"] ?? event["priority"]),
      slots: 1,
      budget: {},
      accept_unproved: false,
      paused: false,
      project_id: project,
      created_at: at.ts,
      changed: at.seq,
      last_dispatch: 0,
      spent: noUsage(),
      tasks: [],
    };
  const to = statusOf(event["to_status"]);
  if (task !== null && project !== null) {
    if (state.tasks[task] === undefined)
      addTask(
        state,
        {
          task_id: task,
          project_id: project,
          parent_task_id: textIn(event, "parent_task_id"),
          status: "proposed",
          is_imported: true,
          fields: {
            objective: textIn(meta, "objective") ?? summary,
            acceptance_criteria: criteriaIn(meta, textIn(meta, "objective") ?? summary),
            dependencies: [],
            touches: [],
            priority: priorityOf(event["priority"] ?? meta["priority"]),
            budget: {},
            agent: null,
            flow: null,
            isolation: null,
          },
        },
        at,
      );
    const existingTask = state.tasks[task];
    const status = to === "running" || to === "ready" ? "proposed" : to; // I1
    if (existingTask?.is_imported === true && status !== null && existingTask.status !== status) {
      setStatus(state, existingTask, status, at); // I3
      if (status === "failed") existingTask.failures = failuresMax; // I1
    }
  }
  if (block === null) return;
  const type = textIn(event, "event_type");
  const existingBlock = state.blocks[block];
  if (type === "block_opened" && existingBlock === undefined)
    state.blocks[block] = {
      block_id: block,
      project_id: project,
      task_id: task,
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
  if (type === "block_resolved" && existingBlock?.resolved_at === null && existingBlock.content === "") {
    // I3: every question of ours has a content.
    existingBlock.resolved_at = at.ts;
    existingBlock.answer = summary;
  }
}

/** Why a line does not do what it says; null if it does, or says nothing that could be done. I1, I3 */
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

/** Another tool's criteria as texts, which a person must judge: its commands are not run. Without any, its objective is the one. */
function criteriaIn(meta: Readonly<Record<string, unknown>>, objective: string): TaskFields["acceptance_criteria"] {
  const given = Array.isArray(meta["acceptance_criteria"]) ? (meta["acceptance_criteria"] as readonly unknown[]) : [];
  const texts = given.flatMap((one) => (typeof one === "string" ? [one] : [textIn(record(one) ?? {}, "text") ?? []])).flat();
  const criteria = texts.map((text) => text.split("::")[0]?.trim() ?? "").filter((text) => text !== "");
  return (criteria.length === 0 ? [objective] : criteria.slice(0, criteriaMax)).map((text) => ({ text, command: null }));
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    return record(JSON.parse(line) as unknown);
  } catch {
    return null;
  }
}

const record = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;

function textIn(from: Readonly<Record<string, unknown>>, key: string): string | null {
  const value = from[key];
  return typeof value === "string" && value !== "" ? value : null;
}

const statusOf = (value: unknown): PortfolioTaskStatus | null => portfolioTaskStatuses.find((status) => status === value) ?? null;

/** Their scale is not said: a number in ours counts, everything else is in the middle. */
const priorityOf = (value: unknown): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 5 ? value : priorityDefault;
