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
import { listOpenBlocks, type PortfolioView, type TaskView } from "../planner/state.ts";
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
  { actions, waiting }: Plan,
  { now, rows, isIdle = false }: Screen,
): readonly string[] {
  const reasons = new Map(
    waiting.flatMap(({ task_id, code, because }) =>
      singleCodes.has(code) ? [[task_id, because] as const] : [],
    ),
  );

  for (const action of actions) {
    if (action.do === "dispatch") reasons.set(action.task_id, "starts at the next tick");
  }

  const forPerson = new Set(
    waiting.flatMap(({ task_id, code }) => (personCodes.includes(code) ? [task_id] : [])),
  );

  const tasksWithReason = Object.values(state.tasks).filter(({ task_id }) => reasons.has(task_id));
  const order = ["blocked_human", "needs_adjustment", "failed", "running", "ready"];
  const personRank = ({ task_id, status }: TaskView): number =>
    forPerson.has(task_id) ? -1 : order.indexOf(status); // B1

  const tasks = tasksWithReason
    .toSorted(
      (a, b) => personRank(a) - personRank(b) || a.priority - b.priority || a.created - b.created,
    )
    .map((task) => ({ task, because: reasons.get(task.task_id) ?? "" }));

  const tail = [
    ...renderGroups(waiting.filter(({ code }) => !singleCodes.has(code))),
    ...renderLanded(state, now),
  ];

  const head = [
    ...renderSummary(state, now),
    ...(isIdle ? listIdleWarnings(state) : []),
    "",
    ...limitLines(
      renderProjectRows(state),
      Math.max(3, Math.floor(rows * tableRowsShare)),
      "projects",
    ),
    "",
  ];
  const room = rows - head.length - tail.length;
  const wrappedRows = tasks.flatMap(({ task, because }) =>
    renderTaskRows(task, wrapTo(oneLine(because, reasonCharsMax), reasonColumns)),
  );
  if (wrappedRows.length <= room) return [...head, ...wrappedRows, ...tail];
  const roomForMore = tasks.length * rowsPerTask > room ? 1 : 0; // the row "… and N tasks more"
  const shownCount = Math.max(
    0,
    Math.min(tasks.length, Math.floor((room - roomForMore) / rowsPerTask)),
  );
  const hiddenCount = tasks.length - shownCount;
  const shortRows = tasks
    .slice(0, shownCount)
    .flatMap(({ task, because }) => renderTaskRows(task, [oneLine(because, 200)]));

  return [
    ...head,
    ...shortRows,
    ...(hiddenCount === 0 ? [] : [`… and ${plural(hiddenCount, "task")} more`]),
    ...tail,
  ].slice(0, rows); // B1
}

const listIdleWarnings = (state: PortfolioView): readonly string[] =>
  countByStatus(state).running > 0
    ? ["! Nobody works on what is running: autopilot portfolio run goes on with it"]
    : [];

function renderSummary(state: PortfolioView, now: string): readonly string[] {
  const counts = countByStatus(state);
  const peopleSentence = describeWaitingForPeople(
    listOpenBlocks(state).length,
    listTasksNeedingPerson(state, now).length,
  );

  const heartbeatText =
    state.heartbeat === null ? "no tick yet" : `last tick ${describeAge(state.heartbeat, now)} ago`;
  return [
    `Portfolio ${oneLine(state.name, 30)}${state.paused ? " (paused)" : ""}: ${counts.running} running, ${counts.ready} ready, ${counts.done} done; ${heartbeatText}; ${formatNumber(state.spent.tokens)} tokens, ${formatMoney(state.spent.usd)}`,
    ...(peopleSentence === null ? [] : [`! ${peopleSentence}: autopilot inbox`]),
  ];
}

/** `1 question and 2 tasks wait for you`; null if nothing does. */
export function describeWaitingForPeople(questions: number, tasks: number): string | null {
  const parts = [
    ...(questions === 0 ? [] : [plural(questions, "question")]),
    ...(tasks === 0 ? [] : [plural(tasks, "task")]),
  ];
  return parts.length === 0
    ? null
    : `${parts.join(" and ")} ${questions + tasks === 1 ? "waits" : "wait"} for you`;
}

const describeAge = (at: string, now: string): string => formatDuration(ageMs(at, now));

const renderProjectRows = (state: PortfolioView): readonly string[] =>
  alignColumns([
    ["project", "phase", "ready", "running", "blocked", "done"],
    ...Object.values(state.projects).map((project) => {
      const { ready, running, blocked_human, done } = countByStatus(state, project.tasks);
      return [
        oneLine(project.project_id, 40),
        describePhase(state, project),
        ...[ready, running, blocked_human, done].map(String),
      ];
    }),
  ]);

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
    const reasons = reasonsByCode.get(code);
    if (reasons === undefined) reasonsByCode.set(code, [because]);
    else reasons.push(because);
  }

  return [...reasonsByCode.values()].map((reasons) => {
    const [first = ""] = reasons;
    const isOneReason = reasons.every((reason) => reason === first);
    const reasonHint = isOneReason
      ? ""
      : " (autopilot portfolio tick --dry-run says why each does), one because";

    return `${plural(reasons.length, "task waits", "tasks wait")}${reasonHint}: ${oneLine(first, 120)}`;
  });
}

const renderLanded = (state: PortfolioView, now: string): readonly string[] =>
  state.recent.slice(0, landedShownMax).flatMap((id) => {
    const task = state.tasks[id];
    return task === undefined
      ? []
      : [
          `done ${describeAge(task.changed_at, now)} ago: ${oneLine(task.objective, objectiveCharsMax)}  ${id}`,
        ];
  });
