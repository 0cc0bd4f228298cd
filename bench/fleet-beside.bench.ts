// One durable step in PostgreSQL beside what other engines do for the same: DBOS Transact (a step
// of a workflow), graphile-worker (a job, the least it has) and Restate (a run block of a handler,
// in its own server). Slices take turns, so that only the ratios count. Engines that were not
// fetched (node scripts/engines.mjs) are left out, and the page says so.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { connect } from "../src/fleet/postgres/connect.ts";
import { migrate } from "../src/fleet/postgres/migrate.ts";
import { openPostgresStore } from "../src/fleet/postgres/store.ts";
import type { Event } from "../src/contracts/event.ts";
import { postgresBin, startCluster } from "../test/support/postgres.ts";
import {
  type Contender,
  interleave,
  isQuick,
  median,
  plainEnv,
  ratioOf,
  report,
  withFolder,
} from "./measure.ts";

const rounds = isQuick ? 5 : 15;
const steps = 40;
const root = process.env["AUTOPILOT_ENGINES"] ?? join(homedir(), ".cache/autopilot/engines");
const ports = { ingress: 28_080, admin: 29_070, node: 25_122, handler: 29_080 };

type Engine = { readonly slice: Contender["slice"]; readonly close: () => Promise<void> | void };

const skipped = (n: number): Event => ({
  event: "step_skipped",
  actor: "system",
  reason_code: "ok",
  walk: "w".repeat(60),
  step: `s-${n}`,
});
/** Milliseconds a step. */
const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  await work();
  return (performance.now() - began) / steps;
};
const required = (engine: string, name: string): unknown =>
  createRequire(join(root, engine, "package.json"))(name);

/**
 * Ours: what is meant to be done, then what came of it, each acknowledged before anything else
 * happens.
 */
async function ours(url: string): Promise<Engine> {
  const store = await openPostgresStore(url, { leaseMs: 600_000 });
  const { journal } = await store.open("run-2026-01-02-030405", "run", {
    now: () => new Date().toISOString(),
    activeMs: () => performance.now(),
  });

  return {
    slice: () =>
      timed(async () => {
        for (let n = 0; n < steps; n++) {
          await journal.append([skipped(n)]);
          await journal.append([skipped(n)]);
        }
      }),
    close: async () => {
      await journal.close();
      await store.close();
    },
  };
}

type Dbos = {
  readonly setConfig: (config: object) => void;
  readonly registerWorkflow: (work: () => Promise<void>, config: object) => () => Promise<void>;
  readonly runStep: (step: () => Promise<number>, config: object) => Promise<number>;
  readonly launch: () => Promise<void>;
  readonly shutdown: () => Promise<void>;
};

async function dbos(url: string): Promise<Engine> {
  const { DBOS } = required("dbos", "@dbos-inc/dbos-sdk") as { readonly DBOS: Dbos };
  const pool = new Pool({ connectionString: url });
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: "postgresql://owner@localhost/bench",
    systemDatabasePool: pool,
    runAdminServer: false,
    logLevel: "error",
  });

  const workflow = DBOS.registerWorkflow(
    async () => {
      for (let n = 0; n < steps; n++) {
        await DBOS.runStep(() => Promise.resolve(n), { name: "step" });
      }
    },
    { name: "steps" },
  );

  await DBOS.launch();
  return {
    slice: () => timed(workflow),
    close: async () => {
      await DBOS.shutdown();
      await pool.end().catch(() => undefined); // ended with it
    },
  };
}

type Graphile = {
  readonly run: (options: object) => Promise<{
    readonly stop: () => Promise<void>;
    readonly addJob: (task: string) => Promise<unknown>;
  }>;
  readonly Logger: new (sink: () => () => void) => object;
};

async function graphile(url: string): Promise<Engine> {
  const { run, Logger } = required("graphile-worker", "graphile-worker") as Graphile;
  let begun: () => void = () => undefined;
  const taskList = { step: () => Promise.resolve(begun()) };

  const runner = await run({
    connectionString: url,
    concurrency: 1,
    noHandleSignals: true,
    logger: new Logger(() => () => undefined),
    taskList,
  });

  return {
    slice: () =>
      timed(async () => {
        for (let n = 0; n < steps; n++) {
          const isBegun = new Promise<void>((done) => (begun = done));
          await runner.addJob("step");
          await isBegun;
        }
      }),
    close: () => runner.stop(),
  };
}

async function restate(folder: string): Promise<Engine> {
  const packages = join(root, "restate/node_modules");
  const handler = join(root, "restate/handler.mjs");
  writeFileSync(
    handler,
    `import * as restate from "@restatedev/restate-sdk";
const steps = async (ctx) => { for (let n = 0; n < ${steps}; n++) await ctx.run("step", async () => n); };
restate.serve({ services: [restate.service({ name: "bench", handlers: { steps } })], port: ${ports.handler} });
`,
  );

  const platform = `${process.platform}-${process.arch}`;
  const server = spawn(
    join(packages, `@restatedev/restate-server-${platform}/bin/restate-server`),
    ["--base-dir", folder],
    {
      env: {
        ...plainEnv,
        RESTATE_DISABLE_TELEMETRY: "true",
        RESTATE_BIND_ADDRESS: `127.0.0.1:${ports.node}`,
        RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${ports.node}`,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ports.ingress}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${ports.admin}`,
      },
      stdio: "ignore",
    },
  );

  const worker = spawn(join(packages, `node-${platform}/bin/node`), [handler], {
    env: plainEnv,
    stdio: "ignore",
  });

  const post = (port: number, path: string, body: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await registered(
    () => post(ports.admin, "/deployments", { uri: `http://127.0.0.1:${ports.handler}` }),
    [server, worker],
  );

  return {
    slice: () =>
      timed(async () => {
        const response = await post(ports.ingress, "/bench/steps", {});
        if (!response.ok) throw new Error(`restate: ${response.status} ${await response.text()}`);
      }),
    close: () => {
      worker.kill("SIGKILL");
      server.kill("SIGKILL");
    },
  };
}

async function registered(
  ask: () => Promise<Response>,
  children: readonly ChildProcess[],
): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    const response = await ask().catch(() => null);
    if (response?.ok === true) return;
    if (children.some(({ exitCode }) => exitCode !== null)) break;
    await sleep(500);
  }

  for (const child of children) child.kill("SIGKILL");
  throw new Error("its server does not start");
}

async function measure(folder: string): Promise<void> {
  const cluster = startCluster([], true);
  const url = cluster.database("bench");
  const database = connect(url, { answerMs: 20_000 });
  await migrate(database, "bench");
  await database.close();
  const opened = new Map<string, Engine>([["autopilot", await ours(url)]]);

  try {
    for (const [name, open] of [
      ["dbos", () => dbos(url)],
      ["graphile-worker", () => graphile(url)],
      ["restate", () => restate(folder)],
    ] as const) {
      if (!existsSync(join(root, name, "package.json"))) {
        process.stderr.write(`${name}: not fetched (node scripts/engines.mjs ${name})\n`);
      } else {
        await open().then(
          (engine) => opened.set(name, engine),
          (error: unknown) => process.stderr.write(`${name}: ${String(error)}\n`),
        );
      }
    }

    const slices = await interleave(
      [...opened].map(([name, { slice }]) => ({ name, slice })),
      rounds,
    );

    for (const name of [...opened.keys()].filter((one) => one !== "autopilot")) {
      const [theirs, own] = [median(slices[name] ?? []), median(slices["autopilot"] ?? [])];
      report(
        `beside_${name.replace("-", "_")}`,
        ratioOf(slices, name, "autopilot"),
        `${theirs.toFixed(2)} ms; ours ${own.toFixed(2)} ms`,
      );
    }
  } finally {
    for (const { close } of opened.values()) await close();
    cluster.stop();
  }
}

if (postgresBin === null) process.stderr.write("fleet: no PostgreSQL server is installed\n");
else await withFolder(measure);
process.exit(0); // whatever an engine left open
