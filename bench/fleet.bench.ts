// What a shared store costs: the fence beside a bare insert, handing out an order, taking up a dead
// worker's, the status of a thousand runs, a worker that waits. Without a PostgreSQL server nothing
// is measured, and the page says so.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "../src/fleet/postgres/connect.ts";
import { migrate } from "../src/fleet/postgres/migrate.ts";
import { openOrders } from "../src/fleet/postgres/orders.ts";
import { listOrders } from "../src/fleet/postgres/stored-orders.ts";
import { openPostgresStore } from "../src/fleet/postgres/store.ts";
import { listWorkers } from "../src/fleet/postgres/workers.ts";
import type { WorkOrder } from "../src/ports/dispatch.ts";
import type { Event } from "../src/contracts/event.ts";
import { postgresBin, startCluster } from "../test/support/postgres.ts";
import {
  interleave,
  isQuick,
  median,
  p50Of,
  plainEnv,
  quantile,
  ratioOf,
  report,
  repository,
  withFolder,
} from "./measure.ts";

const rounds = isQuick ? 9 : 25;
const sliceAppends = 40;
const orders = isQuick ? 20 : 60;
const takeUps = isQuick ? 2 : 5;
const leaseMs = 8_000;
const runs = 1_000;
const runsAtOnce = 64;
const stepsOfRun = 20;

const skipped = (n: number): Event => ({
  event: "step_skipped",
  actor: "system",
  reason_code: "ok",
  walk: "w".repeat(60),
  step: `step-${n}`,
});
const order = (id: string): WorkOrder => ({
  id,
  run: `run-${id}`,
  repository: "r",
  priority: 3,
  needs: [],
  slots: 100,
});

async function measure(): Promise<void> {
  const cluster = startCluster([], true);
  const url = cluster.database("bench");
  const database = connect(url, { answerMs: 20_000 });
  await migrate(database, "bench");
  const store = await openPostgresStore(url, { leaseMs: 60_000 });

  try {
    await database.query(
      "create table bare (n bigint generated always as identity primary key, line bytea not null)",
    );

    const { journal } = await store.open("run-2026-01-02-030405", "run", {
      now: () => new Date().toISOString(),
      activeMs: () => performance.now(),
    });

    const line = Buffer.alloc(300, "x");
    let n = 0;

    const slices = await interleave(
      [
        {
          name: "bare",
          slice: () =>
            p50Of(sliceAppends, () =>
              store.database.query("insert into bare (line) values ($1)", [line]),
            ),
        },
        { name: "fenced", slice: () => p50Of(sliceAppends, () => journal.append([skipped(n++)])) },
      ],
      rounds,
    );
    report(
      "fleet_append",
      ratioOf(slices, "fenced", "bare"),
      `${median(slices["fenced"] ?? []).toFixed(2)} ms; a bare insert ${median(slices["bare"] ?? []).toFixed(2)} ms`,
    );

    await journal.close();
    await manyRuns(store);

    const begun = new Map<string, number>();
    const dispatch = openOrders(store.database, { leaseMs });

    const working = await dispatch.work(
      { worker: "bench", jobs: 4, labels: [], repositories: ["r"] },
      ({ id }) => {
        begun.set(id, performance.now());
        return Promise.resolve({ kind: "ended", outcome: "done" });
      },
    );

    const begins = async (id: string): Promise<number> => {
      while (!begun.has(id)) await sleep(2);
      return begun.get(id) ?? 0;
    };

    const waits: number[] = [];
    for (let at = 0; at < orders; at++) {
      const offered = performance.now();
      await dispatch.offer(order(`o${at}`));
      waits.push((await begins(`o${at}`)) - offered);
      await sleep(Math.random() * 250);
    }

    report(
      "fleet_dispatch",
      quantile(waits, 0.9),
      `p50 ${median(waits).toFixed(0)} ms of ${orders} orders, one at a time`,
    );

    const late: number[] = [];
    for (let at = 0; at < takeUps; at++) {
      // A worker that renewed its lease just now, took an order, and is gone.
      await database.query(
        `insert into autopilot.worker (worker_id, epoch, owner, lease_until) values ($1, 1, '{}', clock_timestamp() + $2::int * interval '1 ms')`,
        [`dead${at}`, leaseMs],
      );

      const lapses = performance.now() + leaseMs;
      await database.query(
        `insert into autopilot.work_order (order_id, run_id, repository, priority, slots, state, worker_id, worker_epoch) values ($1, 'x', 'r', 3, 100, 'taken', $2, 1)`,
        [`late${at}`, `dead${at}`],
      );

      late.push((await begins(`late${at}`)) - lapses);
    }

    report(
      "fleet_take_up",
      Math.max(...late),
      `the longest of ${takeUps}, lease ${leaseMs / 1000} s`,
    );

    await working.drain();

    await database.query(
      `insert into autopilot.run (run_id, kind, seq) select 'run-2026-01-02-' || lpad(n::text, 6, '0') || '.00000000', 'run', n from generate_series(1, ${runs}) n`,
    );

    const status = await p50Of(rounds, () =>
      Promise.all([store.runs(), listWorkers(store.database), listOrders(store.database)]),
    );
    report(
      "fleet_status",
      status,
      `${runs.toLocaleString("en")} runs, their holders, workers and orders`,
    );

    await withFolder((folder) => idleWorker(folder, url));
  } finally {
    await store.close();
    await database.close();
    cluster.stop();
  }
}

/** Lines a second of many runs of one process, which share statements, beside one run alone. */
async function manyRuns(store: Awaited<ReturnType<typeof openPostgresStore>>): Promise<void> {
  const times = { now: () => new Date().toISOString(), activeMs: () => performance.now() };
  const opened = await Promise.all(
    Array.from({ length: runsAtOnce }, (_, at) =>
      store.open(`run-2026-01-03-${String(at).padStart(6, "0")}`, "run", times),
    ),
  );
  const journals = opened.map(({ journal }) => journal);

  const steps = async (some: typeof journals): Promise<number> => {
    const began = performance.now();
    await Promise.all(
      some.map(async (journal) => {
        for (let n = 0; n < stepsOfRun; n++) await journal.append([skipped(n)]);
      }),
    );

    return (some.length * stepsOfRun) / (performance.now() - began);
  };

  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = await steps(journals.slice(0, 1));
    ratios.push((await steps(journals)) / alone);
  }

  report(
    "fleet_runs",
    median(ratios),
    `${runsAtOnce} runs of one process, ${stepsOfRun} appends each, one after the other`,
  );

  await Promise.all(journals.map((journal) => journal.close()));
}

/** Memory of a worker that has nothing to do. */
async function idleWorker(folder: string, url: string): Promise<void> {
  const clone = join(folder, "repo");
  mkdirSync(clone);
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-c", "user.name=b", "-c", "user.email=b@example.invalid", ...args], {
      cwd: clone,
    });
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "start");
  git("init", "-q", "--bare", join(folder, "hub.git"));

  const child = spawn(process.execPath, [join(repository, "dist/autopilot.cjs"), "worker"], {
    cwd: clone,
    env: {
      ...plainEnv,
      HOME: folder,
      AUTOPILOT_STORE: url,
      AUTOPILOT_HUB: join(folder, "hub.git"),
    },
    stdio: "ignore",
  });

  try {
    const samples: number[] = [];
    for (let at = 0; at < (isQuick ? 20 : 60); at++) {
      await sleep(250);
      const kb = /^VmRSS:\s+(\d+)/m.exec(
        readFileSync(`/proc/${child.pid ?? 0}/status`, "utf8"),
      )?.[1];
      samples.push(Number(kb) / 1024);
    }

    report("fleet_idle_memory", Math.max(...samples), `p50 ${median(samples).toFixed(0)} MB`);
  } finally {
    child.kill("SIGKILL");
  }
}

if (postgresBin === null) process.stderr.write("fleet: no PostgreSQL server is installed\n");
else await measure();
