// stored-orders: lists the orders of a store with their state, and makes a delayed order due when
// its run got a request.

import type { WorkOrder } from "../../ports/dispatch.ts";
import type { Database } from "./connect.ts";
import { toWorkOrder } from "./orders.ts";
import { storeFailure } from "./store-failure.ts";

export type StoredOrder = WorkOrder & {
  readonly state: "offered" | "taken" | "ended" | "withdrawn";
  /** Who has it, or had it last. */
  readonly worker: string | null;
  readonly timesTaken: number;
  /** How many workers in a row fell silent soon after they had taken it. */
  readonly deaths: number;
  /** Since it was offered, or taken. */
  readonly waitsMs: number;
  readonly outcome: string | null;
};

const ordersMax = 1_000;
const columns = `order_id, run_id, repository, priority, needs, slots, state, worker_id, times_taken, deaths, outcome,
  (extract(epoch from clock_timestamp() - case when state = 'taken' then taken_at else offered_at end) * 1000)::bigint::text as waits_ms`;

/** The newest `ordersMax` orders, newest first: of one run, or of all that are not over. */
export function listOrders(
  database: Database,
  run: string | null = null,
): Promise<readonly StoredOrder[]> {
  const condition = run === null ? "state in ('offered', 'taken')" : "run_id = $1";
  return readOrders(
    database,
    `select ${columns} from autopilot.work_order where ${condition} order by number desc limit ${ordersMax}`,
    run === null ? [] : [run],
  );
}

/** The newest order of each of these runs that has one. */
export const listNewestOrders = (
  database: Database,
  runs: readonly string[],
): Promise<readonly StoredOrder[]> =>
  readOrders(
    database,
    `select distinct on (run_id) ${columns} from autopilot.work_order where run_id = any($1::text[]) order by run_id, number desc`,
    [[...runs]],
  );

/**
 * Called when a request was left for a run: a delayed order of it becomes due now. False if none is
 * open; if one is, its worker reads the request before it ends, so that it is not forgotten.
 */
export async function hastenOrders({ query, name }: Database, run: string): Promise<boolean> {
  try {
    const { count } = await query(
      "update autopilot.work_order set not_before = least(not_before, now()) where run_id = $1 and state in ('offered', 'taken')",
      [run],
    );
    return count > 0;
  } catch (error) {
    throw storeFailure(error, name);
  }
}

async function readOrders(
  { query, name }: Database,
  text: string,
  values: readonly unknown[],
): Promise<readonly StoredOrder[]> {
  try {
    const { rows } = await query(text, values);
    return rows.map((row) => ({
      ...toWorkOrder(row),
      state: row["state"] as StoredOrder["state"],
      worker: row["worker_id"] as string | null,
      timesTaken: Number(row["times_taken"]),
      deaths: Number(row["deaths"]),
      waitsMs: Number(row["waits_ms"] ?? 0),
      outcome: row["outcome"] as string | null,
    }));
  } catch (error) {
    throw storeFailure(error, name);
  }
}
