// The commands about a store, as a user gives them.

import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildFleetPage } from "../../src/commands/dashboard/fleet-page.ts";
import { openPostgresStore } from "../../src/fleet/postgres/store.ts";
import { failureFrom, skipped, still } from "../../src/journal/scene.test-support.ts";
import { fleetBoard } from "../../src/views/web/fleet-board.ts";
import { toHtml } from "../../src/views/web/to-html.ts";
import { apart, autopilot } from "../support/autopilot.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { scratch, scratchFolder } from "../support/scratch-repository.ts";

const run = "run-2026-01-02-030405";
const options = { now: still.now, activeMs: still.activeMs };

test("a fleet command without a store, or with an address that is none, says what to set", async () => {
  const folder = scratch();
  for (const args of [["init"], ["status"], ["doctor"], ["export", run]]) {
    const { code, json } = await autopilot(folder, ["fleet", ...args, "--json"]);
    expect([code, json.reason_code, json.remediation[0]]).toEqual([
      1,
      "store_unusable",
      expect.stringContaining("AUTOPILOT_STORE"),
    ]);
  }

  const { json } = await autopilot(folder, [
    "fleet",
    "doctor",
    "--store",
    "mysql://ann:s3cret@host/x",
    "--json",
  ]);
  expect(json.message).toContain("postgres://");
  expect(JSON.stringify(json)).not.toContain("s3cret");

  const gone = await autopilot(folder, [
    "fleet",
    "doctor",
    "--store",
    "postgres://ann:s3cret@127.0.0.1:1/x",
    "--json",
  ]);
  expect(gone.json.reason_code).toBe("store_unreachable");
  expect(gone.out + gone.err).not.toContain("s3cret");
});

describe.skipIf(postgresBin === null)(`fleet${withoutPostgres}`, () => {
  let cluster: Cluster;
  beforeAll(() => {
    cluster = startCluster();
  });

  afterAll(() => cluster.stop());

  test("doctor finds no store, init makes one, doctor finds it ready, a second init changes nothing", async () => {
    const folder = scratch();
    const env = { AUTOPILOT_STORE: cluster.database("fresh") };
    const before = await autopilot(folder, ["fleet", "doctor", "--json"], { env });
    expect([before.code, before.json.reason_code, before.json.message]).toEqual([
      1,
      "store_unusable",
      "Not ready: schema.",
    ]);

    expect(
      (await autopilot(folder, ["fleet", "status", "--json"], { env })).json.remediation,
    ).toEqual(["autopilot fleet init"]);

    cluster.sql("fresh", "create role hand login");
    const made = await autopilot(folder, ["fleet", "init", "--grant", "hand", "--json"], { env });
    expect([made.code, made.json["from"], made.json["granted"]]).toEqual([0, 0, "hand"]);
    const again = await autopilot(folder, ["fleet", "init", "--json"], { env });
    expect(again.json["from"]).toBe(again.json["to"]);
    const ready = await autopilot(folder, ["fleet", "doctor"], {
      env: { AUTOPILOT_STORE: cluster.database("fresh", "hand") },
    });
    expect(ready.code).toBe(0);
    expect(ready.out).toContain("cannot change or remove a line");
    expect(ready.out).toContain("A failover may lose the last lines.");

    const odd = await autopilot(
      folder,
      ["fleet", "init", "--grant", 'x"; drop schema autopilot; --', "--json"],
      { env },
    );
    expect([odd.code, odd.json.reason_code]).toEqual([1, "store_unusable"]);
  });

  test("doctor names commits that are not durable and rights that are missing", async () => {
    const folder = scratch();
    await autopilot(folder, ["fleet", "init"], {
      env: { AUTOPILOT_STORE: cluster.database("loose") },
    });

    cluster.sql("postgres", "create role loose login");
    cluster.sql("postgres", "alter role loose set synchronous_commit = off");
    cluster.sql(
      "loose",
      "grant usage on schema autopilot to loose; grant select on all tables in schema autopilot to loose",
    );

    const { code, json } = await autopilot(folder, ["fleet", "doctor", "--json"], {
      env: { AUTOPILOT_STORE: cluster.database("loose", "loose") },
    });
    expect([code, json.message]).toEqual([1, "Not ready: durable commits, rights."]);
    expect(json.remediation.join(" ")).toContain("fleet init --grant");
  });

  test("a password comes from ~/.pgpass without a word; where there is none, or others may read it, that is said", async () => {
    const folder = scratch();
    cluster.sql("postgres", "create role asked login password 's3cret'");
    const rules = join(cluster.socket, "data/pg_hba.conf");
    writeFileSync(rules, `local all asked scram-sha-256\n${readFileSync(rules, "utf8")}`);
    cluster.sql("postgres", "select pg_reload_conf()");
    await autopilot(folder, ["fleet", "init", "--grant", "asked"], {
      env: { AUTOPILOT_STORE: cluster.database("locked") },
    });

    const file = join(scratchFolder(), "pgpass");
    const env = { AUTOPILOT_STORE: cluster.database("locked", "asked"), PGPASSFILE: file };
    const status = (): ReturnType<typeof apart> =>
      apart(folder, ["fleet", "status", "--json"], { env });
    const without = await status();
    expect([without.json.reason_code, without.json.message]).toEqual([
      "store_unusable",
      expect.stringContaining("asks for a password, and"),
    ]);

    expect(without.json.remediation[0]).toContain(`:5432:locked:asked:PASSWORD in ${file}`);
    writeFileSync(file, "# mine\n*:*:*:asked:s3cret\n", { mode: 0o600 });
    const found = await status();
    expect([found.code, found.err, found.json["held"]]).toEqual([0, "", 0]);
    chmodSync(file, 0o644);
    expect((await status()).json.remediation[0]).toBe(`chmod 600 ${file}`);
    writeFileSync(file, "*:*:*:another:s3cret\n");
    chmodSync(file, 0o600);
    const another = await status();
    expect(another.json.message).toContain(`no line of ${file} is for it`);
    expect(another.out + another.err).not.toContain("s3cret");
  });

  test("what a server is set to, or refuses for reasons of its own, is said in words and is no bug", async () => {
    const folder = scratch();
    const owner = { AUTOPILOT_STORE: cluster.database("odd") };
    const nobody = await autopilot(folder, ["fleet", "init", "--grant", "nobody-here", "--json"], {
      env: owner,
    });
    expect([nobody.json.reason_code, nobody.json.remediation[0]]).toEqual([
      "store_unusable",
      expect.stringContaining("createuser"),
    ]);

    cluster.sql("postgres", "create role odd login");
    await autopilot(folder, ["fleet", "init", "--grant", "odd"], { env: owner });
    const asked = (...args: readonly string[]): ReturnType<typeof autopilot> =>
      autopilot(folder, ["fleet", ...args, "--json"], {
        env: { AUTOPILOT_STORE: cluster.database("odd", "odd") },
      });

    cluster.sql("postgres", "alter role odd set default_transaction_read_only = on");
    expect((await asked("doctor")).json.message).toBe("Not ready: writes.");
    cluster.sql("postgres", "alter role odd reset all; alter role odd connection limit 0");
    expect((await asked("status")).json).toMatchObject({
      reason_code: "store_unreachable",
      message: expect.stringContaining("too many connections") as string,
    });

    const locker = await openPostgresStore(owner.AUTOPILOT_STORE);
    cluster.sql(
      "postgres",
      "alter role odd connection limit -1; alter role odd set statement_timeout = 300",
    );

    await locker.database.inTransaction(async (ask) => {
      await ask("lock table autopilot.run");
      expect((await asked("status")).json).toMatchObject({
        reason_code: "store_unreachable",
        message: expect.stringContaining("statement timeout") as string,
      });
    });

    await locker.close();
    // Not of the network, and not of a statement: a server without TLS, a protocol that is none.
    const plain = await autopilot(folder, ["fleet", "status", "--json"], {
      env: { AUTOPILOT_STORE: `${owner.AUTOPILOT_STORE}&sslmode=verify-full&sslrootcert=/nowhere` },
    });
    expect(plain.json.reason_code, plain.out).toMatch(/^store_/);
  });

  test("status shows who holds what, and export gives the journal byte for byte, never over another file", async () => {
    const folder = scratch();
    const env = { AUTOPILOT_STORE: cluster.database("shown") };
    await autopilot(folder, ["fleet", "init"], { env });
    const store = await openPostgresStore(env.AUTOPILOT_STORE, { worker: "worker-a" });
    const { journal } = await store.open(run, "run", options);
    await journal.append([skipped(1), skipped(2)]);
    const { json, code } = await autopilot(folder, ["fleet", "status", "--json"], { env });
    expect([code, json["held"], json["take_overs"]]).toEqual([0, 1, 0]);
    expect(json["runs"]).toMatchObject([
      { run_id: run, seq: 2, holder: { worker: "worker-a", pid: process.pid } },
    ]);

    expect((await autopilot(folder, ["fleet", "status"], { env })).out).toContain("worker-a");
    const to = join(dirname(folder), "out.jsonl");
    expect(
      (await autopilot(folder, ["fleet", "export", run, "--to", to, "--json"], { env })).json[
        "lines"
      ],
    ).toBe(2);

    const parts: Uint8Array[] = [];
    for await (const line of store.lines(run, 0)) parts.push(line, Buffer.from("\n"));
    expect(readFileSync(to)).toEqual(Buffer.concat(parts));
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(
      (await autopilot(folder, ["fleet", "export", run, "--to", to, "--json"], { env })).json
        .reason_code,
    ).toBe("workspace_unusable");

    expect(
      (await autopilot(folder, ["fleet", "export", "run-2026-01-02-030406", "--json"], { env }))
        .json.reason_code,
    ).toBe("run_missing");

    await journal.close();
    await store.close();
  });

  test("the dashboard's page shows workers, leases, the queue, take-overs and who plans, and a store that is gone in words", async () => {
    const env = { AUTOPILOT_STORE: cluster.database("page") };
    await autopilot(scratch(), ["fleet", "init"], { env });
    const store = await openPostgresStore(env.AUTOPILOT_STORE, { worker: "<b>worker</b>" });
    const { journal } = await store.open(run, "run", options);
    const planner = await store.open("portfolio-0123/planner", "portfolio", options);
    await (await store.open("portfolio-0123", "portfolio", options)).journal.close();
    cluster.sql(
      "page",
      `update autopilot.run set take_overs = 3 where run_id = '${run}';
       insert into autopilot.worker (worker_id, epoch, jobs, labels, owner, lease_until, product) values
         ('alive', 1, 2, '{gpu}', '{"worker":"alive","host":"far","pid":7}', now() + interval '9 s', 'autopilot'), ('dead', 1, 1, '{}', null, now(), 'autopilot');
       insert into autopilot.work_order (order_id, run_id, repository, priority, slots, state, worker_id, worker_epoch, taken_at, times_taken) values
         ('a', '${run}', 'r', 1, 8, 'taken', 'alive', 1, now(), 2), ('b', 'waiting', 'r', 5, 8, 'offered', null, null, null, 0)`,
    );

    const page = await buildFleetPage(env);
    expect(page).toMatchObject({ problem: null, runs: 1, take_overs: 3 });
    expect(page.board).toMatchObject({
      workers: [
        {
          worker: "alive",
          at_work: 1,
          jobs: 2,
          labels: ["gpu"],
          lease_left_ms: expect.any(Number) as number,
        },
        { worker: "dead", holder: null, lease_left_ms: null },
      ],
      portfolios: [{ id: "portfolio-0123", holder: { pid: process.pid } }],
      orders: [
        { id: "a", worker: "alive", times_taken: 2 },
        { id: "b", worker: null },
      ],
      runs: [{ run, take_overs: 3, lease_left_ms: expect.any(Number) as number }],
    });

    const html = page.board === null ? "" : toHtml(fleetBoard(page.board));
    for (const text of [
      "1 of 2 alive",
      "gone",
      "handed out 2 times",
      "3 times",
      "&#60;b&#62;worker",
    ]) {
      expect(html).toContain(text);
    }

    await journal.close();
    await planner.journal.close();
    await store.close();
    expect(await buildFleetPage({})).toMatchObject({ store: null, problem: null, board: null });
    const gone = await buildFleetPage({ AUTOPILOT_STORE: "postgres://ann:s3cret@127.0.0.1:1/x" });
    expect(gone.problem).toContain("does not answer");
    expect(gone.problem).not.toContain("s3cret");
    expect((await buildFleetPage({ AUTOPILOT_STORE: "mysql://x" })).problem).toContain(
      "postgres://",
    );
  });

  test("a dump that is restored elsewhere holds the same journals", async () => {
    const folder = scratch();
    const env = { AUTOPILOT_STORE: cluster.database("kept") };
    await autopilot(folder, ["fleet", "init"], { env });
    const store = await openPostgresStore(env.AUTOPILOT_STORE);
    const { journal } = await store.open(run, "run", options);
    await journal.append([skipped(1), skipped(2)]);
    const known = { ...journal.position };
    const blob = await journal.putBlob("kept");
    const restore = cluster.dump("kept");
    await journal.append([skipped(3)]);
    const later = { ...journal.position };
    await journal.close();
    await store.close();
    cluster.database("restored");
    restore("restored");
    const restored = await openPostgresStore(cluster.database("restored"));
    cluster.sql("restored", "update autopilot.run set lease_until = timestamptz 'epoch'");
    const again = await restored.open(run, "run", { ...options, known });
    expect(again.entries).toHaveLength(2);
    expect((await again.journal.readBlob(blob)).toString()).toBe("kept");
    await again.journal.close();
    // Whoever saw the third line acknowledged is told that it is gone.
    expect(
      await failureFrom(restored.open(run, "run", { ...options, known: later })),
    ).toMatchObject({ kind: "store_lost_lines" });

    await restored.close();
  });
});
