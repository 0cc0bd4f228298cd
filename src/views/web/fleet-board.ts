// fleet-board: a store's workers and their leases, what waits for them, who plans, and what was taken over.

import { type Child, el, type Element, foreignText } from "./element.ts";
import { section } from "./pieces.ts";
import { status } from "./shapes.ts";
import { figure, plural, span } from "./page-figures.ts";

type HolderShown = { readonly worker: string; readonly host: string; readonly pid: number };

/** Times are sent as durations: the database's clock judges leases, not the browser's. */
export type FleetBoard = {
  readonly workers: readonly {
    readonly worker: string;
    /** Null if its lease has lapsed. */
    readonly holder: HolderShown | null;
    readonly lease_left_ms: number | null;
    readonly jobs: number;
    readonly at_work: number;
    readonly labels: readonly string[];
    readonly product: string;
    readonly is_draining: boolean;
  }[];
  readonly portfolios: readonly {
    readonly id: string;
    readonly holder: HolderShown | null;
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
    readonly holder: HolderShown | null;
    readonly lease_left_ms: number | null;
    readonly lines: number;
    readonly epoch: number;
    readonly take_overs: number;
  }[];
};

const columns = (...names: readonly string[]): Element => el("thead", el("tr", ...names.map((name) => el("th", { scope: "col" }, name))));
const holderText = (holder: HolderShown | null): Child => (holder === null ? "–" : foreignText(`${holder.host}, pid ${holder.pid}`));
const left = (ms: number | null): string => (ms === null ? "–" : `${span(Math.max(0, ms))} left`);
const none = (text: string): Element => el("div.item.second", text);

export function fleetBoard({ workers, portfolios, orders, orders_more: more, runs }: FleetBoard): Child {
  const [waiting, taken] = [orders.filter(({ worker }) => worker === null), orders.filter(({ worker }) => worker !== null)];
  const alive = workers.filter(({ holder }) => holder !== null);
  return [
    section(
      "Workers",
      `${figure(alive.length)} of ${figure(workers.length)} alive`,
      el(
        "div.panel.clip",
        workers.length === 0
          ? none("No worker has ever worked for this store: autopilot worker starts one.")
          : el("table.grid.lists", columns("Worker", "Where", "At work", "Lease", ""), el("tbody", workers.map(workerRow))),
      ),
    ),
    el(
      "div.two",
      section(
        "Queue",
        `${plural(waiting.length + more, "order")} waiting, ${figure(taken.length)} with a worker`,
        el(
          "div.panel.clip",
          orders.length === 0
            ? none("Nothing waits for a worker.")
            : el("table.grid.lists", columns("Run", "Stands", "Since"), el("tbody", orders.map(orderRow))),
        ),
        more === 0 ? null : el("p.tiny.dim.gap-top", `${figure(more)} more: autopilot fleet status`),
      ),
      section(
        "Leases and take-overs",
        plural(runs.length, "run"),
        el(
          "div.panel.clip",
          runs.length === 0
            ? none("No run is held, and none was ever taken over.")
            : el("table.grid.lists", columns("Run", "Held by", "Lease", "Taken over"), el("tbody", runs.map(runRow))),
        ),
      ),
    ),
    portfolios.length === 0
      ? null
      : section(
          "Who plans",
          plural(portfolios.length, "portfolio"),
          el(
            "div.panel.clip",
            el("table.grid.lists", columns("Portfolio", "Planned by", "Taken over"), el("tbody", portfolios.map(portfolioRow))),
          ),
        ),
  ];
}

const workerRow = ({
  worker,
  holder,
  lease_left_ms: ms,
  jobs,
  at_work,
  labels,
  product,
  is_draining,
}: FleetBoard["workers"][number]): Element =>
  el(
    "tr",
    { key: worker },
    el("th", { scope: "row" }, foreignText(worker), el("div.tiny.dim", foreignText([product, ...labels].join(", ")))),
    el("td", { "data-label": "where" }, holderText(holder)),
    el("td.num", { "data-label": "at work" }, `${figure(at_work)} of ${figure(jobs)}`),
    el("td.num", { "data-label": "lease" }, left(ms)),
    el(
      "td",
      holder === null
        ? status("bad", "gone")
        : is_draining
          ? status("paused", "draining")
          : at_work > 0
            ? status("run", "works")
            : status("waits", "idle"),
    ),
  );

const orderRow = ({ id, run, priority, needs, worker, times_taken: times, waits_ms: ms, why }: FleetBoard["orders"][number]): Element =>
  el(
    "tr",
    { key: id },
    el("th", { scope: "row" }, foreignText(run), el("div.tiny.dim", foreignText([`P${priority}`, ...needs].join(", ")))),
    el(
      "td",
      worker === null ? status("waits", "waits") : status("run", "with "),
      worker === null ? null : foreignText(worker),
      el(
        "div.tiny.dim",
        foreignText([...(times > 1 ? [`handed out ${times} times`] : []), ...(why === null ? [] : [why.slice(0, 200)])].join("; ")),
      ),
    ),
    el("td.num", { "data-label": "since" }, span(Math.max(0, ms))),
  );

const runRow = ({ run, holder, lease_left_ms: ms, lines, epoch, take_overs: times }: FleetBoard["runs"][number]): Element =>
  el(
    "tr",
    { key: run },
    el("th", { scope: "row" }, foreignText(run), el("div.tiny.dim", `${figure(lines)} lines, epoch ${figure(epoch)}`)),
    el("td", { "data-label": "held by" }, holder === null ? "nobody" : foreignText(holder.worker)),
    el("td.num", { "data-label": "lease" }, left(ms)),
    el("td.num", { "data-label": "taken over" }, times === 0 ? "–" : plural(times, "time")),
  );

const portfolioRow = ({ id, holder, epoch, take_overs: times }: FleetBoard["portfolios"][number]): Element =>
  el(
    "tr",
    { key: id },
    el("th", { scope: "row" }, foreignText(id), el("div.tiny.dim", `epoch ${figure(epoch)}`)),
    el("td", { "data-label": "planned by" }, holder === null ? "nobody" : holderText(holder)),
    el("td.num", { "data-label": "taken over" }, times === 0 ? "–" : plural(times, "time")),
  );
