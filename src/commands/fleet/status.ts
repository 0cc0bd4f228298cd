// status: lists the runs of a store with their owners, its workers and queued orders. One query for all runs.

import type { CommandResponse } from "../../contracts/command-response.ts";
import { requireStoreAddress } from "../../fleet/address.ts";
import { type PlannedPortfolio, plannedPortfolios } from "../../fleet/planned-portfolios.ts";
import type { StoredOrder } from "../../fleet/postgres/orders.ts";
import type { StoredWorker } from "../../fleet/postgres/workers.ts";
import type { StoredRun } from "../../ports/run-store.ts";
import { columned } from "../../views/columned.ts";
import { oneLine } from "../../views/wording.ts";
import type { CommandContext } from "../../project/command-context.ts";
import { catchRefusals, respond } from "../../project/respond.ts";

export type FleetStatusInput = { readonly store?: string | undefined; readonly all?: boolean | undefined };

const shownMax = 20;

export function fleetStatus(context: CommandContext, input: FleetStatusInput): Promise<CommandResponse> {
  return catchRefusals(async () => {
    const url = requireStoreAddress(context.env, input.store);
    const { openPostgresStore } = await import("../../fleet/postgres/store.ts");
    const store = await openPostgresStore(url);
    try {
      const { newestOrders, ordersIn } = await import("../../fleet/postgres/orders.ts");
      const { workersIn } = await import("../../fleet/postgres/workers.ts");
      const [all, workers, orders] = await Promise.all([store.runs(), workersIn(store.database), ordersIn(store.database)]);
      const [runs, portfolios] = [all.filter(({ kind }) => kind === "run"), plannedPortfolios(all)];
      const newestByRun = new Map(
        (
          await newestOrders(
            store.database,
            runs.map(({ run }) => run),
          )
        ).map((order) => [order.run, order]),
      );
      const alive = workers.filter(({ holder }) => holder !== null);
      const heldRuns = runs.filter(({ holder }) => holder !== null);
      const takeOvers = runs.reduce((sum, run) => sum + run.takeOvers, 0);
      const shownRuns =
        input.all === true ? runs : [...heldRuns, ...runs.filter(({ holder }) => holder === null).toReversed()].slice(0, shownMax);
      const message = `${runs.length} ${runs.length === 1 ? "run" : "runs"} in ${store.database.name}, ${heldRuns.length} held, ${takeOvers} ${takeOvers === 1 ? "take-over" : "take-overs"}.`;
      return respond("ok", {
        message,
        page: [
          message,
          ...(shownRuns.length === 0
            ? []
            : [
                "",
                ...columned([
                  ["RUN", "HELD BY", "LINES", "EPOCH", "TAKE-OVERS", "LAST ORDER"],
                  ...shownRuns.map((run) => runRow(run, newestByRun.get(run.run))),
                ]),
              ]),
          ...(portfolios.length === 0
            ? []
            : ["", ...columned([["PORTFOLIO", "PLANNED BY", "LINES", "EPOCH", "TAKE-OVERS"], ...portfolios.map(portfolioRow)])]),
          ...(alive.length === 0
            ? []
            : [
                "",
                ...columned([["WORKER", "HOST", "JOBS", "LABELS", ""], ...alive.map((storedWorker) => workerRow(storedWorker, orders))]),
              ]),
          ...(orders.length === 0
            ? []
            : ["", ...columned([["ORDER", "PRIORITY", "NEEDS", "STANDS"], ...orders.toReversed().slice(0, shownMax).map(orderRow)])]),
          ...(orders.length > shownMax ? [`… ${orders.length - shownMax} more orders`] : []),
          ...(shownRuns.length < runs.length ? [`… ${runs.length - shownRuns.length} more: autopilot fleet status --all`] : []),
        ],
        data: {
          store: store.database.name,
          runs: runs.map(({ run, kind, seq, epoch, holder, takeOvers: taken }) => ({
            run_id: run,
            kind,
            seq,
            epoch,
            holder,
            take_overs: taken,
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
          orders: orders.map(({ id, run, repository, priority, needs, slots, state, worker, timesTaken, outcome }) => ({
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
          })),
          portfolios: portfolios.map(({ key, lines, epoch, holder, takeOvers: taken }) => ({
            portfolio: key,
            lines,
            epoch,
            holder,
            take_overs: taken,
          })),
          held: heldRuns.length,
          take_overs: takeOvers,
        },
      });
    } finally {
      await store.close();
    }
  });
}

const workerRow = ({ worker, holder, jobs, labels, isDraining }: StoredWorker, orders: readonly StoredOrder[]): readonly string[] => [
  worker,
  `${holder?.host ?? "?"} (pid ${holder?.pid ?? "?"})`,
  `${orders.filter((order) => order.state === "taken" && order.worker === worker).length}/${jobs}`,
  labels.join(","),
  isDraining ? "draining" : "",
];

const portfolioRow = ({ key, lines, holder, epoch, takeOvers }: PlannedPortfolio): readonly string[] => [
  key,
  holder === null ? "nobody" : `${holder.host} (pid ${holder.pid})`,
  String(lines),
  String(epoch),
  String(takeOvers),
];

const orderRow = ({ id, priority, needs, state, worker, outcome }: StoredOrder): readonly string[] => [
  id,
  String(priority),
  needs.join(","),
  state === "taken" ? `with ${worker ?? "?"}` : outcome === null ? "waits for a worker" : `waits: ${oneLine(outcome, 60)}`,
];

/** The state of a run's newest order: also of a finished one, which no list of orders shows. */
const orderData = (order: StoredOrder | undefined): { order: string; state: string; outcome: string | null } | null =>
  order === undefined ? null : { order: order.id, state: order.state, outcome: order.outcome };

const runRow = ({ run, holder, seq, epoch, takeOvers }: StoredRun, order: StoredOrder | undefined): readonly string[] => [
  run,
  holder === null ? "nobody" : `${holder.worker} (pid ${holder.pid})`,
  String(seq),
  String(epoch),
  String(takeOvers),
  order === undefined ? "" : order.state === "ended" ? oneLine(order.outcome ?? "ended", 100) : order.state,
];
