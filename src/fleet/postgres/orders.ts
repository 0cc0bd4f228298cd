// orders: the dispatch in plain SQL: orders are rows, and taking one is a short transaction.
//
// Invariants:
//   P1. One takes at a time, whichever machine: a lock of the transaction is before the count, so two can never both see the last slot free.
//   P2. Only a worker whose lease holds takes, ends or gives back; a stale one finds that the row is not its own any more.
//   P3. Looking is enough: each worker looks four times a second. Nothing depends on a notification, so a pooler breaks nothing.
//   P4. A worker that has an order knows it: what was taken in its name while the answer got lost goes back when it looks again.
//   P5. A word that came after the run had read its last is not left lying: its order is handed out again instead of ended.
//   P6. An order that a worker could not do anything with is left alone by that worker for longer each time, unless somebody has said
//       something to its run since; another worker takes it at once.
// Invariants D1 and on: ports/dispatch.ts.

import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dispatch, HandedOrder, OnOrder, OrderEnd, WorkOrder, WorkerRegistration, WorkerHandle } from "../../ports/dispatch.ts";
import type { Holder } from "../../ports/run-store.ts";
import { refuse } from "../../project/respond.ts";
import { product } from "../../project/runs/product.ts";
import { leaseMsDefault, leaseTimes } from "../lease-times.ts";
import { nextStep } from "../worker/decide.ts";
import { OrderPauses } from "../worker/pauses.ts";
import type { Ask, Database, Row } from "./connect.ts";
import { storeFailure } from "./store-failure.ts";
import { type HeldLease, leaseClock, type LeaseClock } from "./lease.ts";
import { registerWorker, reportDraining } from "./workers.ts";

const lookEveryMs = 250;
const outcomeCharactersMax = 1_000;
const lockKey = 7_214_030_192;

const offerSql = `insert into autopilot.work_order (order_id, run_id, repository, priority, needs, slots, not_before)
  values ($1, $2, $3, $4, $5, $6, coalesce($7::timestamptz, timestamptz 'epoch')) on conflict do nothing`;

const isGone = `o.state = 'taken' and not exists (select 1 from autopilot.worker w
  where w.worker_id = o.worker_id and w.epoch = o.worker_epoch and w.lease_until > clock_timestamp())`;
/** A living worker's order is not withdrawn: it could not be notified. */
const withdrawSql = `update autopilot.work_order o set state = 'withdrawn', ended_at = now()
  where o.order_id = $1 and (o.state = 'offered' or (${isGone}))`;
const isFor = `o.state = 'offered' and o.not_before <= clock_timestamp() and o.repository = any($1::text[]) and o.needs <@ $2::text[]
  and not exists (select 1 from autopilot.work_order b where b.state = 'taken' and b.run_id = o.run_id)`;
/** P4: taken in this worker's name, but it never heard so. */
const isUnheard = (worker: string, epoch: string, active: string): string =>
  `o.state = 'taken' and o.worker_id = ${worker}::text and o.worker_epoch = ${epoch}::bigint and o.order_id <> all(${active}::text[])`;
/** P6. */
const isNotPaused = (paused: string): string => `(o.order_id <> all(${paused}::text[]) or exists (select 1 from autopilot.request r
  where r.run_id = o.run_id and not r.forgotten and r.at >= o.taken_at))`;
const lookSql = `select exists (select 1 from autopilot.work_order o where ${isFor} and ${isNotPaused("$6")})
  or exists (select 1 from autopilot.work_order o where (${isGone}) or (${isUnheard("$3", "$4", "$5")})) as found`;
const freed = "state = 'offered', worker_id = null, worker_epoch = null";
/** A worker that lived with it for longer than this died of something else: the count begins anew. */
const deathMinutesMax = 10;
const heldUntil = `coalesce((select w.lease_until from autopilot.worker w where w.worker_id = o.worker_id and w.epoch = o.worker_epoch), clock_timestamp())`;
const returnSql = `update autopilot.work_order o set ${freed},
  deaths = case when ${heldUntil} - o.taken_at > interval '${deathMinutesMax} minutes' then 1 else o.deaths + 1 end where ${isGone}`;
const returnUnheardSql = `update autopilot.work_order o set ${freed}, times_taken = times_taken - 1 where ${isUnheard("$1", "$2", "$3")}`;
const takeSql = `update autopilot.work_order set state = 'taken', worker_id = $3::text, worker_epoch = $4::bigint, taken_at = clock_timestamp(),
    times_taken = times_taken + 1
  where order_id = (
    select o.order_id from autopilot.work_order o where ${isFor} and ${isNotPaused("$5")}
      and (select count(*) from autopilot.work_order t where t.state = 'taken' and t.repository = o.repository) < o.slots
    order by o.priority, o.number limit 1)
  and exists (select 1 from autopilot.worker w where w.worker_id = $3::text and w.epoch = $4::bigint and w.lease_until > clock_timestamp())
  returning order_id, run_id, repository, priority, needs, slots, times_taken, deaths`;
const mine = "where order_id = $1 and state = 'taken' and worker_id = $2 and worker_epoch = $3";
const endSql = `update autopilot.work_order set state = 'ended', ended_at = now(), outcome = $4 ${mine}`;
/** P5. A pause asks for no more than the rest that the run has come to. Older than the taking, it was read or isn't a request. */
const isWordLeft = `exists (select 1 from autopilot.request r where r.run_id = work_order.run_id and not r.forgotten
  and r.at >= work_order.taken_at and r.body->>'control' is distinct from 'pause')`;
const goOnSql = `update autopilot.work_order set ${freed}, times_taken = 0, deaths = 0, not_before = clock_timestamp(), outcome = $4 ${mine} and ${isWordLeft}`;
const lockSql = "select 1 from autopilot.work_order where order_id = $1 for update";
const againSql = `update autopilot.work_order set ${freed}, times_taken = times_taken - $6::int, deaths = 0,
  outcome = $4, not_before = clock_timestamp() + $5::int * interval '1 ms' ${mine}`;

/** For another engine that keeps its orders in the same table. */
export const orderSql = {
  offer: offerSql,
  withdraw: withdrawSql,
  isFor,
  isGone,
  giveBackGone: returnSql,
  giveBackUnheard: returnUnheardSql,
};

export type OrdersOptions = { readonly leaseMs?: number; readonly clock?: LeaseClock };

export function openOrders(database: Database, { leaseMs = leaseMsDefault, clock = leaseClock }: OrdersOptions = {}): Dispatch {
  const asked = async (text: string, values: readonly unknown[]): Promise<number> => {
    try {
      return (await database.ask(text, values)).count;
    } catch (error) {
      throw storeFailure(error, database.name);
    }
  };
  return {
    offer: async ({ id, run, repository, priority, needs, slots, notBefore }) =>
      (await asked(offerSql, [id, run, repository, priority, [...needs], slots, notBefore ?? null])) === 1,
    withdraw: async (id) => (await asked(withdrawSql, [id])) === 1,
    work: async (registration, on) => {
      const times = leaseTimes(leaseMs);
      const holder: Holder = { worker: registration.worker, host: hostname(), pid: process.pid };
      const lease = await registerWorker(database, { registration, holder, product, times, clock });
      if ("takenBy" in lease) return refuseSecond(registration, lease.takenBy);
      return startWorking(database, registration, lease, on);
    },
    close: () => database.close(),
  };
}

const refuseSecond = ({ worker }: WorkerRegistration, holder: Holder | null): never =>
  refuse("worker_name_taken", {
    message: `A worker called ${worker} is alive${holder === null ? "" : ` on ${holder.host}, process ${holder.pid}`}.`,
    data: { worker, holder },
  });

function startWorking(database: Database, registration: WorkerRegistration, lease: HeldLease, on: OnOrder): WorkerHandle {
  const active = new Map<string, Promise<void>>();
  const pauses = new OrderPauses();
  let isDraining = false;
  let wake = new AbortController();
  const ring = (): void => wake.abort();
  lease.lost.addEventListener("abort", ring);
  const carryOut = async (order: HandedOrder): Promise<void> => {
    const end = await on(order, lease).catch((error: unknown): OrderEnd => ({
      kind: "again",
      afterMs: lookEveryMs * 4,
      because: messageOf(error),
    }));
    pauses.note(order.id, end, performance.now()); // P6, before it is offered again
    await reportEnd({ database, registration, lease, order, end });
  };
  const run = async (): Promise<string | null> => {
    for (;;) {
      wake = new AbortController();
      const step = nextStep({
        isSure: lease.isConfirmed(),
        lost: lease.whyLost(),
        isDraining,
        active: active.size,
        jobs: registration.jobs,
      });
      if (step.do === "leave") {
        await lease.release();
        return step.why;
      }
      const known = { active: [...active.keys()], paused: pauses.at(performance.now()) };
      const order = step.do === "take" ? await takeOrder(database, registration, lease.epoch, known).catch(() => null) : null; // the lease's watch reports a store that is gone
      if (order === null) {
        await sleep(lookEveryMs, undefined, { signal: wake.signal }).catch(() => undefined);
        continue;
      }
      const working = carryOut(order).finally(() => {
        active.delete(order.id);
        ring();
      });
      active.set(order.id, working);
    }
  };
  const over = run();
  return {
    over,
    drain: async () => {
      isDraining = true;
      ring();
      await reportDraining(database, registration.worker, lease.epoch).catch(() => undefined);
      await over;
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The next order for this worker; null if there is none. P1 */
async function takeOrder(
  database: Database,
  { worker, labels, repositories }: WorkerRegistration,
  epoch: number,
  { active, paused }: { readonly active: readonly string[]; readonly paused: readonly string[] },
): Promise<HandedOrder | null> {
  const parameters = [[...repositories], [...labels], worker, epoch];
  if ((await database.ask(lookSql, [...parameters, [...active], [...paused]])).rows[0]?.["found"] !== true) return null;
  return database.inTransaction(async (ask: Ask) => {
    await ask("select pg_advisory_xact_lock($1)", [lockKey]);
    await ask(returnSql); // D5
    await ask(returnUnheardSql, [worker, epoch, [...active]]); // P4
    const { rows } = await ask(takeSql, [...parameters, [...paused]]);
    return rows[0] === undefined ? null : handed(rows[0]);
  });
}

export const handed = (row: Row): HandedOrder => ({ ...orderOf(row), times: Number(row["times_taken"]), deaths: Number(row["deaths"]) });
export const orderOf = (row: Row): WorkOrder => ({
  id: String(row["order_id"]),
  run: String(row["run_id"]),
  repository: String(row["repository"]),
  priority: Number(row["priority"]),
  needs: row["needs"] as readonly string[],
  slots: Number(row["slots"]),
});

export type StoredOrder = WorkOrder & {
  readonly state: "offered" | "taken" | "ended" | "withdrawn";
  /** Who has it, or had it last. */
  readonly worker: string | null;
  readonly timesTaken: number;
  /** Of how many workers in a row nothing was heard soon after they had got it. */
  readonly deaths: number;
  /** Since it was offered, or taken. */
  readonly waitsMs: number;
  readonly outcome: string | null;
};

const columns = `order_id, run_id, repository, priority, needs, slots, state, worker_id, times_taken, deaths, outcome,
  (extract(epoch from clock_timestamp() - case when state = 'taken' then taken_at else offered_at end) * 1000)::bigint::text as waits_ms`;

/** Orders, newest first: of one run, or of all that are not over. */
export function ordersIn(database: Database, run: string | null = null): Promise<readonly StoredOrder[]> {
  const which = run === null ? "state in ('offered', 'taken')" : "run_id = $1";
  return storedOrders(
    database,
    `select ${columns} from autopilot.work_order where ${which} order by number desc limit 1000`,
    run === null ? [] : [run],
  );
}

/** The newest order of each of these runs that has one. */
export const newestOrders = (database: Database, runs: readonly string[]): Promise<readonly StoredOrder[]> =>
  storedOrders(
    database,
    `select distinct on (run_id) ${columns} from autopilot.work_order where run_id = any($1::text[]) order by run_id, number desc`,
    [[...runs]],
  );

/**
 * Called when a request was left for a run: a delayed order of it becomes due now. False if none is open; if one is, its worker reads the
 * request before it ends (P5).
 */
export async function hastenOrders({ ask, name }: Database, run: string): Promise<boolean> {
  try {
    const { count } = await ask(
      "update autopilot.work_order set not_before = least(not_before, now()) where run_id = $1 and state in ('offered', 'taken')",
      [run],
    );
    return count > 0;
  } catch (error) {
    throw storeFailure(error, name);
  }
}

async function storedOrders({ ask, name }: Database, text: string, values: readonly unknown[]): Promise<readonly StoredOrder[]> {
  try {
    const { rows } = await ask(text, values);
    return rows.map((row) => ({
      ...orderOf(row),
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

type EndReport = {
  readonly database: Database;
  readonly registration: WorkerRegistration;
  readonly lease: HeldLease;
  readonly order: WorkOrder;
  readonly end: OrderEnd;
};

/** Reports an order's end until it is confirmed, or can no longer count (P2). */
export async function reportEnd({ database, registration: { worker }, lease, order: { id }, end }: EndReport): Promise<void> {
  const message = (end.kind === "ended" ? end.outcome : end.because).slice(0, outcomeCharactersMax);
  while (lease.whyLost() === null) {
    try {
      const parameters = [id, worker, lease.epoch, message];
      if (end.kind === "again") await database.ask(againSql, [...parameters, end.afterMs, end.isUntried === true ? 1 : 0]);
      else
        await database.inTransaction(async (ask: Ask) => {
          await ask(lockSql, [id]); // P5: a requester reads this row afterwards, and waits
          if (end.isOver === true || (await ask(goOnSql, parameters)).count === 0) await ask(endSql, parameters);
        });
      return;
    } catch {
      await sleep(lookEveryMs); // said again, it changes nothing
    }
  }
}
