// status: lists the runs of a store with their owners, its workers and queued orders. A few
// queries, however many runs there are.

import type { CommandResponse } from "../../contracts/command-response.ts";
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
      const { listNewestOrders, listOrders } =
        await import("../../fleet/postgres/stored-orders.ts");
      const { listWorkers } = await import("../../fleet/postgres/workers.ts");

      const [entries, workers, orders] = await Promise.all([
        store.runs(),
        listWorkers(store.database),
        listOrders(store.database),
      ]);
      const runs = entries.filter(({ kind }) => kind === "run");
      const runNames = runs.map(({ run }) => run);
      const newestByRun = new Map(
        (await listNewestOrders(store.database, runNames)).map((order) => [order.run, order]),
      );

      const content = {
        store: store.database.name,
        runs,
        workers,
        orders,
        portfolios: listPlannedPortfolios(entries),
        newestByRun,
      };

      const held = runs.filter(({ holder }) => holder !== null).length;
      const takeOvers = runs.reduce((sum, run) => sum + run.takeOvers, 0);
      const message = `${plural(runs.length, "run")} in ${content.store}, ${held} held, ${plural(takeOvers, "take-over")}.`;

      return respond("ok", {
        message,
        page: [message, ...fleetTables(content, input)],
        data: { ...statusData(content), held, take_overs: takeOvers },
      });
    } finally {
      await store.close();
    }
  });
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
  const heldFirst = [
    ...runs.filter(({ holder }) => holder !== null),
    ...runs.filter(({ holder }) => holder === null).toReversed(),
  ];
  const shownRuns = all ? runs : heldFirst.slice(0, rowsShownMax);
  const runningWorkers = workers.filter(({ holder }) => holder !== null);
  const table = (
    head: readonly string[],
    rows: readonly (readonly string[])[],
  ): readonly string[] => (rows.length === 0 ? [] : ["", ...alignColumns([head, ...rows])]);

  return [
    ...table(
      ["RUN", "HELD BY", "LINES", "EPOCH", "TAKE-OVERS", "LAST ORDER"],
      shownRuns.map((run) => runRow(run, newestByRun.get(run.run))),
    ),
    ...table(
      ["PORTFOLIO", "PLANNED BY", "LINES", "EPOCH", "TAKE-OVERS"],
      portfolios.map(portfolioRow),
    ),
    ...table(
      ["WORKER", "HOST", "JOBS", "LABELS", ""],
      runningWorkers.map((worker) => workerRow(worker, orders)),
    ),
    ...table(
      ["ORDER", "PRIORITY", "NEEDS", "STANDS"],
      orders.toReversed().slice(0, rowsShownMax).map(orderRow),
    ),
    ...(orders.length > rowsShownMax ? [`… ${orders.length - rowsShownMax} more orders`] : []),
    ...(shownRuns.length < runs.length
      ? [`… ${runs.length - shownRuns.length} more: autopilot fleet status --all`]
      : []),
  ];
}

const statusData = ({ store, runs, workers, orders, portfolios, newestByRun }: StoreContent) => ({
  store,
  runs: runs.map(({ run, kind, seq, epoch, holder, takeOvers }) => ({
    run_id: run,
    kind,
    seq,
    epoch,
    holder,
    take_overs: takeOvers,
    last_order: orderData(newestByRun.get(run)),
  })),
  workers: workers.map(({ worker, holder, jobs, labels, product, isDraining }) => ({
    worker,
    holder,
    jobs,
    labels,
    product,
    is_draining: isDraining,
  })),
  orders: orders.map(
    ({ id, run, repository, priority, needs, slots, state, worker, timesTaken, outcome }) => ({
      order: id,
      run_id: run,
      repository,
      priority,
      needs,
      slots,
      state,
      worker,
      times_taken: timesTaken,
      outcome,
    }),
  ),
  portfolios: portfolios.map(({ key, lines, epoch, holder, takeOvers }) => ({
    portfolio: key,
    lines,
    epoch,
    holder,
    take_overs: takeOvers,
  })),
});

const workerRow = (
  { worker, holder, jobs, labels, isDraining }: StoredWorker,
  orders: readonly StoredOrder[],
): readonly string[] => [
  worker,
  `${holder?.host ?? "?"} (pid ${holder?.pid ?? "?"})`,
  `${orders.filter((order) => order.state === "taken" && order.worker === worker).length}/${jobs}`,
  labels.join(","),
  isDraining ? "draining" : "",
];

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
const orderData = (
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
