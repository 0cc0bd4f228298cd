// status: lists the runs of a store with their owners, its workers and queued orders. A few
// queries, however many runs there are.

import type { CommandResponse } from "../../contracts/command-response.ts";
import type { PostgresStore } from "../../fleet/postgres/store.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import { type PlannedPortfolio, listPlannedPortfolios } from "../../fleet/planned-portfolios.ts";
import type { StoredOrder } from "../../fleet/postgres/stored-orders.ts";
import type { StoredWorker } from "../../fleet/postgres/workers.ts";
import type { StoredRun } from "../../ports/run-store.ts";
import { alignColumns } from "../../views/align-columns.ts";
import { oneLine, plural } from "../../views/wording.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";

export type FleetStatusInput = {
  readonly store?: string | undefined;
  readonly all?: boolean | undefined;
};

const rowsShownMax = 20;

/**
 * Shows every portfolio and running worker, and the first of the runs and of the orders; with
 * `--all` every run.
 */
export function fleetStatus(
  context: CommandContext,
  input: FleetStatusInput,
): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const url = requireStoreAddress(context.env, input.store);
    const { openPostgresStore } = await import("../../fleet/postgres/store.ts");
    const store = await openPostgresStore(url);

    try {
      const content = await readContent(store);
      const { runs } = content;
      const heldCount = runs.filter(({ holder }) => holder !== null).length;
      let takeOverCount = 0;
      for (const { takeOvers } of runs) takeOverCount += takeOvers;

      const message = `${plural(runs.length, "run")} in ${content.store}, ${heldCount} held, ${plural(takeOverCount, "take-over")}.`;
      return respond("ok", {
        message,
        page: [message, ...fleetTables(content, input)],
        data: { ...statusData(content), held: heldCount, take_overs: takeOverCount },
      });
    } finally {
      await store.close();
    }
  });
}

async function readContent(store: PostgresStore): Promise<StoreContent> {
  const { database } = store;
  const { listNewestOrders, listOrders } = await import("../../fleet/postgres/stored-orders.ts");
  const { listWorkers } = await import("../../fleet/postgres/workers.ts");

  const [entries, workers, orders] = await Promise.all([
    store.runs(),
    listWorkers(database),
    listOrders(database),
  ]);
  const runs = entries.filter(({ kind }) => kind === "run");
  const runNames = runs.map(({ run }) => run);
  const newestOrders = await listNewestOrders(database, runNames);

  return {
    store: database.name,
    runs,
    workers,
    orders,
    portfolios: listPlannedPortfolios(entries),
    newestByRun: new Map(newestOrders.map((order) => [order.run, order])),
  };
}

/**
 * `newestByRun`: the newest order of each run, ended or not; `orders` has only those that are not
 * ended.
 */
type StoreContent = {
  readonly store: string;
  readonly runs: readonly StoredRun[];
  readonly workers: readonly StoredWorker[];
  readonly orders: readonly StoredOrder[];
  readonly portfolios: readonly PlannedPortfolio[];
  readonly newestByRun: ReadonlyMap<string, StoredOrder>;
};

function fleetTables(
  { runs, workers, orders, portfolios, newestByRun }: StoreContent,
  { all = false }: FleetStatusInput,
): readonly string[] {
  const shownRuns = all ? runs : putHeldFirst(runs).slice(0, rowsShownMax);
  const runningWorkers = workers.filter(({ holder }) => holder !== null);
  const newestOrders = orders.toReversed().slice(0, rowsShownMax);

  const runRows = shownRuns.map((run) => runRow(run, newestByRun.get(run.run)));
  const workerRows = runningWorkers.map((worker) => workerRow(worker, orders));
  const lines = [
    ...renderTable(["RUN", "HELD BY", "LINES", "EPOCH", "TAKE-OVERS", "LAST ORDER"], runRows),
    ...renderTable(
      ["PORTFOLIO", "PLANNED BY", "LINES", "EPOCH", "TAKE-OVERS"],
      portfolios.map(portfolioRow),
    ),
    ...renderTable(["WORKER", "HOST", "JOBS", "LABELS", ""], workerRows),
    ...renderTable(["ORDER", "PRIORITY", "NEEDS", "STANDS"], newestOrders.map(orderRow)),
  ];

  if (orders.length > rowsShownMax) lines.push(`… ${orders.length - rowsShownMax} more orders`);
  if (shownRuns.length < runs.length) {
    lines.push(`… ${runs.length - shownRuns.length} more: autopilot fleet status --all`);
  }

  return lines;
}

/** Of the runs that nobody holds, the newest come first. */
function putHeldFirst(runs: readonly StoredRun[]): readonly StoredRun[] {
  const held = runs.filter(({ holder }) => holder !== null);
  const free = runs.filter(({ holder }) => holder === null);
  return [...held, ...free.toReversed()];
}

/** With an empty line above; nothing if there are no rows. */
function renderTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  return rows.length === 0 ? [] : ["", ...alignColumns([head, ...rows])];
}

const statusData = ({ store, runs, workers, orders, portfolios, newestByRun }: StoreContent) => ({
  store,
  runs: runs.map((run) => runData(run, newestByRun.get(run.run))),
  workers: workers.map(workerData),
  orders: orders.map(orderData),
  portfolios: portfolios.map(portfolioData),
});

const runData = (
  { run, kind, seq, epoch, holder, takeOvers }: StoredRun,
  lastOrder: StoredOrder | undefined,
) => ({
  run_id: run,
  kind,
  seq,
  epoch,
  holder,
  take_overs: takeOvers,
  last_order: lastOrderData(lastOrder),
});

const workerData = ({ worker, holder, jobs, labels, product, isDraining }: StoredWorker) => ({
  worker,
  holder,
  jobs,
  labels,
  product,
  is_draining: isDraining,
});

const orderData = (order: StoredOrder) => ({
  order: order.id,
  run_id: order.run,
  repository: order.repository,
  priority: order.priority,
  needs: order.needs,
  slots: order.slots,
  state: order.state,
  worker: order.worker,
  times_taken: order.timesTaken,
  outcome: order.outcome,
});

const portfolioData = ({ key, lines, epoch, holder, takeOvers }: PlannedPortfolio) => ({
  portfolio: key,
  lines,
  epoch,
  holder,
  take_overs: takeOvers,
});

function workerRow(
  { worker, holder, jobs, labels, isDraining }: StoredWorker,
  orders: readonly StoredOrder[],
): readonly string[] {
  const ordersAtWork = orders.filter((order) => order.state === "taken" && order.worker === worker);

  return [
    worker,
    `${holder?.host ?? "?"} (pid ${holder?.pid ?? "?"})`,
    `${ordersAtWork.length}/${jobs}`,
    labels.join(","),
    isDraining ? "draining" : "",
  ];
}

const portfolioRow = ({
  key,
  lines,
  holder,
  epoch,
  takeOvers,
}: PlannedPortfolio): readonly string[] => [
  key,
  holder === null ? "nobody" : `${holder.host} (pid ${holder.pid})`,
  String(lines),
  String(epoch),
  String(takeOvers),
];

const orderRow = (order: StoredOrder): readonly string[] => [
  order.id,
  String(order.priority),
  order.needs.join(","),
  describeOrder(order),
];

function describeOrder({ state, worker, outcome }: StoredOrder): string {
  if (state === "taken") return `with ${worker ?? "?"}`;
  return outcome === null ? "waits for a worker" : `waits: ${oneLine(outcome, 60)}`;
}

/** The state of a run's newest order: also of a finished one, which no list of orders shows. */
const lastOrderData = (
  order: StoredOrder | undefined,
): { order: string; state: string; outcome: string | null } | null =>
  order === undefined ? null : { order: order.id, state: order.state, outcome: order.outcome };

const runRow = (
  { run, holder, seq, epoch, takeOvers }: StoredRun,
  order: StoredOrder | undefined,
): readonly string[] => [
  run,
  holder === null ? "nobody" : `${holder.worker} (pid ${holder.pid})`,
  String(seq),
  String(epoch),
  String(takeOvers),
  order === undefined ? "" : describeLastOrder(order),
];

const describeLastOrder = ({ state, outcome }: StoredOrder): string =>
  state === "ended" ? oneLine(outcome ?? "ended", 100) : state;
