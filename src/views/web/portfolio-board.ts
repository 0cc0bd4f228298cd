// portfolio-board: renders the page of a portfolio: its projects with their tasks by state, the
// merge queue, the workers, and why other tasks wait.

import { budgetProfiles } from "../../contracts/budget-profiles.ts";
import type { Shape } from "../facts/shape.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import { limitMeter, section, tableHead, timeElement } from "./components.ts";
import { stateIcon, stateLabel } from "./icons.ts";
import { formatNumber, formatMoney, plural, shortNumber, shortDuration } from "./format-numbers.ts";

/** How much of each list is shown; the command line shows the rest. */
const returnedMax = 5;
const landedMax = 8;
const waitingReasonsMax = 30;
const noteCharsMax = 300;
const restCharsMax = 40;

type Spending = { readonly tokens: number; readonly usd: number };
type Limits = { readonly tokens?: number | undefined; readonly usd?: number | undefined };
/** `key`: of the task's run, null before it has one. `at`: when the task last changed. */
type TaskRow = {
  readonly id: string;
  readonly project: string;
  readonly title: string;
  readonly key: string | null;
  readonly at: string | null;
  readonly note: string;
};

/** A task that a worker has. */
type WorkerRow = TaskRow & {
  readonly agent: string;
  /** How long ago the last line of its run's journal was written. */
  readonly age_ms: number | null;
  readonly alive: boolean;
  /** It waits, as `note` says, and needs no process meanwhile. */
  readonly is_resting: boolean;
};

/** What the page shows of a portfolio. */
export type PortfolioBoard = {
  readonly projects: readonly {
    readonly id: string;
    readonly name: string;
    readonly priority: number;
    readonly phase: string;
    readonly counts: Readonly<Record<string, number>>;
    readonly spent: Spending;
    readonly budget: Limits;
  }[];
  readonly counts: Readonly<Record<string, number>>;
  readonly spent: Spending;
  readonly queue: readonly TaskRow[];
  readonly batch: readonly string[];
  readonly returned: readonly TaskRow[];
  readonly landed: readonly TaskRow[];
  readonly workers: readonly WorkerRow[];
  readonly waiting: readonly { readonly because: string; readonly count: number }[];
};

type TaskState = readonly [name: string, word: string, shape: Shape];

const taskStates: readonly TaskState[] = [
  ["proposed", "proposed", "unproved"],
  ["ready", "ready", "waits"],
  ["running", "running", "run"],
  ["blocked_human", "asks you", "you"],
  ["needs_adjustment", "to adjust", "again"],
  ["failed", "failed", "bad"],
  ["done", "done", "ok"],
  ["canceled", "canceled", "stopped"],
];
const phaseShapes: Readonly<Record<string, Shape>> = {
  building: "run",
  merging: "run",
  blocked: "you",
  done: "ok",
  planning: "waits",
  idle: "waits",
};

type AddressOf = (key: string) => string | null;

/**
 * `addressOf` returns the address of a run's page by the run's key, or null if there is none to
 * link to.
 */
export function portfolioBoard(board: PortfolioBoard, addressOf: AddressOf): Child {
  return [
    section("Projects and states", "by priority", el("div.panel.clip", projectsTable(board))),
    el("div.two", mergeQueueSection(board, addressOf), workersSection(board, addressOf)),
    waitingSection(board),
  ];
}

function taskTitle({ title, key }: TaskRow, addressOf: AddressOf): Child {
  const href = key === null ? null : addressOf(key);
  return href === null
    ? el("span.cut", foreignText(title))
    : el("a.cut", { href, "data-row": "" }, foreignText(title));
}

function mergeQueueSection(
  { batch, queue, returned, landed }: PortfolioBoard,
  addressOf: AddressOf,
): Element {
  const isEmpty = queue.length + returned.length + landed.length === 0;
  const summary =
    batch.length === 0
      ? plural(queue.length, "task")
      : `${plural(batch.length, "task")} proved together, landing`;

  return section(
    "Merge queue",
    summary,
    el(
      "div.panel",
      isEmpty ? el("div.item.second", "Nothing waits to be merged.") : null,
      el(
        "ol",
        queue.map((task, index) => queueLine(task, index, batch.includes(task.id), addressOf)),
      ),
      returned.slice(0, returnedMax).map((task) => returnedLine(task, addressOf)),
      landed.slice(0, landedMax).map((task) => landedLine(task, addressOf)),
    ),
  );
}

function queueLine(
  task: TaskRow,
  index: number,
  isInBatch: boolean,
  addressOf: AddressOf,
): Element {
  return el(
    `li.queue-line${isInBatch ? ".in-batch" : ""}`,
    { key: task.id },
    el("span.num.dim.right", String(index + 1)),
    stateIcon(isInBatch ? "run" : "waits"),
    taskTitle(task, addressOf),
    el("span.tiny.second", foreignText(task.project)),
  );
}

function returnedLine(task: TaskRow, addressOf: AddressOf): Element {
  const note = el("div.dim.tiny", foreignText(task.note.slice(0, noteCharsMax)));

  return el(
    "div.queue-line.unnumbered",
    { key: `r${task.id}` },
    stateIcon("again"),
    el("span", taskTitle(task, addressOf), note),
    el("span.tiny.second", timeElement(task.at)),
  );
}

function landedLine(task: TaskRow, addressOf: AddressOf): Element {
  return el(
    "div.queue-line.unnumbered",
    { key: `l${task.id}` },
    stateIcon("ok"),
    taskTitle(task, addressOf),
    el("span.tiny.second.no-wrap", "landed ", timeElement(task.at)),
  );
}

function workersSection({ workers }: PortfolioBoard, addressOf: AddressOf): Element {
  const table = (): Element =>
    el(
      "table.grid.lists",
      tableHead("Task", "Agent", "Last line", ""),
      el(
        "tbody",
        workers.map((worker) => workerRow(worker, addressOf)),
      ),
    );

  const content =
    workers.length === 0
      ? el("div.item.second", "Nobody works now: autopilot portfolio run starts workers.")
      : table();
  return section("Workers", plural(workers.length, "task"), el("div.panel.clip", content));
}

function workerRow(worker: WorkerRow, addressOf: AddressOf): Element {
  const title = taskTitle(worker, addressOf);
  const project = el("div.tiny.dim", foreignText(worker.project));
  const age = worker.age_ms === null ? "–" : `${shortDuration(worker.age_ms)} ago`;

  return el(
    "tr",
    { key: worker.id },
    el("th", { scope: "row" }, title, project),
    el("td", foreignText(worker.agent)),
    el("td.num", { "data-label": "last line" }, age),
    el("td", workerState(worker)),
  );
}

function workerState({ alive, is_resting, note }: WorkerRow): Element {
  if (alive) return stateLabel("run", "alive");
  return is_resting ? stateLabel("parked", note.slice(0, restCharsMax)) : stateLabel("bad", "gone");
}

function waitingSection({ waiting }: PortfolioBoard): Element {
  return section(
    "Why the rest waits",
    "",
    el(
      "div.panel",
      waiting.length === 0 ? el("div.item.second", "Nothing waits.") : null,
      waiting.slice(0, waitingReasonsMax).map(reasonLine),
    ),
  );
}

function reasonLine({ because, count }: PortfolioBoard["waiting"][number]): Element {
  const style = { width: "24px", flex: "none", "font-weight": "550" };

  return el(
    "div.item.row",
    { key: because },
    el("b.num", { style }, formatNumber(count)),
    el("span.second", foreignText(because)),
  );
}

function projectsTable({ projects, counts, spent }: PortfolioBoard): Element {
  return el(
    "table.grid.lists",
    projectsHead(),
    el("tbody", projects.map(projectRow)),
    el(
      "tfoot",
      el(
        "tr",
        el("td", { colspan: "2" }, "All"),
        taskStates.map(([name]) => el("td.n", { key: name }, formatNumber(counts[name] ?? 0))),
        el("td.n", spendingCell(spent, {})),
      ),
    ),
  );
}

function projectsHead(): Element {
  return el(
    "thead",
    el(
      "tr",
      el("th", { scope: "col" }, "Project"),
      el("th", { scope: "col" }, "Phase"),
      taskStates.map(stateHead),
      el("th.n", { scope: "col" }, "Spent"),
    ),
  );
}

/** The state's icon above its word. */
function stateHead([name, word, shape]: TaskState): Element {
  const style = {
    display: "flex",
    "flex-direction": "column",
    "align-items": "flex-end",
    gap: "4px",
  };

  return el("th.n", { scope: "col", key: name }, el("span", { style }, stateIcon(shape), word));
}

function projectRow(project: PortfolioBoard["projects"][number]): Element {
  const { id, name, priority, phase, counts, spent, budget } = project;

  return el(
    "tr",
    { key: id },
    el("th", { scope: "row" }, foreignText(name), " ", el("span.tiny.dim", `P${priority}`)),
    el("td", stateLabel(phaseShapes[phase] ?? "waits", phase)),
    taskStates.map((state) => countCell(state, counts)),
    el("td.n", { "data-label": "spent" }, spendingCell(spent, budget)),
  );
}

/** How many tasks are in a state; in bold if they need somebody. */
function countCell(
  [name, word, shape]: TaskState,
  counts: Readonly<Record<string, number>>,
): Element {
  const count = counts[name] ?? 0;
  const text = formatNumber(count);
  const isAlarming = shape === "you" || shape === "bad";
  const tag = count === 0 ? "b" : `b.c-${shape}`;

  return el(
    count === 0 ? "td.n.zero" : "td.n",
    { key: name, "data-label": word },
    isAlarming ? el(tag, text) : text,
  );
}

/** From this share of a budget on, its meter is drawn as a warning: a portfolio sets none itself. */
const { soft_ratio: warningRatio } = budgetProfiles.balanced;

function spendingCell({ tokens, usd }: Spending, budget: Limits): Child {
  if (budget.usd !== undefined) {
    const text = `${formatMoney(usd)} of ${formatMoney(budget.usd)}`;
    return [text, limitMeter(usd / budget.usd, warningRatio, text)];
  }

  if (budget.tokens !== undefined) {
    const text = `${shortNumber(tokens)} of ${shortNumber(budget.tokens)}`;
    return [text, limitMeter(tokens / budget.tokens, warningRatio, `${text} tokens`)];
  }

  return usd > 0 ? formatMoney(usd) : `${shortNumber(tokens)} tokens`;
}
