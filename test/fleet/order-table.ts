// order-table: what an engine behind the dispatch port asks of the store's own table of orders:
// whether there is one, and whether this worker may have it (decision 0134). A queue's job is a
// hint; only the table gives an order.

import { hostname } from "node:os";
import { computeLeaseTimes } from "../../src/fleet/lease-times.ts";
import type { Query, Database, DatabaseRow } from "../../src/fleet/postgres/connect.ts";
import { type HeldLease, leaseClock } from "../../src/fleet/postgres/lease.ts";
import { toHandedOrder, orderSql, reportEnd } from "../../src/fleet/postgres/orders.ts";
import { registerWorker } from "../../src/fleet/postgres/workers.ts";
import type { OnOrder, WorkerRegistration, WorkOrder } from "../../src/ports/dispatch.ts";

export const lookEveryMs = 250;

const lockKey = 7_214_030_192;
const takeSql = `update autopilot.work_order o set state = 'taken', worker_id = $3::text, worker_epoch = $4::bigint, taken_at = clock_timestamp(),
    times_taken = times_taken + 1
  where o.order_id = $5 and ${orderSql.forWorkerCondition}
    and (select count(*) from autopilot.work_order t where t.state = 'taken' and t.repository = o.repository) < o.slots
    and exists (select 1 from autopilot.worker w where w.worker_id = $3::text and w.epoch = $4::bigint and w.lease_until > clock_timestamp())
  returning order_id, run_id, repository, priority, needs, slots, times_taken, deaths`;

/** Values of `orderSql.offer`. */
export const offerValues = ({
  id,
  run,
  repository,
  priority,
  needs,
  slots,
  notBefore,
}: WorkOrder): readonly unknown[] => [
  id,
  run,
  repository,
  priority,
  [...needs],
  slots,
  notBefore ?? null,
];

export type OrderTable = {
  /** Orders that this worker has, or is about to take. */
  readonly active: ReadonlySet<string>;
  /** Takes the order if the table gives it, has it worked on, and reports its end. */
  readonly carryOut: (id: string) => Promise<void>;
  /**
   * Offers again what dead workers had, and what was taken for this worker while the answer got
   * lost.
   */
  readonly giveBack: (ask: Query) => Promise<void>;
  /** A transaction in which no other worker takes or gives back. */
  readonly oneAtATime: <Value>(work: (ask: Query) => Promise<Value>) => Promise<Value>;
};

export function openOrderTable(
  database: Database,
  registration: WorkerRegistration,
  lease: HeldLease,
  on: OnOrder,
): OrderTable {
  const { worker, labels, repositories } = registration;
  const active = new Set<string>();

  const oneAtATime = <Value>(work: (ask: Query) => Promise<Value>): Promise<Value> =>
    database.inTransaction(async (ask) => {
      await ask("select pg_advisory_xact_lock($1)", [lockKey]);
      return work(ask);
    });
  const take = (id: string): Promise<DatabaseRow | undefined> =>
    oneAtATime(
      async (ask) =>
        (await ask(takeSql, [[...repositories], [...labels], worker, lease.epoch, id])).rows[0],
    );

  return {
    active,
    carryOut: async (id) => {
      if (!lease.isConfirmed() || active.has(id)) return;
      active.add(id); // before it is taken: a look in between would give it back as one that this worker never heard of

      try {
        const row = await take(id);
        if (row === undefined) return;
        const order = toHandedOrder(row);
        await reportEnd({ database, registration, lease, order, end: await on(order, lease) });
      } finally {
        active.delete(id);
      }
    },
    giveBack: async (ask) => {
      await ask(orderSql.giveBackGone);
      await ask(orderSql.giveBackUnheard, [worker, lease.epoch, [...active]]);
    },
    oneAtATime,
  };
}

/** The worker's own lease in the table of workers; null if another of its name is alive. */
export async function registerHere(
  database: Database,
  registration: WorkerRegistration,
  leaseMs: number,
): Promise<HeldLease | null> {
  const holder = { worker: registration.worker, host: hostname(), pid: process.pid };
  const lease = await registerWorker(database, {
    registration,
    holder,
    product: "test",
    times: computeLeaseTimes(leaseMs),
    clock: leaseClock,
  });
  return "takenBy" in lease ? null : lease;
}
