// fleet-page: a store's workers, leases, queue and take-overs, as the dashboard shows them. Three
// queries, only while the page is open.

import type { StoredOrder } from "../../fleet/postgres/stored-orders.ts";
import type { StoredWorker } from "../../fleet/postgres/workers.ts";
import type { StoredRun } from "../../ports/run-store.ts";
import { findStoreAddress } from "../../fleet/address.ts";
import { listPlannedPortfolios } from "../../fleet/planned-portfolios.ts";
import { Refusal } from "../../project/respond.ts";
import { classifySystemError } from "../../project/system-errors.ts";
import type { FleetBoard } from "../../views/web/fleet-board.ts";

const ordersShownMax = 100;
const runsShownMax = 100;

export type FleetPage = {
  readonly store: string | null;
  /** Why the store could not be reached; then there is no board. */
  readonly problem: string | null;
  readonly runs: number;
  readonly take_overs: number;
  readonly board: FleetBoard | null;
};

const emptyPage: FleetPage = { store: null, problem: null, runs: 0, take_overs: 0, board: null };

/**
 * Reads the store that the environment names. Without one the page is empty, and the PostgreSQL
 * client is not loaded.
 */
export async function buildFleetPage(env: NodeJS.ProcessEnv): Promise<FleetPage> {
  try {
    if (findStoreAddress(env) === null) return emptyPage;
    const [{ openSharedStore }, { listOrders }, { listWorkers }] = await Promise.all([
      import("../../fleet/shared-run.ts"),
      import("../../fleet/postgres/stored-orders.ts"),
      import("../../fleet/postgres/workers.ts"),
    ]);
    const store = await openSharedStore(env);

    const [entries, workers, orders] = await Promise.all([
      store.runs(),
      listWorkers(store.database),
      listOrders(store.database),
    ]);
    const runs = entries.filter(({ kind }) => kind === "run");
    return {
      store: store.database.name,
      problem: null,
      runs: runs.length,
      take_overs: entries.reduce((sum, { takeOvers }) => sum + takeOvers, 0),
      board: {
        workers: workers.map((worker) => workerRow(worker, orders)),
        portfolios: listPlannedPortfolios(entries).map(({ key, holder, epoch, takeOvers }) => ({
          id: key,
          holder,
          epoch,
          take_overs: takeOvers,
        })),
        orders: orders.toReversed().slice(0, ordersShownMax).map(orderRow),
        orders_more: Math.max(0, orders.length - ordersShownMax),
        runs: runRows(runs),
      },
    };
  } catch (error) {
    const problem =
      error instanceof Refusal ? error.response.message : classifySystemError(error)?.message;
    if (problem === undefined) throw error;
    return { ...emptyPage, problem };
  }
}

const workerRow = (
  { worker, holder, leaseLeftMs, jobs, labels, product, isDraining }: StoredWorker,
  orders: readonly StoredOrder[],
): FleetBoard["workers"][number] => ({
  worker,
  holder,
  lease_left_ms: leaseLeftMs,
  jobs,
  at_work: orders.filter((order) => order.state === "taken" && order.worker === worker).length,
  labels,
  product,
  is_draining: isDraining,
});

const orderRow = (order: StoredOrder): FleetBoard["orders"][number] => ({
  id: order.id,
  run: order.run,
  priority: order.priority,
  needs: order.needs,
  worker: order.state === "taken" ? order.worker : null,
  times_taken: order.timesTaken,
  waits_ms: order.waitsMs,
  why: order.outcome,
});

/** Runs that a worker holds or that were taken over, held ones first. */
function runRows(runs: readonly StoredRun[]): FleetBoard["runs"] {
  const newestFirst = runs
    .filter(({ holder, takeOvers }) => holder !== null || takeOvers > 0)
    .toReversed();
  return [
    ...newestFirst.filter(({ holder }) => holder !== null),
    ...newestFirst.filter(({ holder }) => holder === null),
  ]
    .slice(0, runsShownMax)
    .map(({ run, holder, leaseLeftMs, seq, epoch, takeOvers }) => ({
      run,
      holder,
      lease_left_ms: leaseLeftMs ?? null,
      lines: seq,
      epoch,
      take_overs: takeOvers,
    }));
}
