// pages: builds the pages of a portfolio, its projects and its tasks from the state alone: fields
// for a dashboard, and text for a person.

import { pickDashboardFields } from "./event-line.ts";
import { countByStatus, computeMetrics } from "./metrics.ts";
import { rateConfidence } from "../planner/result.ts";
import { listTasksNeedingPerson } from "../planner/needs-person.ts";
import { listHeldByBudget } from "../planner/held-by-budget.ts";
import { type HeldLanding, listHeldLandings } from "../planner/held-landings.ts";
import { describeWaiting } from "../planner/questions.ts";
import {
  type BlockView,
  listOpenBlocks,
  type PortfolioView,
  type ProjectView,
  toQueueKey,
  type TaskView,
} from "../planner/state.ts";
import { isComplete } from "../planner/task-changes.ts";
import { runBranchName } from "../../contracts/run-branch.ts";

export type SnapshotPage = {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly body: readonly string[];
};

const rowsMax = 20;

export const buildPortfolioPage = (state: PortfolioView): SnapshotPage => ({
  fields: pickPortfolioFields(state),
  body: renderPortfolioBody(state),
});

const pickPortfolioFields = (state: PortfolioView): SnapshotPage["fields"] => ({
  name: state.name,
  planner_heartbeat_at: state.heartbeat,
  paused: state.paused,
  project_count: Object.keys(state.projects).length,
  task_count: Object.keys(state.tasks).length,
  open_block_count: listOpenBlocks(state).length,
  ...countByStatus(state),
  spent: state.spent,
  budget: state.budget,
  day_budget: state.day_budget,
  ...computeMetrics(state),
});

function renderPortfolioBody(state: PortfolioView): SnapshotPage["body"] {
  const projectRows = Object.values(state.projects).map((project) =>
    renderProjectRow(state, project),
  );
  const landingRows = listHeldLandings(state).map((landing) => describeHeldLanding(landing));
  const blocks = listOpenBlocks(state);
  const runnable = listRunnableTasks(state);
  const recent = state.recent.flatMap((id) => state.tasks[id] ?? []);

  return [
    `# Portfolio ${toInline(state.name)}`,
    "",
    `Planner heartbeat: ${state.heartbeat ?? "never"}`,
    "",
    "## Active Projects",
    "",
    "| project_id | name | priority | phase | ready | running | blocked | done |",
    "|---|---|---|---|---|---|---|---|",
    ...projectRows,
    "",
    ...renderSection("Runnable Tasks", runnable.map(describeRunnable)),
    ...renderSection("Human Blocks", [...landingRows, ...blocks.map(describeBlock)]),
    ...renderSection("Recent Completions", recent.map(describeCompletion)),
    ...renderSection("Planner Next Actions", renderNextActions(state, runnable.length)).slice(
      0,
      -1,
    ),
  ];
}

/** The ready tasks that no budget holds up, in the order of their priority. */
function listRunnableTasks(state: PortfolioView): readonly TaskView[] {
  const held = listHeldByBudget(state, state.heartbeat ?? "").flatMap(({ tasks }) => tasks);
  const heldIds = new Set(held.map(({ task_id }) => task_id));

  return Object.values(state.tasks)
    .filter(({ status, task_id }) => status === "ready" && !heldIds.has(task_id))
    .toSorted(compareByPriority);
}

const compareByPriority = (a: TaskView, b: TaskView): number =>
  a.priority - b.priority || a.created - b.created;

const describeRunnable = ({ task_id, priority, objective }: TaskView): string =>
  `- [${task_id}](tasks/${task_id}.md) P${priority} ${toInline(objective)}`;

const describeCompletion = ({ task_id, changed_at, objective }: TaskView): string =>
  `- [${task_id}](tasks/${task_id}.md) ${changed_at} ${toInline(objective)}`;

const describeBlock = (block: BlockView): string =>
  `- ${block.block_id} (${describeWaiting(block)}, since ${block.opened_at}): ${toInline(block.question)}`;

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

function renderNextActions(state: PortfolioView, runnableCount: number): readonly string[] {
  const actions: string[] = [];
  if (state.paused) actions.push("- The portfolio is paused: `autopilot portfolio resume`");

  const blockCount = listOpenBlocks(state).length;
  if (blockCount > 0) {
    actions.push(`- Answer ${formatCount(blockCount, "question")}: \`autopilot inbox\``);
  }

  if (runnableCount > 0) {
    actions.push(
      `- Dispatch ${formatCount(runnableCount, "ready task")}: \`autopilot portfolio run\``,
    );
  }

  for (const { task, why, commands } of listTasksNeedingPerson(state)) {
    const [command = ""] = commands;
    actions.push(`- ${task.task_id} waits for you, ${toInline(why)}: \`${command}\``);
  }

  const { proposed } = countByStatus(state);
  if (proposed > 0)
    actions.push(`- Look at ${proposed} proposed: \`autopilot portfolio ready TASK\``);
  return actions;
}

/** What a project is doing as a whole, in a word: the field `current_phase`. */
export function describePhase(state: PortfolioView, project: ProjectView): string {
  const tasks = project.tasks.flatMap((id) => state.tasks[id] ?? []);
  if (tasks.some(({ stage }) => stage === "working")) return "building";
  if (tasks.some(({ stage }) => stage === "queued")) return "merging";
  if (tasks.some(({ status }) => status === "blocked_human")) return "blocked";
  if (hasOwnQuestion(state, project)) return "blocked";
  if (tasks.length === 0) return "planning";

  const isOver = tasks.every(({ status }) => status === "done" || status === "canceled");
  return isOver ? "done" : "idle";
}

/** Whether a question about the project itself is open, rather than about one of its tasks. */
const hasOwnQuestion = (state: PortfolioView, project: ProjectView): boolean =>
  listOpenBlocks(state).some(
    ({ project_id, task_id }) => project_id === project.project_id && task_id === null,
  );

const pickHubField = ({ hubs }: PortfolioView, { repository }: ProjectView) => {
  const hub = hubs[repository ?? ""];
  return hub === undefined ? {} : { hub };
};

export const buildProjectPage = (state: PortfolioView, project: ProjectView): SnapshotPage => ({
  fields: pickProjectFields(state, project),
  body: renderProjectBody(state, project),
});

const pickProjectFields = (state: PortfolioView, project: ProjectView): SnapshotPage["fields"] => ({
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
});

function renderProjectBody(state: PortfolioView, project: ProjectView): SnapshotPage["body"] {
  const tasks = project.tasks.flatMap((id) => state.tasks[id] ?? []);
  const running = tasks.filter(({ status }) => status === "running");
  const landings = listHeldLandings(state).filter(
    ({ held }) => toQueueKey(held) === toQueueKey(project),
  );
  const open = tasks.filter(({ status }) => !["done", "canceled", "running"].includes(status));
  const nextActions = [
    ...landings.map((landing) => describeHeldLanding(landing)),
    ...open.toSorted(compareByPriority).map(describeOpenTask),
  ];

  return [
    `# ${toInline(project.name)}`,
    "",
    project.objective,
    "",
    ...renderSection("Active Branches and Workstreams", running.map(describeWorkstream)),
    ...renderSection("Next Recommended Actions", nextActions),
    ...renderSection("Key Tasks", tasks.map(describeKeyTask)).slice(0, -1),
  ];
}

const describeWorkstream = (task: TaskView): string =>
  `- ${task.task_id}: ${task.run_id ?? "no run"}, ${task.stage ?? "idle"}, branch ${toRunBranch(task)}`;

const describeOpenTask = ({ status, task_id, objective }: TaskView): string =>
  `- ${status}: [${task_id}](../tasks/${task_id}.md) ${toInline(objective)}`;

const describeKeyTask = ({ task_id, status }: TaskView): string =>
  `- [${task_id}](../tasks/${task_id}.md) ${status}`;

function describeHeldLanding({ held, tasks }: HeldLanding): string {
  const { target, since, because, command } = held;
  const waitText = `${formatCount(tasks.length, "task")}, since ${since}`;
  return `- landing on ${target} (${waitText}): ${toInline(because)}: \`${command}\``;
}

const toRunBranch = (task: TaskView): string =>
  task.run_id === null ? "none" : runBranchName(task.run_id);

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

function renderTaskBody(task: TaskView): SnapshotPage["body"] {
  const { claim } = task;
  const dependencies = task.dependencies.map((id) => `- [${id}](${id}.md)`);
  const evidence = task.evidence.map((line) => `- ${toInline(line)}`);
  const risks = (claim?.risks_or_unknowns ?? []).map(toListItem);
  const suggestions = (claim?.next_suggestions ?? []).map(toListItem);

  return [
    `# ${task.task_id}`,
    "",
    "## Objective",
    "",
    ...renderObjective(task),
    "",
    ...renderSection("Acceptance Criteria", task.acceptance_criteria.map(renderCriterion)),
    ...renderSection("Dependencies", dependencies),
    "## Worker Assignment",
    "",
    ...renderWorker(task),
    "",
    "## Verification Summary",
    "",
    ...renderProof(task),
    ...(task.summary === null ? [] : ["", task.summary]),
    "",
    ...renderSection("Evidence", evidence),
    ...renderSection("Risks", risks),
    ...renderSection("Next Suggestions", suggestions).slice(0, -1),
  ];
}

/** The objective, and the words of the issue that it comes from. */
function renderObjective({ objective, link, quoted = "" }: TaskView): readonly string[] {
  const lines = [objective];
  if (link !== undefined) lines.push("", `From ${toInline(link)}`);
  if (quoted !== "") {
    const quotedLines = quoted.split(/\r?\n/).map((line) => `> ${toInline(line)}`);
    lines.push("", ...quotedLines);
  }

  return lines;
}

function renderCriterion({ text, command }: TaskView["acceptance_criteria"][number]): string {
  const item = `- ${toInline(text)}`;
  return command === null ? item : `${item}: \`${toInline(command)}\``;
}

/** A section with an empty line at its end. */
const renderSection = (title: string, lines: readonly string[]): readonly string[] => [
  `## ${title}`,
  "",
  ...limitRowsOrNone(lines),
  "",
];

function renderWorker(task: TaskView): readonly string[] {
  if (task.run_id === null) return ["none"];

  const agent = task.worker_agent_id ?? "";
  return [
    `- ${agent} over ${task.worker_backend ?? ""}, attempt ${task.attempt}`,
    `- run ${task.run_id}, session ${task.worker_session_key ?? ""}`,
  ];
}

function renderProof(task: TaskView): readonly string[] {
  const { proof, claim } = task;
  if (proof === null) return ["none"];

  const provedText = `${proof.proved} of ${proof.criteria} criteria proved by the runner`;
  const completeText = isComplete(task) ? "complete" : "not complete";
  const lines = [`- ${provedText}; confidence ${rateConfidence(proof)}, ${completeText}`];

  if (claim !== null) {
    const { confidence } = claim.verification;
    lines.push(`- the worker claims: ${claim.status}, confidence ${confidence}`);
  }

  for (const check of proof.checks_failed) lines.push(`- failed: \`${toInline(check)}\``);
  return lines;
}

function toListItem(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `- ${toInline(text)}`;
}

function limitRowsOrNone(lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return ["none"];

  const shown = lines.slice(0, rowsMax);
  const moreCount = lines.length - shown.length;
  return moreCount === 0 ? shown : [...shown, `- … and ${moreCount} more`];
}

const formatCount = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

const inlineCharsMax = 160;

/** The text for a list item or a table cell: one line, bars escaped, cut if it is long. */
function toInline(text: string): string {
  const flat = text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
  return flat.length > inlineCharsMax ? `${flat.slice(0, inlineCharsMax - 1)}…` : flat;
}
