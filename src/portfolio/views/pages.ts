// pages: builds the pages of a portfolio, its projects and its tasks from the state alone: fields
// for a dashboard, and text for a person.

import type { PortfolioTaskStatus } from "../../contracts/portfolio.ts";
import { pickDashboardFields } from "./event-line.ts";
import { countByStatus, computeMetrics } from "./metrics.ts";
import { rateConfidence } from "../planner/result.ts";
import { listTasksNeedingPerson } from "../planner/needs-person.ts";
import { listHeldByBudget } from "../planner/held-by-budget.ts";
import { type HeldLanding, listHeldLandings } from "../planner/held-landings.ts";
import { describeWaiting } from "../planner/questions.ts";
import {
  listOpenBlocks,
  type PortfolioView,
  type ProjectView,
  toQueueKey,
  type TaskView,
} from "../planner/state.ts";
import { isComplete } from "../planner/task-changes.ts";

export type SnapshotPage = {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: readonly string[];
};

const rowsMax = 20;

export function buildPortfolioPage(state: PortfolioView): SnapshotPage {
  const counts = countByStatus(state);
  const projects = Object.values(state.projects);
  const blocks = listOpenBlocks(state);

  const withoutBudget = new Set(
    listHeldByBudget(state, state.heartbeat ?? "").flatMap(({ tasks }) =>
      tasks.map(({ task_id }) => task_id),
    ),
  );

  const runnableTasks = Object.values(state.tasks)
    .filter(({ status, task_id }) => status === "ready" && !withoutBudget.has(task_id))
    .toSorted((a, b) => a.priority - b.priority || a.created - b.created);

  const recent = state.recent.flatMap((id) => state.tasks[id] ?? []);
  return {
    fields: {
      name: state.name,
      planner_heartbeat_at: state.heartbeat,
      paused: state.paused,
      project_count: projects.length,
      task_count: Object.keys(state.tasks).length,
      open_block_count: blocks.length,
      ...counts,
      spent: state.spent,
      budget: state.budget,
      day_budget: state.day_budget,
      ...computeMetrics(state),
    },
    body: [
      `# Portfolio ${toInline(state.name)}`,
      "",
      `Planner heartbeat: ${state.heartbeat ?? "never"}`,
      "",
      "## Active Projects",
      "",
      "| project_id | name | priority | phase | ready | running | blocked | done |",
      "|---|---|---|---|---|---|---|---|",
      ...projects.map((project) => renderProjectRow(state, project)),
      "",
      "## Runnable Tasks",
      "",
      ...limitRowsOrNone(
        runnableTasks.map(
          (task) =>
            `- [${task.task_id}](tasks/${task.task_id}.md) P${task.priority} ${toInline(task.objective)}`,
        ),
      ),
      "",
      "## Human Blocks",
      "",
      ...limitRowsOrNone([
        ...listHeldLandings(state).map((landing) => describeHeldLanding(landing)),
        ...blocks.map(
          (block) =>
            `- ${block.block_id} (${describeWaiting(block)}, since ${block.opened_at}): ${toInline(block.question)}`,
        ),
      ]),
      "",
      "## Recent Completions",
      "",
      ...limitRowsOrNone(
        recent.map(
          (task) =>
            `- [${task.task_id}](tasks/${task.task_id}.md) ${task.changed_at} ${toInline(task.objective)}`,
        ),
      ),
      "",
      "## Planner Next Actions",
      "",
      ...limitRowsOrNone(renderNextActions(state, counts, runnableTasks.length, blocks.length)),
    ],
  };
}

function renderProjectRow(state: PortfolioView, project: ProjectView): string {
  const { project_id, name, priority } = project;
  const { ready, running, blocked_human, done } = countByStatus(state, project.tasks);

  const cells = [
    project_id,
    name,
    priority,
    describePhase(state, project),
    ready,
    running,
    blocked_human,
    done,
  ];

  return `| ${cells.map((cell) => toInline(String(cell))).join(" | ")} |`;
}

function renderNextActions(
  state: PortfolioView,
  counts: Readonly<Record<PortfolioTaskStatus, number>>,
  runnableCount: number,
  blockCount: number,
): readonly string[] {
  return [
    ...(state.paused ? ["- The portfolio is paused: `autopilot portfolio resume`"] : []),
    ...(blockCount > 0
      ? [
          `- Answer ${blockCount} ${blockCount === 1 ? "question" : "questions"}: \`autopilot inbox\``,
        ]
      : []),
    ...(runnableCount > 0
      ? [
          `- Dispatch ${runnableCount} ready ${runnableCount === 1 ? "task" : "tasks"}: \`autopilot portfolio run\``,
        ]
      : []),
    ...listTasksNeedingPerson(state).map(
      ({ task, why, commands }) =>
        `- ${task.task_id} waits for you, ${toInline(why)}: \`${commands[0] ?? ""}\``,
    ),
    ...(counts.proposed > 0
      ? [`- Look at ${counts.proposed} proposed: \`autopilot portfolio ready TASK\``]
      : []),
  ];
}

/** What a project is doing as a whole, in a word: the field `current_phase`. */
export function describePhase(state: PortfolioView, project: ProjectView): string {
  const tasks = project.tasks.flatMap((id) => state.tasks[id] ?? []);
  const has = (status: PortfolioTaskStatus): boolean =>
    tasks.some((task) => task.status === status);
  if (tasks.some(({ stage }) => stage === "working")) return "building";
  if (tasks.some(({ stage }) => stage === "queued")) return "merging";
  if (
    has("blocked_human") ||
    listOpenBlocks(state).some(
      ({ project_id, task_id }) => project_id === project.project_id && task_id === null,
    )
  ) {
    return "blocked";
  }

  if (tasks.length === 0) return "planning";
  return tasks.every(({ status }) => status === "done" || status === "canceled") ? "done" : "idle";
}

const pickHubField = ({ hubs }: PortfolioView, { repository }: ProjectView) => {
  const hub = hubs[repository ?? ""];
  return hub === undefined ? {} : { hub };
};

export function buildProjectPage(state: PortfolioView, project: ProjectView): SnapshotPage {
  const tasks = project.tasks.flatMap((id) => state.tasks[id] ?? []);
  const runningTasks = tasks.filter(({ status }) => status === "running");
  const openTasks = tasks.filter(({ status }) => !["done", "canceled", "running"].includes(status));

  return {
    fields: {
      project_id: project.project_id,
      name: project.name,
      priority: project.priority,
      objective: project.objective,
      current_phase: describePhase(state, project),
      repository: project.repository,
      target: project.target,
      ...pickHubField(state, project),
      paused: project.paused,
      slots: project.slots,
      accept_unproved: project.accept_unproved,
      ...(project.agent === undefined || project.agent === null ? {} : { agent: project.agent }),
      created_at: project.created_at,
      ...countByStatus(state, project.tasks),
      spent: project.spent,
      budget: project.budget,
    },
    body: [
      `# ${toInline(project.name)}`,
      "",
      project.objective,
      "",
      "## Active Branches and Workstreams",
      "",
      ...limitRowsOrNone(
        runningTasks.map(
          (task) =>
            `- ${task.task_id}: ${task.run_id ?? "no run"}, ${task.stage ?? "idle"}, branch ${toRunBranch(task)}`,
        ),
      ),
      "",
      "## Next Recommended Actions",
      "",
      ...limitRowsOrNone([
        ...listHeldLandings(state)
          .filter(({ held }) => toQueueKey(held) === toQueueKey(project))
          .map((landing) => describeHeldLanding(landing)),
        ...openTasks
          .toSorted((a, b) => a.priority - b.priority || a.created - b.created)
          .map(
            (task) =>
              `- ${task.status}: [${task.task_id}](../tasks/${task.task_id}.md) ${toInline(task.objective)}`,
          ),
      ]),
      "",
      "## Key Tasks",
      "",
      ...limitRowsOrNone(
        tasks.map((task) => `- [${task.task_id}](../tasks/${task.task_id}.md) ${task.status}`),
      ),
    ],
  };
}

const describeHeldLanding = ({ held, tasks }: HeldLanding): string =>
  `- landing on ${held.target} (${tasks.length === 1 ? "1 task" : `${tasks.length} tasks`}, since ${held.since}): ${toInline(held.because)}: \`${held.command}\``;
const toRunBranch = (task: TaskView): string =>
  task.run_id === null ? "none" : `autopilot/${task.run_id}`;

export const buildTaskPage = (task: TaskView): SnapshotPage => ({
  fields: pickTaskFields(task),
  body: renderTaskBody(task),
});

const pickTaskFields = (task: TaskView): SnapshotPage["fields"] => ({
  task_id: task.task_id,
  project_id: task.project_id,
  status: task.status,
  ...pickDashboardFields(task),
  objective: task.objective,
  acceptance_criteria: task.acceptance_criteria,
  dependencies: task.dependencies.length === 0 ? "none" : task.dependencies,
  evidence: task.evidence,
  attempt: task.attempt,
  failures: task.failures,
  adjustments: task.adjustments,
  stage: task.stage,
  branch: task.run_id === null ? null : toRunBranch(task),
  commit: task.commit,
  landed: task.landed,
  touches: task.touches,
  ...(task.link === undefined ? {} : { link: task.link }),
  event_nonce: task.event_nonce,
  spent: task.spent,
  budget: task.budget,
  created_at: task.created_at,
  updated_at: task.changed_at,
});

const renderTaskBody = (task: TaskView): SnapshotPage["body"] => [
  `# ${task.task_id}`,
  "",
  "## Objective",
  "",
  task.objective,
  ...(task.link === undefined ? [] : ["", `From ${toInline(task.link)}`]),
  ...(task.quoted === undefined || task.quoted === ""
    ? []
    : ["", ...task.quoted.split(/\r?\n/).map((line) => `> ${toInline(line)}`)]),
  "",
  ...renderSection(
    "Acceptance Criteria",
    task.acceptance_criteria.map(
      ({ text, command }) =>
        `- ${toInline(text)}${command === null ? "" : `: \`${toInline(command)}\``}`,
    ),
  ),
  ...renderSection(
    "Dependencies",
    task.dependencies.map((id) => `- [${id}](${id}.md)`),
  ),
  "## Worker Assignment",
  "",
  ...renderWorker(task),
  "",
  "## Verification Summary",
  "",
  ...renderProof(task),
  ...(task.summary === null ? [] : ["", task.summary]),
  "",
  ...renderSection(
    "Evidence",
    task.evidence.map((line) => `- ${toInline(line)}`),
  ),
  ...renderSection(
    "Risks",
    (task.claim?.risks_or_unknowns ?? []).map((risk) => `- ${toInline(toText(risk))}`),
  ),
  ...renderSection(
    "Next Suggestions",
    (task.claim?.next_suggestions ?? []).map((suggestion) => `- ${toInline(toText(suggestion))}`),
  ).slice(0, -1),
];

const renderSection = (title: string, lines: readonly string[]): readonly string[] => [
  `## ${title}`,
  "",
  ...limitRowsOrNone(lines),
  "",
];

const renderWorker = (task: TaskView): readonly string[] =>
  task.run_id === null
    ? ["none"]
    : [
        `- ${task.worker_agent_id ?? ""} over ${task.worker_backend ?? ""}, attempt ${task.attempt}`,
        `- run ${task.run_id}, session ${task.worker_session_key ?? ""}`,
      ];

function renderProof(task: TaskView): readonly string[] {
  const { proof, claim } = task;
  if (proof === null) return ["none"];
  const confidence = `confidence ${rateConfidence(proof)}, ${isComplete(task) ? "complete" : "not complete"}`;

  return [
    `- ${proof.proved} of ${proof.criteria} criteria proved by the runner; ${confidence}`,
    ...(claim === null
      ? []
      : [`- the worker claims: ${claim.status}, confidence ${claim.verification.confidence}`]),
    ...proof.checks_failed.map((check) => `- failed: \`${toInline(check)}\``),
  ];
}

const toText = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value);

const limitRowsOrNone = (lines: readonly string[]): readonly string[] =>
  lines.length === 0
    ? ["none"]
    : [
        ...lines.slice(0, rowsMax),
        ...(lines.length > rowsMax ? [`- … and ${lines.length - rowsMax} more`] : []),
      ];

const inlineCharsMax = 160;

/** The text for a list item or a table cell: one line, bars escaped, cut if it is long. */
function toInline(text: string): string {
  const flat = text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
  return flat.length > inlineCharsMax ? `${flat.slice(0, inlineCharsMax - 1)}…` : flat;
}
