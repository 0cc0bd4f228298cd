// dbos-orders: the dispatch with DBOS Transact in it, as a third engine behind the port. Its queue
// wakes a worker, counts its jobs and says which order to ask for next; the store's own table says
// which orders there are, who has one, and whether it may be had (decision 0145).
//
// Invariants:
//   B1. Nothing is begun that the table has not given: a job is a hint, as an order is.
//   B2. Each life of a worker has a queue of its own: a queue has one concurrency for all who
//       listen, knows no labels, and leaves a dead worker's jobs with it for ever.
//   B3. Every order that a worker may have now has a job in its queue: offering adds one for each
//       living worker, and each looks for those that have none, since a job is spent when the table
//       refuses.

import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { connect, type Database, type DatabaseRow } from "../../src/fleet/postgres/connect.ts";
import type { HeldLease } from "../../src/fleet/postgres/lease.ts";
import { openOrders, orderSql } from "../../src/fleet/postgres/orders.ts";
import type {
  Dispatch,
  OnOrder,
  WorkerRegistration,
  WorkerHandle,
} from "../../src/ports/dispatch.ts";
import { lookEveryMs, offerValues, openOrderTable, registerHere } from "./order-table.ts";

type Hint = {
  readonly queueName: string;
  readonly workflowName: string;
  readonly appVersion: string;
  readonly priority: number;
  readonly deduplicationID: string;
  readonly duplicationPolicy: "return-existing";
};
type Client = {
  readonly enqueue: (hint: Hint, id: string) => Promise<unknown>;
  readonly deleteQueue: (name: string) => Promise<void>;
  readonly destroy: () => Promise<void>;
};
type Sdk = {
  readonly DBOSClient: { readonly create: (options: object) => Promise<Client> };
  readonly DBOS: {
    readonly setConfig: (config: object) => void;
    readonly registerWorkflow: (work: (id: string) => Promise<void>, config: object) => unknown;
    readonly runStep: (work: () => Promise<void>, config: object) => Promise<void>;
    readonly registerQueue: (name: string, options: object) => Promise<unknown>;
    readonly launch: () => Promise<void>;
    readonly shutdown: () => Promise<void>;
  };
};

const workflowName = "carry out an order";
const appVersion = "1";
/** The pool decides where to connect; a URL must be given too, and must name a host. */
const unusedUrl = "postgresql://nobody@localhost/nothing";
const silent = { info: ignore, debug: ignore, warn: ignore, error: ignore };

const livingSql = `select w.worker_id, w.epoch, o.order_id, o.priority, o.number from autopilot.worker w, autopilot.work_order o
  where w.lease_until > clock_timestamp() and not w.is_draining and o.order_id = $1 and o.needs <@ w.labels`;
const waitingSql = `select o.order_id, o.priority, o.number from autopilot.work_order o where ${orderSql.forWorkerCondition} order by o.priority, o.number limit 100`;

export async function openDbosOrders(
  folder: string,
  url: string,
  leaseMs: number,
): Promise<Dispatch> {
  const sdk = createRequire(`${folder}/package.json`)("@dbos-inc/dbos-sdk") as Sdk;
  const database = connect(url, { answerMs: 2_000 });
  const plain = openOrders(database, { leaseMs });
  const pool = openPool(url);
  const options = { systemDatabaseUrl: unusedUrl, systemDatabasePool: pool, logger: silent };
  const { rows } = await database.query(
    "select to_regclass('dbos.workflow_status') is not null as is_there",
  );
  if (rows[0]?.["is_there"] !== true) await makeTables(sdk, url);
  let client: Promise<Client> | null = null;
  const clientHere = (): Promise<Client> => (client ??= sdk.DBOSClient.create(options));

  return {
    ...plain,
    offer: async (order) => {
      if ((await database.query(orderSql.offer, offerValues(order))).count === 0) return false;
      // B3. What fails here is found when the worker looks.
      for (const row of (await database.query(livingSql, [order.id])).rows) {
        await clientHere()
          .then((its) =>
            its.enqueue(hintOf(queueOf(row["worker_id"], row["epoch"]), row), order.id),
          )
          .catch(ignore);
      }

      return true;
    },
    work: async (registration, on) => {
      const lease = await registerHere(database, registration, leaseMs);
      if (lease === null) return plain.work(registration, on); // which refuses, in its words
      return working({ sdk, database, options, clientHere }, registration, lease, on);
    },
    close: async () => {
      await client?.then((its) => its.destroy()).catch(ignore);
      await pool.end().catch(ignore);
      await plain.close();
    },
  };
}

function openPool(url: string): Pool {
  const pool = new Pool({
    connectionString: url,
    max: 8,
    query_timeout: 20_000,
    connectionTimeoutMillis: 5_000,
    allowExitOnIdle: true,
  });
  pool.on("error", ignore);
  return pool;
}

/**
 * Launching migrates, for longer than a worker's lease lasts. Two at once would wait for each
 * other.
 */
async function makeTables({ DBOS }: Sdk, url: string): Promise<void> {
  DBOS.setConfig({
    name: "orders",
    systemDatabaseUrl: unusedUrl,
    systemDatabasePool: openPool(url),
    logger: silent,
  });

  await DBOS.launch();
  await DBOS.shutdown(); // and the pool with it
}

/** B2 */
const queueOf = (worker: unknown, epoch: unknown): string => `${String(worker)} ${String(epoch)}`;

/** A job that was spent and added again keeps its order's age. */
const hintOf = (queueName: string, row: DatabaseRow): Hint => ({
  queueName,
  workflowName,
  appVersion,
  priority: Number(row["priority"]) * 400_000_000 + Number(row["number"]),
  deduplicationID: String(row["order_id"]),
  duplicationPolicy: "return-existing",
});

type Parts = {
  readonly sdk: Sdk;
  readonly database: Database;
  readonly options: object;
  readonly clientHere: () => Promise<Client>;
};

async function working(
  parts: Parts,
  registration: WorkerRegistration,
  lease: HeldLease,
  on: OnOrder,
): Promise<WorkerHandle> {
  const { sdk, database, options, clientHere } = parts;
  const { DBOS } = sdk;
  const { worker, jobs, labels, repositories } = registration;
  const queue = queueOf(worker, lease.epoch);
  const table = openOrderTable(database, registration, lease, on);
  let isDraining = false;
  DBOS.setConfig({
    ...options,
    name: "orders",
    applicationVersion: appVersion,
    executorID: queue,
    listenQueues: [queue],
  });

  DBOS.registerWorkflow(
    async (id) => {
      if (!isDraining) await DBOS.runStep(() => table.carryOut(id), { name: "carry out" }); // B1
    },
    { name: workflowName },
  );

  await DBOS.launch();
  await DBOS.registerQueue(queue, {
    workerConcurrency: jobs,
    minPollingIntervalMs: 100,
    onConflict: "always_update",
  });

  const client = await clientHere();
  const addMissing = async (): Promise<void> => {
    await table.oneAtATime((ask) => table.giveBack(ask));
    if (isDraining) return;
    const { rows } = await database.query(waitingSql, [[...repositories], [...labels]]);
    for (const row of rows) await client.enqueue(hintOf(queue, row), String(row["order_id"])); // B3
  };

  const lookUntilOver = async (): Promise<string | null> => {
    const isThrough = (): boolean =>
      lease.whyLost() !== null || (isDraining && table.active.size === 0);
    while (!isThrough()) {
      await addMissing().catch(ignore);
      await sleep(lookEveryMs);
    }

    const why = lease.whyLost();
    await lease.release();
    await client.deleteQueue(queue).catch(ignore);

    return why;
  };
  const over = lookUntilOver();
  return {
    over,
    drain: async () => {
      isDraining = true;
      await over;
    },
  };
}

function ignore(): void {
  // Nothing to do.
}
