// board: draws a portfolio's state on one screen: what waits for a person, its projects, its tasks and why they wait, what landed.
//
// Invariants:
//   B1. It has at most the rows it is given. Tasks that a person must see to come first, and the first rows count them: what does not fit
//       is in the inbox.
//   B2. Tasks that wait for the same reason are one line, however many they are.

import { wrappedTo } from "../../kit/columns.ts";
import { ageMs } from "../../kit/iso-time.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { formatDuration, formatNumber, formatMoney, oneLine, plural } from "../../views/wording.ts";
import type { Plan, WaitCode } from "../planner/plan-actions.ts";
import { listTasksNeedingPerson } from "../planner/needs-person.ts";
import { openBlocks, type PortfolioView, type TaskView } from "../planner/state.ts";
import { countsOf } from "./metrics.ts";
import { phaseOf } from "./pages.ts";

const objectiveCharsMax = 60;
/** A reason is wrapped while there is room for all of them; a terminal of 80 columns cuts nothing. */
const reasonColumns = 62;
const reasonCharsMax = 600;
const landedShown = 3;
const tableRowsShare = 0.4;
/** A person must act. */
const personCodes: readonly WaitCode[] = ["block", "needs_person", "dependency_canceled", "no_repository"];
/** Tasks that wait for these are shown one by one: a person must act, or something happens to them. */
const shownSingly = new Set<WaitCode>([...personCodes, "working", "merging", "resting", "delayed", "agent"]);
/** The task, and why it waits. */
const rowsPerTask = 2;

export type Screen = {
  readonly now: string;
  readonly rows: number;
  /** No pool works on the portfolio now. */
  readonly isIdle?: boolean;
};

export function board(state: PortfolioView, { actions, waiting }: Plan, { now, rows, isIdle = false }: Screen): readonly string[] {
  const reasons = new Map(waiting.flatMap(({ task_id, code, because }) => (shownSingly.has(code) ? [[task_id, because] as const] : [])));
  for (const action of actions) if (action.do === "dispatch") reasons.set(action.task_id, "starts at the next tick");
  const forPerson = new Set(waiting.flatMap(({ task_id, code }) => (personCodes.includes(code) ? [task_id] : [])));
  const tasksWithReason = Object.values(state.tasks).filter(({ task_id }) => reasons.has(task_id));
  const order = ["blocked_human", "needs_adjustment", "failed", "running", "ready"];
  const rank = ({ task_id, status }: TaskView): number => (forPerson.has(task_id) ? -1 : order.indexOf(status)); // B1
  const tasks = tasksWithReason
    .toSorted((a, b) => rank(a) - rank(b) || a.priority - b.priority || a.created - b.created)
    .map((task) => ({ task, because: reasons.get(task.task_id) ?? "" }));
  const tail = [...groups(waiting.filter(({ code }) => !shownSingly.has(code))), ...landed(state, now)];
  const head = [
    ...summaryLines(state, now),
    ...(isIdle ? idleWarning(state) : []),
    "",
    ...fit(projectRows(state), Math.max(3, Math.floor(rows * tableRowsShare)), "projects"),
    "",
  ];
  const room = rows - head.length - tail.length;
  const wrappedRows = tasks.flatMap(({ task, because }) => taskRows(task, wrappedTo(oneLine(because, reasonCharsMax), reasonColumns)));
  if (wrappedRows.length <= room) return [...head, ...wrappedRows, ...tail];
  const roomForMore = tasks.length * rowsPerTask > room ? 1 : 0; // the row "… and N tasks more"
  const shownCount = Math.max(0, Math.min(tasks.length, Math.floor((room - roomForMore) / rowsPerTask)));
  const hiddenCount = tasks.length - shownCount;
  const shortRows = tasks.slice(0, shownCount).flatMap(({ task, because }) => taskRows(task, [oneLine(because, 200)]));
  return [...head, ...shortRows, ...(hiddenCount === 0 ? [] : [`… and ${plural(hiddenCount, "task")} more`]), ...tail].slice(0, rows); // B1
}

const idleWarning = (state: PortfolioView): readonly string[] =>
  countsOf(state).running > 0 ? ["! Nobody works on what is running: autopilot portfolio run goes on with it"] : [];

function summaryLines(state: PortfolioView, now: string): readonly string[] {
  const counts = countsOf(state);
  const peopleSentence = waitingForPeople(openBlocks(state).length, listTasksNeedingPerson(state, now).length);
  const beat = state.heartbeat === null ? "no tick yet" : `last tick ${age(state.heartbeat, now)} ago`;
  return [
    `Portfolio ${oneLine(state.name, 30)}${state.paused ? " (paused)" : ""}: ${counts.running} running, ${counts.ready} ready, ${counts.done} done; ${beat}; ${formatNumber(state.spent.tokens)} tokens, ${formatMoney(state.spent.usd)}`,
    ...(peopleSentence === null ? [] : [`! ${peopleSentence}: autopilot inbox`]),
  ];
}

/** `1 question and 2 tasks wait for you`; null if nothing does. */
export function waitingForPeople(questions: number, tasks: number): string | null {
  const parts = [...(questions === 0 ? [] : [plural(questions, "question")]), ...(tasks === 0 ? [] : [plural(tasks, "task")])];
  return parts.length === 0 ? null : `${parts.join(" and ")} ${questions + tasks === 1 ? "waits" : "wait"} for you`;
}

const age = (at: string, now: string): string => formatDuration(ageMs(at, now));

const projectRows = (state: PortfolioView): readonly string[] =>
  alignColumns([
    ["project", "phase", "ready", "running", "blocked", "done"],
    ...Object.values(state.projects).map((project) => {
      const { ready, running, blocked_human, done } = countsOf(state, project.tasks);
      return [oneLine(project.project_id, 40), phaseOf(state, project), ...[ready, running, blocked_human, done].map(String)];
    }),
  ]);

const fit = (lines: readonly string[], rows: number, noun: string): readonly string[] =>
  lines.length <= rows ? lines : [...lines.slice(0, rows - 1), `… and ${lines.length - rows + 1} more ${noun}`];

const taskRows = ({ status, task_id, objective }: TaskView, because: readonly string[]): readonly string[] => [
  `${status.padEnd(16)} ${oneLine(objective, objectiveCharsMax)}  ${task_id}`,
  ...because.map((line) => `${" ".repeat(17)}${line}`),
];

/** One row for each reason, with the number of tasks. B2 */
function groups(waiting: Plan["waiting"]): readonly string[] {
  const reasonsByCode = new Map<WaitCode, string[]>();
  for (const { code, because } of waiting) {
    const reasons = reasonsByCode.get(code);
    if (reasons === undefined) reasonsByCode.set(code, [because]);
    else reasons.push(because);
  }
  return [...reasonsByCode.values()].map((reasons) => {
    const [first = ""] = reasons;
    const isOneReason = reasons.every((reason) => reason === first);
    const rest = isOneReason ? "" : " (autopilot portfolio tick --dry-run says why each does), one because";
    return `${plural(reasons.length, "task waits", "tasks wait")}${rest}: ${oneLine(first, 120)}`;
  });
}

const landed = (state: PortfolioView, now: string): readonly string[] =>
  state.recent.slice(0, landedShown).flatMap((id) => {
    const task = state.tasks[id];
    return task === undefined ? [] : [`done ${age(task.changed_at, now)} ago: ${oneLine(task.objective, objectiveCharsMax)}  ${id}`];
  });
