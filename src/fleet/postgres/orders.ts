// orders: dispatches work to workers in plain SQL: an order is a row, and taking one is a short
// transaction.
//
// Invariants:
//   P1. One worker takes an order at a time, on whichever machine: the transaction is locked before
//       slots are counted, so two workers can never both see the last slot free.
//   P2. Only a worker whose lease holds takes, ends or gives back an order; for a stale one the row
//       is no longer its own.
//   P3. Workers poll four times a second. Nothing depends on a notification, so a pooler breaks
//       nothing.
//   P4. An order that was taken for a worker while the answer got lost goes back when that worker
//       polls again.
//   P5. A request that came after the run had last read its requests isn't forgotten: the order is
//       offered again instead of ended.
//   P6. A worker that could do nothing with an order leaves it alone for longer each time, unless
//       its run has got a request since; another worker takes it at once.
// Invariants D1 and on: ports/dispatch.ts.

import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type {
  Dispatch,
  HandedOrder,
  OnOrder,
  OrderEnd,
  WorkOrder,
  WorkerRegistration,
  WorkerHandle,
} from "../../ports/dispatch.ts";
import type { Holder } from "../../ports/run-store.ts";
import { refuse } from "../../project/respond.ts";
import { product } from "../../project/runs/product.ts";
import { leaseMsDefault, computeLeaseTimes } from "../lease-times.ts";
import { decideNextStep } from "../worker/decide.ts";
import { OrderPauses } from "../worker/pauses.ts";
import type { Query, Database, DatabaseRow } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";
import { type HeldLease, leaseClock, type LeaseClock } from "./lease.ts";
import { registerWorker, reportDraining } from "./workers.ts";

const pollMs = 250;
const outcomeCharsMax = 1_000;
/** The advisory lock of taking orders: any number that nothing else in the database uses. */
const lockKey = 7_214_030_192;

const offerSql = `insert into autopilot.work_order (order_id, run_id, repository, priority, needs, slots, not_before)
  values ($1, $2, $3, $4, $5, $6, coalesce($7::timestamptz, timestamptz 'epoch')) on conflict do nothing`;

// Fragments of SQL, on an order `o`; statements end in `Sql`.

/** Whether the order's worker is gone. */
const goneCondition = `o.state = 'taken' and not exists (select 1 from autopilot.worker w
  where w.worker_id = o.worker_id and w.epoch = o.worker_epoch and w.lease_until > clock_timestamp())`;
/** A living worker's order is not withdrawn: there is no way to tell the worker. */
const withdrawSql = `update autopilot.work_order o set state = 'withdrawn', ended_at = now()
  where o.order_id = $1 and (o.state = 'offered' or (${goneCondition}))`;
/** Whether a worker of these repositories ($1) with these labels ($2) may take the order. */
const forWorkerCondition = `o.state = 'offered' and o.not_before <= clock_timestamp() and o.repository = any($1::text[]) and o.needs <@ $2::text[]
  and not exists (select 1 from autopilot.work_order b where b.state = 'taken' and b.run_id = o.run_id)`;
/** Whether the order was taken for this worker, which never got the answer (P4). */
const createUnnoticedCondition = (worker: string, epoch: string, active: string): string =>
  `o.state = 'taken' and o.worker_id = ${worker}::text and o.worker_epoch = ${epoch}::bigint and o.order_id <> all(${active}::text[])`;
/** Whether the worker doesn't leave the order alone, or its run has got a request since (P6). */
const createNotPausedCondition = (
  paused: string,
): string => `(o.order_id <> all(${paused}::text[]) or exists (select 1 from autopilot.request r
  where r.run_id = o.run_id and not r.forgotten and r.at >= o.taken_at))`;
const hasWorkSql = `select exists (select 1 from autopilot.work_order o where ${forWorkerCondition} and ${createNotPausedCondition("$6")})
  or exists (select 1 from autopilot.work_order o where (${goneCondition}) or (${createUnnoticedCondition("$3", "$4", "$5")})) as found`;
const offeredAgainFields = "state = 'offered', worker_id = null, worker_epoch = null";
/**
 * A worker that worked on an order for longer than this did not die of it: the count of deaths
 * begins anew.
 */
const deathMinutesMax = 10;
const heldUntilColumn = `coalesce((select w.lease_until from autopilot.worker w where w.worker_id = o.worker_id and w.epoch = o.worker_epoch), clock_timestamp())`;
const returnSql = `update autopilot.work_order o set ${offeredAgainFields},
  deaths = case when ${heldUntilColumn} - o.taken_at > interval '${deathMinutesMax} minutes' then 1 else o.deaths + 1 end where ${goneCondition}`;
const returnUnnoticedSql = `update autopilot.work_order o set ${offeredAgainFields}, times_taken = times_taken - 1 where ${createUnnoticedCondition("$1", "$2", "$3")}`;
const takeSql = `update autopilot.work_order set state = 'taken', worker_id = $3::text, worker_epoch = $4::bigint, taken_at = clock_timestamp(),
    times_taken = times_taken + 1
  where order_id = (
    select o.order_id from autopilot.work_order o where ${forWorkerCondition} and ${createNotPausedCondition("$5")}
      and (select count(*) from autopilot.work_order t where t.state = 'taken' and t.repository = o.repository) < o.slots
    order by o.priority, o.number limit 1)
  and exists (select 1 from autopilot.worker w where w.worker_id = $3::text and w.epoch = $4::bigint and w.lease_until > clock_timestamp())
  returning order_id, run_id, repository, priority, needs, slots, times_taken, deaths`;
const ownOrder = "where order_id = $1 and state = 'taken' and worker_id = $2 and worker_epoch = $3";
const endSql = `update autopilot.work_order set state = 'ended', ended_at = now(), outcome = $4 ${ownOrder}`;
/**
 * Whether the run has an unread request (P5). A pause doesn't count, since the run rests already;
 * older requests have been read.
 */
const unreadRequestCondition = `exists (select 1 from autopilot.request r where r.run_id = work_order.run_id and not r.forgotten
  and r.at >= work_order.taken_at and r.body->>'control' is distinct from 'pause')`;
const offerAgainSql = `update autopilot.work_order set ${offeredAgainFields}, times_taken = 0, deaths = 0, not_before = clock_timestamp(), outcome = $4 ${ownOrder} and ${unreadRequestCondition}`;
const lockSql = "select 1 from autopilot.work_order where order_id = $1 for update";
const giveBackSql = `update autopilot.work_order set ${offeredAgainFields}, times_taken = times_taken - $6::int, deaths = 0,
  outcome = $4, not_before = clock_timestamp() + $5::int * interval '1 ms' ${ownOrder}`;

/**
 * For other dispatch engines that keep their orders in the same table, which tests compare with
 * this one.
 */
export const orderSql = {
  offer: offerSql,
  withdraw: withdrawSql,
  forWorkerCondition,
  goneCondition,
  giveBackGone: returnSql,
  giveBackUnheard: returnUnnoticedSql,
};

export type OrdersOptions = { readonly leaseMs?: number; readonly clock?: LeaseClock };

export function openOrders(
  database: Database,
  { leaseMs = leaseMsDefault, clock = leaseClock }: OrdersOptions = {},
): Dispatch {
  return {
    offer: (order) => offerOrder(database, order),
    withdraw: async (id) => (await execute(database, withdrawSql, [id])) === 1,
    work: async (registration, on) => {
      const times = computeLeaseTimes(leaseMs);
      const holder: Holder = { worker: registration.worker, host: hostname(), pid: process.pid };
      const lease = await registerWorker(database, { registration, holder, product, times, clock });
      if ("takenBy" in lease) return refuseSecond(registration, lease.takenBy);

      return startWorking(database, registration, lease, on);
    },
    close: () => database.close(),
  };
}

async function offerOrder(
  database: Database,
  { id, run, repository, priority, needs, slots, notBefore }: Parameters<Dispatch["offer"]>[0],
): Promise<boolean> {
  const values = [id, run, repository, priority, [...needs], slots, notBefore ?? null];
  return (await execute(database, offerSql, values)) === 1;
}

async function execute(
  database: Database,
  text: string,
  values: readonly unknown[],
): Promise<number> {
  try {
    const { count } = await database.query(text, values);
    return count;
  } catch (error) {
    throw storeFailure(error, database.name);
  }
}

function refuseSecond({ worker }: WorkerRegistration, holder: Holder | null): never {
  const place = holder === null ? "" : ` on ${holder.host}, process ${holder.pid}`;
  return refuse("worker_name_taken", {
    message: `A worker called ${worker} is alive${place}.`,
    data: { worker, holder },
  });
}

function startWorking(
  database: Database,
  registration: WorkerRegistration,
  lease: HeldLease,
  on: OnOrder,
): WorkerHandle {
  const poller = new OrderPoller(database, registration, lease, on);
  const over = poller.poll();

  return {
    over,
    drain: async () => {
      poller.beginDraining();
      await reportDraining(database, registration.worker, lease.epoch).catch(() => undefined);
      await over;
    },
  };
}

/** Takes orders while the worker has room for them, and works on them. */
class OrderPoller {
  readonly #database: Database;
  readonly #registration: WorkerRegistration;
  readonly #lease: HeldLease;
  readonly #on: OnOrder;
  readonly #active = new Set<string>();
  readonly #pauses = new OrderPauses();
  #isDraining = false;
  #wake = new AbortController();

  constructor(database: Database, registration: WorkerRegistration, lease: HeldLease, on: OnOrder) {
    this.#database = database;
    this.#registration = registration;
    this.#lease = lease;
    this.#on = on;
    lease.lost.addEventListener("abort", () => this.#wake.abort());
  }

  beginDraining(): void {
    this.#isDraining = true;
    this.#wake.abort();
  }

  /** Resolves with why the worker leaves; null if it was to. */
  async poll(): Promise<string | null> {
    for (;;) {
      this.#wake = new AbortController();
      const step = this.#decideNext();
      if (step.do === "leave") {
        await this.#lease.release();
        return step.why;
      }

      const order = step.do === "take" ? await this.#takeOrder() : null;
      if (order === null) {
        await sleep(pollMs, undefined, { signal: this.#wake.signal }).catch(() => undefined);
      } else {
        this.#active.add(order.id);
        void this.#workOn(order);
      }
    }
  }

  #decideNext(): ReturnType<typeof decideNextStep> {
    return decideNextStep({
      isSure: this.#lease.isConfirmed(),
      lostBecause: this.#lease.whyLost(),
      isDraining: this.#isDraining,
      activeJobs: this.#active.size,
      jobsMax: this.#registration.jobs,
    });
  }

  /** Null if there is none, or the store is gone, which the lease's watch reports. */
  #takeOrder(): Promise<HandedOrder | null> {
    const known = {
      active: [...this.#active],
      paused: this.#pauses.listPaused(performance.now()),
    };
    return takeOrder(this.#database, this.#registration, this.#lease.epoch, known).catch(
      () => null,
    );
  }

  async #workOn(order: HandedOrder): Promise<void> {
    const database = this.#database;
    const registration = this.#registration;
    const lease = this.#lease;

    try {
      const end = await this.#on(order, lease).catch(toFailedEnd);
      this.#pauses.note(order.id, end, performance.now()); // P6, before it is offered again
      await reportEnd({ database, registration, lease, order, end });
    } finally {
      this.#active.delete(order.id);
      this.#wake.abort();
    }
  }
}

const toFailedEnd = (error: unknown): OrderEnd => ({
  kind: "again",
  afterMs: pollMs * 4,
  because: error instanceof Error ? error.message : String(error),
});

/**
 * Takes the next order for this worker (P1); null if there is none. Gives back orders of dead
 * workers first.
 */
async function takeOrder(
  database: Database,
  { worker, labels, repositories }: WorkerRegistration,
  epoch: number,
  { active, paused }: { readonly active: readonly string[]; readonly paused: readonly string[] },
): Promise<HandedOrder | null> {
  const parameters = [[...repositories], [...labels], worker, epoch];
  const work = await database.query(hasWorkSql, [...parameters, [...active], [...paused]]);
  if (work.rows[0]?.["found"] !== true) return null;

  return database.inTransaction(async (query: Query) => {
    await query("select pg_advisory_xact_lock($1)", [lockKey]);
    await query(returnSql);
    await query(returnUnnoticedSql, [worker, epoch, [...active]]); // P4

    const { rows } = await query(takeSql, [...parameters, [...paused]]);
    return rows[0] === undefined ? null : toHandedOrder(rows[0]);
  });
}

export const toHandedOrder = (row: DatabaseRow): HandedOrder => ({
  ...toWorkOrder(row),
  times: Number(row["times_taken"]),
  deaths: Number(row["deaths"]),
});
export const toWorkOrder = (row: DatabaseRow): WorkOrder => ({
  id: String(row["order_id"]),
  run: String(row["run_id"]),
  repository: String(row["repository"]),
  priority: Number(row["priority"]),
  needs: row["needs"] as readonly string[],
  slots: Number(row["slots"]),
});

type EndReport = {
  readonly database: Database;
  readonly registration: WorkerRegistration;
  readonly lease: HeldLease;
  readonly order: WorkOrder;
  readonly end: OrderEnd;
};

/** Reports an order's end until it is confirmed, or can no longer count (P2). */
export async function reportEnd(report: EndReport): Promise<void> {
  while (report.lease.whyLost() === null) {
    try {
      await writeEnd(report);
      return;
    } catch {
      await sleep(pollMs); // reporting it again changes nothing
    }
  }
}

async function writeEnd({ database, registration, lease, order, end }: EndReport): Promise<void> {
  const message = (end.kind === "ended" ? end.outcome : end.because).slice(0, outcomeCharsMax);
  const parameters = [order.id, registration.worker, lease.epoch, message];
  if (end.kind === "again") {
    const untriedTimes = end.isUntried === true ? 1 : 0;
    await database.query(giveBackSql, [...parameters, end.afterMs, untriedTimes]);
    return;
  }

  await database.inTransaction(async (query: Query) => {
    await query(lockSql, [order.id]); // P5: a requester reads this row afterwards, and waits
    const offered = end.isOver === true ? null : await query(offerAgainSql, parameters);
    if (offered === null || offered.count === 0) await query(endSql, parameters);
  });
}
