// graphile-orders: the dispatch with graphile-worker in it, as a second engine behind the port. The
// queue waits, orders, wakes and counts a worker's jobs; the store's own table says which orders
// there are, who has one, and whether it may be had (decision 0134).
//
// Invariants:
//   H1. Nothing is begun that the table has not given: a job is a hint, as an order is.
//   H2. Every order that is offered has a job, and in time. Each worker looks for those that have
//       none: a job goes with whoever ended it, also too late, and nobody who changes the table
//       tells the queue.

import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type Database } from "../../src/fleet/postgres/connect.ts";
import type { HeldLease } from "../../src/fleet/postgres/lease.ts";
import { orderSql, openOrders } from "../../src/fleet/postgres/orders.ts";
import type {
  Dispatch,
  OnOrder,
  WorkerRegistration,
  WorkerHandle,
} from "../../src/ports/dispatch.ts";
import { lookEveryMs, offerValues, openOrderTable, registerHere } from "./order-table.ts";

type Job = { readonly id: string };
type Runner = { readonly stop: () => Promise<void>; readonly promise: Promise<void> };
type Graphile = {
  readonly run: (options: object) => Promise<Runner>;
  readonly runMigrations: (options: object) => Promise<void>;
  readonly Logger: new (sink: () => () => void) => object;
};

/**
 * A label that is needed, a limit of slots and the run are flags: a worker forbids those that it
 * can't do with now.
 */
const addSql = `select graphile_worker.add_job(identifier => o.repository, payload => json_build_object('id', o.order_id),
    run_at => greatest(o.not_before, o.offered_at), max_attempts => 30000, job_key => o.order_id, priority => o.priority,
    flags => (select array_agg('needs ' || label) from unnest(o.needs) label) || array[o.repository || ' ' || o.slots, 'run ' || o.run_id])
  from autopilot.work_order o`;
const hasNoJob = `o.state = 'offered' and not exists (select 1 from graphile_worker.jobs j
  where j.key = o.order_id and (j.locked_at is not null or j.run_at <= greatest(o.not_before, o.offered_at)))`;
const unlockSql = `select graphile_worker.force_unlock_workers(array_agg(j.locked_by)) from graphile_worker.jobs j join autopilot.work_order o
  on o.order_id = j.key where j.locked_by is not null and (${orderSql.goneCondition})`;
const forbiddenSql = `select 'needs ' || label as flag from autopilot.work_order o, unnest(o.needs) label where o.state = 'offered' and label <> all($1::text[])
  union select o.repository || ' ' || o.slots from autopilot.work_order o where o.state = 'offered'
    and (select count(*) from autopilot.work_order t where t.state = 'taken' and t.repository = o.repository) >= o.slots
  union select 'run ' || o.run_id from autopilot.work_order o where o.state = 'taken'`;

export async function openGraphileOrders(
  folder: string,
  url: string,
  leaseMs: number,
): Promise<Dispatch> {
  const graphile = createRequire(`${folder}/package.json`)("graphile-worker") as Graphile;
  const logger = new graphile.Logger(() => () => undefined);
  const database = connect(url, { answerMs: 2_000 });
  const plain = openOrders(database, { leaseMs });
  await graphile.runMigrations({ connectionString: url, logger });

  return {
    ...plain,
    offer: (order) =>
      database.inTransaction(async (ask) => {
        if ((await ask(orderSql.offer, offerValues(order))).count === 0) return false;
        await ask(`${addSql} where o.order_id = $1`, [order.id]);
        return true;
      }),
    withdraw: (id) =>
      database.inTransaction(async (ask) => {
        await ask(unlockSql);
        if ((await ask(orderSql.withdraw, [id])).count === 0) return false;
        await ask("select graphile_worker.remove_job($1)", [id]);

        return true;
      }),
    work: async (registration, on) => {
      const lease = await registerHere(database, registration, leaseMs);
      if (lease === null) return plain.work(registration, on); // which refuses, in its words
      return working({ graphile, logger, url, database }, registration, lease, on);
    },
  };
}

type Parts = {
  readonly graphile: Graphile;
  readonly logger: object;
  readonly url: string;
  readonly database: Database;
};

async function working(
  parts: Parts,
  registration: WorkerRegistration,
  lease: HeldLease,
  on: OnOrder,
): Promise<WorkerHandle> {
  const { graphile, logger, url, database } = parts;
  const { jobs, labels, repositories } = registration;
  const table = openOrderTable(database, registration, lease, on);

  const runner = await graphile.run({
    connectionString: url,
    concurrency: jobs,
    pollInterval: lookEveryMs,
    noHandleSignals: true,
    logger,
    taskList: Object.fromEntries(
      repositories.map((repository) => [repository, ({ id }: Job) => table.carryOut(id)]),
    ), // H1
    forbiddenFlags: async () =>
      (await database.query(forbiddenSql, [[...labels]])).rows.map((row) => String(row["flag"])),
  });

  let stopped: Promise<unknown> | null = null;
  const stop = (): Promise<unknown> => (stopped ??= runner.stop().catch(() => undefined));

  const lookUntilOver = async (): Promise<string | null> => {
    const isThrough = (): boolean =>
      lease.whyLost() !== null || (stopped !== null && table.active.size === 0);
    while (!isThrough()) {
      await table
        .oneAtATime(async (ask) => {
          await ask(unlockSql);
          await table.giveBack(ask);
          await ask(`${addSql} where ${hasNoJob}`); // H2
        })
        .catch(() => undefined);

      await sleep(lookEveryMs);
    }

    void stop();
    const why = lease.whyLost();
    await lease.release();

    return why;
  };
  const over = lookUntilOver();
  return {
    over,
    drain: async () => {
      void stop();
      await over;
    },
  };
}
