// board: renders a portfolio on one screen: what waits for a person, its projects, its tasks and
// why they wait, what landed.
//
// Invariants:
//   B1. It never has more rows than the screen. Tasks that need a person come first, and the first
//       rows say how many there are: those that don't fit are in the inbox.
//   B2. Tasks that wait for the same kind of reason are one line, however many they are, unless a
//       person must act or something happens to them.

import { wrapTo } from "../../kit/columns.ts";
import { ageMs } from "../../kit/iso-time.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { formatDuration, formatNumber, formatMoney, oneLine, plural } from "../../views/wording.ts";
import type { Plan, WaitCode } from "../planner/plan-actions.ts";
import { listTasksNeedingPerson } from "../planner/needs-person.ts";
import {
  listOpenBlocks,
  type PortfolioView,
  type ProjectView,
  type TaskView,
} from "../planner/state.ts";
import { countByStatus } from "./metrics.ts";
import { describePhase } from "./pages.ts";

const objectiveCharsMax = 60;
/**
 * A reason is wrapped while there is room for all of them; a terminal of 80 columns cuts nothing.
 */
const reasonColumns = 62;
const reasonCharsMax = 600;
const landedShownMax = 3;
const tableRowsShare = 0.4;
/** Reasons that only a person can remove. */
const personCodes: readonly WaitCode[] = [
  "block",
  "needs_person",
  "dependency_canceled",
  "no_repository",
];
/**
 * Tasks that wait for these are shown one by one: a person must act, or something happens to them.
 */
const singleCodes = new Set<WaitCode>([
  ...personCodes,
  "working",
  "merging",
  "resting",
  "delayed",
  "agent",
]);
/** One row for the task, one for why it waits. */
const rowsPerTask = 2;

export type Screen = {
  readonly now: string;
  readonly rows: number;
  /** No pool works on the portfolio now. */
  readonly isIdle?: boolean;
};

/**
 * Task rows are wrapped while all of them fit; otherwise they are shortened, and the last ones only
 * counted.
 */
export function renderBoard(
  state: PortfolioView,
  plan: Plan,
  { now, rows, isIdle = false }: Screen,
): readonly string[] {
  const head = [
    ...renderSummary(state, now),
    ...(isIdle ? listIdleWarnings(state) : []),
    "",
    ...renderProjects(state, rows),
    "",
  ];
  const grouped = plan.waiting.filter(({ code }) => !singleCodes.has(code));
  const tail = [...renderGroups(grouped), ...renderLanded(state, now)];

  const tasks = listShownTasks(state, plan);
  const taskRows = fitTaskRows(tasks, rows - head.length - tail.length);
  return [...head, ...taskRows, ...tail].slice(0, rows); // B1
}

type ShownTask = { readonly task: TaskView; readonly because: string };

/** The tasks that are shown one by one, those that need a person first (B1, B2). */
function listShownTasks(state: PortfolioView, plan: Plan): readonly ShownTask[] {
  const reasons = collectReasons(plan);
  const needPerson = plan.waiting.filter(({ code }) => personCodes.includes(code));
  const needPersonIds = new Set(needPerson.map(({ task_id }) => task_id));
  const rank = ({ task_id, status }: TaskView): number =>
    needPersonIds.has(task_id) ? -1 : statusOrder.indexOf(status);

  return Object.values(state.tasks)
    .filter(({ task_id }) => reasons.has(task_id))
    .toSorted((a, b) => rank(a) - rank(b) || a.priority - b.priority || a.created - b.created)
    .map((task) => ({ task, because: reasons.get(task.task_id) ?? "" }));
}

const statusOrder = ["blocked_human", "needs_adjustment", "failed", "running", "ready"];

function collectReasons({ actions, waiting }: Plan): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const { task_id, code, because } of waiting) {
    if (singleCodes.has(code)) reasons.set(task_id, because);
  }

  for (const action of actions) {
    if (action.do === "dispatch") reasons.set(action.task_id, "starts at the next tick");
  }

  return reasons;
}

/** All tasks with their whole reasons if there is room; or the first ones, and how many more. */
function fitTaskRows(tasks: readonly ShownTask[], room: number): readonly string[] {
  const wrappedRows = tasks.flatMap(renderWrapped);
  if (wrappedRows.length <= room) return wrappedRows;

  const roomForMore = tasks.length * rowsPerTask > room ? 1 : 0; // the row "… and N tasks more"
  const fittingCount = Math.floor((room - roomForMore) / rowsPerTask);
  const shown = tasks.slice(0, Math.max(0, fittingCount));
  const hiddenCount = tasks.length - shown.length;

  const shortRows = shown.flatMap(renderShort);
  return hiddenCount === 0
    ? shortRows
    : [...shortRows, `… and ${plural(hiddenCount, "task")} more`];
}

const renderWrapped = ({ task, because }: ShownTask): readonly string[] =>
  renderTaskRows(task, wrapTo(oneLine(because, reasonCharsMax), reasonColumns));

const renderShort = ({ task, because }: ShownTask): readonly string[] =>
  renderTaskRows(task, [oneLine(because, 200)]);

const listIdleWarnings = (state: PortfolioView): readonly string[] =>
  countByStatus(state).running > 0
    ? ["! Nobody works on what is running: autopilot portfolio run goes on with it"]
    : [];

function renderSummary(state: PortfolioView, now: string): readonly string[] {
  const lines = [describePortfolio(state, now)];

  const questions = listOpenBlocks(state).length;
  const tasks = listTasksNeedingPerson(state, now).length;
  const peopleSentence = describeWaitingForPeople(questions, tasks);
  if (peopleSentence !== null) lines.push(`! ${peopleSentence}: autopilot inbox`);
  return lines;
}

function describePortfolio(state: PortfolioView, now: string): string {
  const { name, paused, heartbeat, spent } = state;
  const { running, ready, done } = countByStatus(state);
  const nameText = `${oneLine(name, 30)}${paused ? " (paused)" : ""}`;
  const countsText = `${running} running, ${ready} ready, ${done} done`;
  const tickText =
    heartbeat === null ? "no tick yet" : `last tick ${describeAge(heartbeat, now)} ago`;
  const spentText = `${formatNumber(spent.tokens)} tokens, ${formatMoney(spent.usd)}`;

  return `Portfolio ${nameText}: ${countsText}; ${tickText}; ${spentText}`;
}

/** `1 question and 2 tasks wait for you`; null if nothing does. */
export function describeWaitingForPeople(questions: number, tasks: number): string | null {
  const parts: string[] = [];
  if (questions > 0) parts.push(plural(questions, "question"));
  if (tasks > 0) parts.push(plural(tasks, "task"));
  if (parts.length === 0) return null;

  const verb = questions + tasks === 1 ? "waits" : "wait";
  return `${parts.join(" and ")} ${verb} for you`;
}

const describeAge = (at: string, now: string): string => formatDuration(ageMs(at, now));

/** The table of projects, cut to its share of the screen. */
function renderProjects(state: PortfolioView, rows: number): readonly string[] {
  const table = alignColumns([
    ["project", "phase", "ready", "running", "blocked", "done"],
    ...Object.values(state.projects).map((project) => describeProject(state, project)),
  ]);

  return limitLines(table, Math.max(3, Math.floor(rows * tableRowsShare)), "projects");
}

function describeProject(state: PortfolioView, project: ProjectView): string[] {
  const { ready, running, blocked_human, done } = countByStatus(state, project.tasks);
  const counts = [ready, running, blocked_human, done].map(String);
  return [oneLine(project.project_id, 40), describePhase(state, project), ...counts];
}

const limitLines = (lines: readonly string[], rows: number, noun: string): readonly string[] =>
  lines.length <= rows
    ? lines
    : [...lines.slice(0, rows - 1), `… and ${lines.length - rows + 1} more ${noun}`];

const renderTaskRows = (
  { status, task_id, objective }: TaskView,
  because: readonly string[],
): readonly string[] => [
  `${status.padEnd(16)} ${oneLine(objective, objectiveCharsMax)}  ${task_id}`,
  ...because.map((line) => `${" ".repeat(17)}${line}`),
];

/** One row for each kind of reason, with the number of tasks (B2). */
function renderGroups(waiting: Plan["waiting"]): readonly string[] {
  const reasonsByCode = new Map<WaitCode, string[]>();
  for (const { code, because } of waiting) {
    const reasons = reasonsByCode.get(code) ?? [];
    reasons.push(because);
    reasonsByCode.set(code, reasons);
  }

  return [...reasonsByCode.values()].map(renderGroup);
}

function renderGroup(reasons: readonly string[]): string {
  const [first = ""] = reasons;
  const isOneReason = reasons.every((reason) => reason === first);
  const reasonHint = isOneReason
    ? ""
    : " (autopilot portfolio tick --dry-run says why each does), one because";

  const countText = plural(reasons.length, "task waits", "tasks wait");
  return `${countText}${reasonHint}: ${oneLine(first, 120)}`;
}

function renderLanded(state: PortfolioView, now: string): readonly string[] {
  const landedIds = state.recent.slice(0, landedShownMax);
  const landed = landedIds.flatMap((id) => state.tasks[id] ?? []);

  return landed.map(({ task_id, changed_at, objective }) => {
    const objectiveText = oneLine(objective, objectiveCharsMax);
    return `done ${describeAge(changed_at, now)} ago: ${objectiveText}  ${task_id}`;
  });
}
