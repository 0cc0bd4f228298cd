// fleet-board: renders the page of a shared store: its workers and their leases, the queue of
// orders, which process plans each portfolio, and which runs were taken over from a worker that
// went silent.

import { type Child, el, type Element, foreignText } from "./element.ts";
import { section, tableHead } from "./components.ts";
import { stateLabel } from "./icons.ts";
import { formatNumber, plural, shortDuration } from "./format-numbers.ts";

type LeaseHolder = { readonly worker: string; readonly host: string; readonly pid: number };

/**
 * Times are durations, because only the database's clock says when a lease ends; the browser's may
 * differ.
 */
export type FleetBoard = {
  readonly workers: readonly {
    readonly worker: string;
    /** Null if its lease has lapsed. */
    readonly holder: LeaseHolder | null;
    readonly lease_left_ms: number | null;
    readonly jobs: number;
    readonly at_work: number;
    readonly labels: readonly string[];
    readonly product: string;
    readonly is_draining: boolean;
  }[];
  readonly portfolios: readonly {
    readonly id: string;
    readonly holder: LeaseHolder | null;
    readonly epoch: number;
    readonly take_overs: number;
  }[];
  readonly orders: readonly {
    readonly id: string;
    readonly run: string;
    readonly priority: number;
    readonly needs: readonly string[];
    readonly worker: string | null;
    readonly times_taken: number;
    readonly waits_ms: number;
    readonly why: string | null;
  }[];
  readonly orders_more: number;
  /** Held now, or taken from an owner that had gone silent. */
  readonly runs: readonly {
    readonly run: string;
    readonly holder: LeaseHolder | null;
    readonly lease_left_ms: number | null;
    readonly lines: number;
    readonly epoch: number;
    readonly take_overs: number;
  }[];
};

const holderText = (holder: LeaseHolder | null): Child =>
  holder === null ? "–" : foreignText(`${holder.host}, pid ${holder.pid}`);
const leaseLeftText = (ms: number | null): string =>
  ms === null ? "–" : `${shortDuration(Math.max(0, ms))} left`;
export function fleetBoard(board: FleetBoard): Child {
  return [
    workersSection(board),
    el("div.two", queueSection(board), leasesSection(board)),
    plannersSection(board),
  ];
}

/** A table, or what is said while it would have no rows. */
function listPanel(head: Element, rows: readonly Element[], emptyText: string): Element {
  const content =
    rows.length === 0
      ? el("div.item.second", emptyText)
      : el("table.grid.lists", head, el("tbody", rows));
  return el("div.panel.clip", content);
}

function workersSection({ workers }: FleetBoard): Element {
  const aliveCount = workers.filter(({ holder }) => holder !== null).length;

  return section(
    "Workers",
    `${formatNumber(aliveCount)} of ${formatNumber(workers.length)} alive`,
    listPanel(
      tableHead("Worker", "Where", "At work", "Lease", ""),
      workers.map(workerRow),
      "No worker has ever worked for this store: autopilot worker starts one.",
    ),
  );
}

function queueSection({ orders, orders_more: more }: FleetBoard): Element {
  const waitingCount = orders.filter(({ worker }) => worker === null).length;
  const takenCount = orders.length - waitingCount;
  const moreText = `${formatNumber(more)} more: autopilot fleet status`;

  return section(
    "Queue",
    `${plural(waitingCount + more, "order")} waiting, ${formatNumber(takenCount)} with a worker`,
    listPanel(
      tableHead("Run", "Stands", "Since"),
      orders.map(orderRow),
      "Nothing waits for a worker.",
    ),
    more === 0 ? null : el("p.tiny.dim.gap-top", moreText),
  );
}

function leasesSection({ runs }: FleetBoard): Element {
  return section(
    "Leases and take-overs",
    plural(runs.length, "run"),
    listPanel(
      tableHead("Run", "Held by", "Lease", "Taken over"),
      runs.map(runRow),
      "No run is held, and none was ever taken over.",
    ),
  );
}

function plannersSection({ portfolios }: FleetBoard): Child {
  if (portfolios.length === 0) return null;

  return section(
    "Who plans",
    plural(portfolios.length, "portfolio"),
    listPanel(tableHead("Portfolio", "Planned by", "Taken over"), portfolios.map(portfolioRow), ""),
  );
}

type Worker = FleetBoard["workers"][number];

const workerRow = (row: Worker): Element =>
  el(
    "tr",
    { key: row.worker },
    el(
      "th",
      { scope: "row" },
      foreignText(row.worker),
      el("div.tiny.dim", foreignText([row.product, ...row.labels].join(", "))),
    ),
    el("td", { "data-label": "where" }, holderText(row.holder)),
    el(
      "td.num",
      { "data-label": "at work" },
      `${formatNumber(row.at_work)} of ${formatNumber(row.jobs)}`,
    ),
    el("td.num", { "data-label": "lease" }, leaseLeftText(row.lease_left_ms)),
    el("td", workerState(row)),
  );

function workerState({ holder, is_draining, at_work }: Worker): Element {
  if (holder === null) return stateLabel("bad", "gone");
  if (is_draining) return stateLabel("paused", "draining");
  return at_work > 0 ? stateLabel("run", "works") : stateLabel("waits", "idle");
}

function orderRow({
  id,
  run,
  priority,
  needs,
  worker,
  times_taken,
  waits_ms,
  why,
}: FleetBoard["orders"][number]): Element {
  const notes = [
    times_taken > 1 ? `handed out ${times_taken} times` : "",
    why?.slice(0, 200) ?? "",
  ].filter((note) => note !== "");

  return el(
    "tr",
    { key: id },
    el(
      "th",
      { scope: "row" },
      foreignText(run),
      el("div.tiny.dim", foreignText([`P${priority}`, ...needs].join(", "))),
    ),
    el(
      "td",
      worker === null
        ? stateLabel("waits", "waits")
        : [stateLabel("run", "with "), foreignText(worker)],
      el("div.tiny.dim", foreignText(notes.join("; "))),
    ),
    el("td.num", { "data-label": "since" }, shortDuration(Math.max(0, waits_ms))),
  );
}

const takeOverText = (count: number): string => (count === 0 ? "–" : plural(count, "time"));

const runRow = ({
  run,
  holder,
  lease_left_ms,
  lines,
  epoch,
  take_overs,
}: FleetBoard["runs"][number]): Element =>
  el(
    "tr",
    { key: run },
    el(
      "th",
      { scope: "row" },
      foreignText(run),
      el("div.tiny.dim", `${formatNumber(lines)} lines, epoch ${formatNumber(epoch)}`),
    ),
    el("td", { "data-label": "held by" }, holder === null ? "nobody" : foreignText(holder.worker)),
    el("td.num", { "data-label": "lease" }, leaseLeftText(lease_left_ms)),
    el("td.num", { "data-label": "taken over" }, takeOverText(take_overs)),
  );

const portfolioRow = ({
  id,
  holder,
  epoch,
  take_overs,
}: FleetBoard["portfolios"][number]): Element =>
  el(
    "tr",
    { key: id },
    el("th", { scope: "row" }, foreignText(id), el("div.tiny.dim", `epoch ${formatNumber(epoch)}`)),
    el("td", { "data-label": "planned by" }, holder === null ? "nobody" : holderText(holder)),
    el("td.num", { "data-label": "taken over" }, takeOverText(take_overs)),
  );
