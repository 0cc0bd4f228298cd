// portfolio-board: a portfolio's projects by state, its merge queue, its workers, and why the rest waits.

import type { Shape } from "../facts/shape.ts";
import { type Child, el, type Element, foreignText } from "./element.ts";
import { meter, section, time } from "./pieces.ts";
import { mark, status } from "./shapes.ts";
import { figure, money, plural, short, span } from "./page-figures.ts";

type Spending = { readonly tokens: number; readonly usd: number };
type Limits = { readonly tokens?: number | undefined; readonly usd?: number | undefined };
type TaskLine = {
  readonly id: string;
  readonly project: string;
  readonly title: string;
  readonly key: string | null;
  readonly at: string | null;
  readonly note: string;
};

/** The data of a drawn portfolio. */
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
  readonly queue: readonly TaskLine[];
  readonly batch: readonly string[];
  readonly returned: readonly TaskLine[];
  readonly landed: readonly TaskLine[];
  readonly workers: readonly (TaskLine & { readonly agent: string; readonly age_ms: number | null; readonly alive: boolean })[];
  readonly waiting: readonly { readonly because: string; readonly count: number }[];
};

const states: readonly (readonly [name: string, word: string, shape: Shape])[] = [
  ["proposed", "proposed", "unproved"],
  ["ready", "ready", "waits"],
  ["running", "running", "run"],
  ["blocked_human", "asks you", "you"],
  ["needs_adjustment", "to adjust", "again"],
  ["failed", "failed", "bad"],
  ["done", "done", "ok"],
  ["canceled", "canceled", "stopped"],
];
const phases: Readonly<Record<string, Shape>> = {
  building: "run",
  merging: "run",
  blocked: "you",
  done: "ok",
  planning: "waits",
  idle: "waits",
};

export function portfolioBoard(board: PortfolioBoard, addressOf: (key: string) => string | null): Child {
  const titled = ({ title, key }: TaskLine): Child => {
    const href = key === null ? null : addressOf(key);
    return href === null ? el("span.cut", foreignText(title)) : el("a.cut", { href, "data-row": "" }, foreignText(title));
  };
  return [
    section("Projects and states", "by priority", el("div.panel.clip", projects(board))),
    el(
      "div.two",
      section(
        "Merge queue",
        board.batch.length === 0 ? plural(board.queue.length, "task") : `${plural(board.batch.length, "task")} proved together, landing`,
        el(
          "div.panel",
          board.queue.length + board.returned.length + board.landed.length === 0
            ? el("div.item.second", "Nothing waits to be merged.")
            : null,
          el(
            "ol",
            board.queue.map((task, index) =>
              el(
                `li.queue-line${board.batch.includes(task.id) ? ".in-batch" : ""}`,
                { key: task.id },
                el("span.num.dim.right", String(index + 1)),
                mark(board.batch.includes(task.id) ? "run" : "waits"),
                titled(task),
                el("span.tiny.second", foreignText(task.project)),
              ),
            ),
          ),
          board.returned
            .slice(0, 5)
            .map((task) =>
              el(
                "div.queue-line.unnumbered",
                { key: `r${task.id}` },
                mark("again"),
                el("span", titled(task), el("div.dim.tiny", foreignText(task.note.slice(0, 300)))),
                el("span.tiny.second", time(task.at)),
              ),
            ),
          board.landed
            .slice(0, 8)
            .map((task) =>
              el(
                "div.queue-line.unnumbered",
                { key: `l${task.id}` },
                mark("ok"),
                titled(task),
                el("span.tiny.second.no-wrap", "landed ", time(task.at)),
              ),
            ),
        ),
      ),
      section(
        "Workers",
        plural(board.workers.length, "task"),
        el(
          "div.panel.clip",
          board.workers.length === 0
            ? el("div.item.second", "Nobody works now: autopilot portfolio run starts workers.")
            : el(
                "table.grid.lists",
                el("thead", el("tr", ...["Task", "Agent", "Last line", ""].map((name) => el("th", { scope: "col" }, name)))),
                el(
                  "tbody",
                  board.workers.map((task) =>
                    el(
                      "tr",
                      { key: task.id },
                      el("th", { scope: "row" }, titled(task), el("div.tiny.dim", foreignText(task.project))),
                      el("td", foreignText(task.agent)),
                      el("td.num", { "data-label": "last line" }, task.age_ms === null ? "–" : `${span(task.age_ms)} ago`),
                      el(
                        "td",
                        task.alive
                          ? status("run", "alive")
                          : task.note === "at work"
                            ? status("bad", "gone")
                            : status("parked", task.note.slice(0, 40)),
                      ),
                    ),
                  ),
                ),
              ),
        ),
      ),
    ),
    section(
      "Why the rest waits",
      "",
      el(
        "div.panel",
        board.waiting.length === 0 ? el("div.item.second", "Nothing waits.") : null,
        board.waiting
          .slice(0, 30)
          .map(({ because, count }) =>
            el(
              "div.item.row",
              { key: because },
              el("b.num", { style: { width: "24px", flex: "none", "font-weight": "550" } }, figure(count)),
              el("span.second", foreignText(because)),
            ),
          ),
      ),
    ),
  ];
}

function projects({ projects: rows, counts, spent }: PortfolioBoard): Element {
  return el(
    "table.grid.lists",
    el(
      "thead",
      el(
        "tr",
        el("th", { scope: "col" }, "Project"),
        el("th", { scope: "col" }, "Phase"),
        states.map(([name, word, shape]) =>
          el(
            "th.n",
            { scope: "col", key: name },
            el(
              "span",
              { style: { display: "flex", "flex-direction": "column", "align-items": "flex-end", gap: "4px" } },
              mark(shape),
              word,
            ),
          ),
        ),
        el("th.n", { scope: "col" }, "Spent"),
      ),
    ),
    el(
      "tbody",
      rows.map((row) =>
        el(
          "tr",
          { key: row.id },
          el("th", { scope: "row" }, foreignText(row.name), " ", el("span.tiny.dim", `P${row.priority}`)),
          el("td", status(phases[row.phase] ?? "waits", row.phase)),
          states.map(([name, word, shape]) => {
            const count = row.counts[name] ?? 0;
            return el(
              `td.n${count === 0 ? ".zero" : ""}`,
              { key: name, "data-label": word },
              shape === "you" || shape === "bad" ? el(`b${count === 0 ? "" : `.c-${shape}`}`, figure(count)) : figure(count),
            );
          }),
          el("td.n", { "data-label": "spent" }, describeSpending(row.spent, row.budget)),
        ),
      ),
    ),
    el(
      "tfoot",
      el(
        "tr",
        el("td", { colspan: "2" }, "All"),
        states.map(([name]) => el("td.n", { key: name }, figure(counts[name] ?? 0))),
        el("td.n", describeSpending(spent, {})),
      ),
    ),
  );
}

function describeSpending({ tokens, usd }: Spending, budget: Limits): Child {
  if (budget.usd !== undefined)
    return [`${money(usd)} of ${money(budget.usd)}`, meter(usd / budget.usd, 0.8, `${money(usd)} of ${money(budget.usd)}`)];
  if (budget.tokens !== undefined)
    return [
      `${short(tokens)} of ${short(budget.tokens)}`,
      meter(tokens / budget.tokens, 0.8, `${short(tokens)} of ${short(budget.tokens)} tokens`),
    ];
  return usd > 0 ? money(usd) : `${short(tokens)} tokens`;
}
