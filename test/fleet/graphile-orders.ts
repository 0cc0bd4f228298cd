// graphile-orders: the dispatch with graphile-worker in it, as a second engine behind the port. The queue waits, orders, wakes and counts a
// worker's jobs; the store's own table says which orders there are, who has one, and whether it may be had (decision 0134).
//
// Invariants:
//   H1. Nothing is begun that the table has not given: a job is a hint, as an order is.
//   H2. Every order that is offered has a job, and in time. Each worker looks for those that have none: a job goes with whoever ended it,
//       also too late, and nobody who changes the table tells the queue.

import { createRequire } from "node:module";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ask, connect, type Row } from "../../src/fleet/postgres/connect.ts";
import type { HeldLease } from "../../src/fleet/postgres/lease.ts";
import { leaseClock } from "../../src/fleet/postgres/lease.ts";
import { handed, orderSql, openOrders, reported } from "../../src/fleet/postgres/orders.ts";
import { registerWorker } from "../../src/fleet/postgres/workers.ts";
import { leaseTimes } from "../../src/fleet/lease-times.ts";
import type { Dispatch, HandedOrder, OnOrder, WorkerRegistration, Working, WorkOrder } from "../../src/ports/dispatch.ts";

type Job = { readonly id: string };
type Runner = { readonly stop: () => Promise<void>; readonly promise: Promise<void> };
type Graphile = {
  readonly run: (options: object) => Promise<Runner>;
  readonly runMigrations: (options: object) => Promise<void>;
  readonly Logger: new (sink: () => () => void) => object;
};

const lookEveryMs = 250;
const lockKey = 7_214_030_192;

/** A label that is needed, a limit of slots and the run are flags: a worker forbids those that it can't do with now. */
const addSql = `select graphile_worker.add_job(identifier => o.repository, payload => json_build_object('id', o.order_id),
    run_at => greatest(o.not_before, o.offered_at), max_attempts => 30000, job_key => o.order_id, priority => o.priority,
    flags => (select array_agg('needs ' || label) from unnest(o.needs) label) || array[o.repository || ' ' || o.slots, 'run ' || o.run_id])
  from autopilot.work_order o`;
const hasNoJob = `o.state = 'offered' and not exists (select 1 from graphile_worker.jobs j
  where j.key = o.order_id and (j.locked_at is not null or j.run_at <= greatest(o.not_before, o.offered_at)))`;
const unlockSql = `select graphile_worker.force_unlock_workers(array_agg(j.locked_by)) from graphile_worker.jobs j join autopilot.work_order o
  on o.order_id = j.key where j.locked_by is not null and (${orderSql.isGone})`;
const forbiddenSql = `select 'needs ' || label as flag from autopilot.work_order o, unnest(o.needs) label where o.state = 'offered' and label <> all($1::text[])
  union select o.repository || ' ' || o.slots from autopilot.work_order o where o.state = 'offered'
    and (select count(*) from autopilot.work_order t where t.state = 'taken' and t.repository = o.repository) >= o.slots
  union select 'run ' || o.run_id from autopilot.work_order o where o.state = 'taken'`;
const takeSql = `update autopilot.work_order o set state = 'taken', worker_id = $3::text, worker_epoch = $4::bigint, taken_at = clock_timestamp(),
    times_taken = times_taken + 1
  where o.order_id = $5 and ${orderSql.isFor}
    and (select count(*) from autopilot.work_order t where t.state = 'taken' and t.repository = o.repository) < o.slots
    and exists (select 1 from autopilot.worker w where w.worker_id = $3::text and w.epoch = $4::bigint and w.lease_until > clock_timestamp())
  returning order_id, run_id, repository, priority, needs, slots, times_taken, deaths`;

export async function openGraphileOrders(folder: string, url: string, leaseMs: number): Promise<Dispatch> {
  const graphile = createRequire(`${folder}/package.json`)("graphile-worker") as Graphile;
  const logger = new graphile.Logger(() => () => undefined);
  const database = connect(url, { answerMs: 2_000 });
  const plain = openOrders(database, { leaseMs });
  await graphile.runMigrations({ connectionString: url, logger });
  return {
    ...plain,
    offer: (order) =>
      database.inTransaction(async (ask) => {
        if ((await ask(orderSql.offer, offered(order))).count === 0) return false;
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
      const holder = { worker: registration.worker, host: hostname(), pid: process.pid };
      const lease = await registerWorker(database, {
        registration,
        holder,
        product: "test",
        times: leaseTimes(leaseMs),
        clock: leaseClock,
      });
      if ("takenBy" in lease) return plain.work(registration, on); // which refuses, in its words
      return working(
        {
          graphile,
          logger,
          url,
          ask: (...query) => database.ask(...query),
          inTransaction: (work) => database.inTransaction(work),
          database,
        },
        registration,
        lease,
        on,
      );
    },
  };
}

const offered = ({ id, run, repository, priority, needs, slots, notBefore }: WorkOrder): readonly unknown[] => [
  id,
  run,
  repository,
  priority,
  [...needs],
  slots,
  notBefore ?? null,
];

type Parts = {
  readonly graphile: Graphile;
  readonly logger: object;
  readonly url: string;
  readonly database: ReturnType<typeof connect>;
  readonly ask: Ask;
  readonly inTransaction: ReturnType<typeof connect>["inTransaction"];
};

async function working(parts: Parts, registration: WorkerRegistration, lease: HeldLease, on: OnOrder): Promise<Working> {
  const { graphile, logger, url, ask, inTransaction, database } = parts;
  const { worker, jobs, labels, repositories } = registration;
  const active = new Set<string>();
  const given = [[...repositories], [...labels], worker, lease.epoch];
  /** H1 */
  const taken = (id: string): Promise<Row | undefined> =>
    inTransaction(async (its) => {
      await its("select pg_advisory_xact_lock($1)", [lockKey]);
      return (await its(takeSql, [...given, id])).rows[0];
    });
  const carryOut = async ({ id }: Job): Promise<void> => {
    const row = lease.isConfirmed() ? await taken(id) : undefined;
    if (row === undefined) return;
    active.add(id);
    const order: HandedOrder = handed(row);
    try {
      await reported(database, registration, lease, order, await on(order, lease));
    } finally {
      active.delete(id);
    }
  };
  const task = (job: Job): Promise<void> => carryOut(job);
  const runner = await graphile.run({
    connectionString: url,
    concurrency: jobs,
    pollInterval: lookEveryMs,
    noHandleSignals: true,
    logger,
    taskList: Object.fromEntries(repositories.map((repository) => [repository, task])),
    forbiddenFlags: async () => (await ask(forbiddenSql, [[...labels]])).rows.map((row) => String(row["flag"])),
  });
  let stopped: Promise<unknown> | null = null;
  const stop = (): Promise<unknown> => (stopped ??= runner.stop().catch(() => undefined));
  const look = async (): Promise<string | null> => {
    const isThrough = (): boolean => lease.whyLost() !== null || (stopped !== null && active.size === 0);
    while (!isThrough()) {
      await inTransaction(async (its) => {
        await its("select pg_advisory_xact_lock($1)", [lockKey]);
        await its(unlockSql);
        await its(orderSql.giveBackGone);
        await its(orderSql.giveBackUnheard, [worker, lease.epoch, [...active]]);
        await its(`${addSql} where ${hasNoJob}`); // H2
      }).catch(() => undefined);
      await sleep(lookEveryMs);
    }
    void stop();
    await lease.release();
    return lease.whyLost();
  };
  const over = look();
  return {
    over,
    drain: async () => {
      void stop();
      await over;
    },
  };
}
