// workers: registers and lists the workers of a store. A worker's name is held by a lease, as a run
// is: two workers of one name are never both alive.

import type { Holder } from "../../ports/run-store.ts";
import type { WorkerRegistration } from "../../ports/dispatch.ts";
import type { LeaseTimes } from "../lease-times.ts";
import type { Database } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";
import {
  type HeldLease,
  holdLease,
  type LeaseClock,
  freeCondition,
  leaseLeftColumn,
  parseMs,
} from "./lease.ts";

export type StoredWorker = {
  readonly worker: string;
  readonly holder: Holder | null;
  /** By the store's clock; null if it has lapsed. */
  readonly leaseLeftMs: number | null;
  readonly jobs: number;
  readonly labels: readonly string[];
  readonly product: string;
  readonly isDraining: boolean;
};

const registerSql = `update autopilot.worker set epoch = epoch + 1, owner = $2::jsonb, jobs = $4::int, labels = $5::text[], product = $6::text,
    is_draining = false, since = now(), lease_until = clock_timestamp() + $3::int * interval '1 ms'
  where worker_id = $1::text and ${freeCondition} returning epoch::text`;

/** Takes a worker's name and returns its lease, or the holder if it is taken. */
export async function registerWorker(
  database: Database,
  request: {
    readonly registration: WorkerRegistration;
    readonly holder: Holder;
    readonly product: string;
    readonly times: LeaseTimes;
    readonly clock: LeaseClock;
  },
): Promise<HeldLease | { readonly takenBy: Holder | null }> {
  const { registration, holder, product, times, clock } = request;
  const { query, name } = database;

  try {
    await query("insert into autopilot.worker (worker_id) values ($1) on conflict do nothing", [
      registration.worker,
    ]);

    const sentMs = clock.monotonicMs();
    const { rows } = await query(registerSql, [
      registration.worker,
      JSON.stringify(holder),
      times.leaseMs,
      registration.jobs,
      [...registration.labels],
      product,
    ]);
    const row = rows[0];
    if (row !== undefined) {
      return holdLease(database, {
        row: { table: "worker", id: registration.worker },
        taken: { epoch: Number(row["epoch"]), sentMs },
        times,
        clock,
      });
    }

    const current = await query("select owner from autopilot.worker where worker_id = $1", [
      registration.worker,
    ]);

    return { takenBy: (current.rows[0]?.["owner"] ?? null) as Holder | null };
  } catch (error) {
    throw storeFailure(error, name);
  }
}

/** Notes for `status` that the worker takes no more orders. */
export async function reportDraining(
  { query }: Database,
  worker: string,
  epoch: number,
): Promise<void> {
  await query(
    "update autopilot.worker set is_draining = true where worker_id = $1 and epoch = $2",
    [worker, epoch],
  );
}

/** All workers, alive or not. */
export async function listWorkers({ query, name }: Database): Promise<readonly StoredWorker[]> {
  try {
    const { rows } = await query(
      `select worker_id, jobs, labels, product, is_draining, case when lease_until > clock_timestamp() then owner end as holder,
        ${leaseLeftColumn} as left_ms from autopilot.worker order by worker_id`,
    );
    return rows.map((row) => ({
      worker: String(row["worker_id"]),
      holder: (row["holder"] ?? null) as Holder | null,
      leaseLeftMs: parseMs(row["left_ms"]),
      jobs: Number(row["jobs"]),
      labels: row["labels"] as readonly string[],
      product: String(row["product"]),
      isDraining: row["is_draining"] === true,
    }));
  } catch (error) {
    throw storeFailure(error, name);
  }
}
