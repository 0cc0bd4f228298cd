// The store in PostgreSQL: the suite of every store, as the schema's owner and as a role that may
// do little; then what only a database can do wrong.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Database } from "../../src/fleet/postgres/connect.ts";
import { holdLease, leaseClock, takeRun } from "../../src/fleet/postgres/lease.ts";
import { grantTo, migrate, readVersion } from "../../src/fleet/postgres/migrate.ts";
import { migrations } from "../../src/fleet/postgres/schema.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { portfolioStoreSuite } from "../contracts/portfolio-store-suite.ts";
import { storeSuite } from "../contracts/store-suite.ts";
import { failureFrom, skipped, still, sweep } from "../../src/journal/scene.test-support.ts";
import type { OpenOptions, RunStore } from "../../src/ports/run-store.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";

const options: OpenOptions = { now: still.now, activeMs: still.activeMs };
let cluster: Cluster;
let owner: PostgresStore;
let worker: PostgresStore;
const opened: { close(): Promise<void> }[] = [];
const kept = <T extends { close(): Promise<void> }>(one: T): T => {
  opened.push(one);
  return one;
};
const lapse = async (run: string): Promise<void> =>
  void (await owner.database.query(
    "update autopilot.run set lease_until = clock_timestamp() - interval '1 s' where run_id = $1",
    [run],
  ));

async function made(name: string): Promise<{ readonly url: string; readonly database: Database }> {
  const url = cluster.database(name);
  const database = kept(connect(url, { answerMs: 5_000 }));
  await migrate(database, "test");

  return { url, database };
}

async function exported(store: RunStore, run: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const line of store.lines(run, 0)) parts.push(line, Buffer.from("\n"));
  return Buffer.concat(parts).toString();
}

describe.skipIf(postgresBin === null)(`the store in PostgreSQL${withoutPostgres}`, () => {
  beforeAll(async () => {
    cluster = startCluster();
    const { url, database } = await made("store");
    cluster.sql("store", "create role worker login");
    await grantTo(database, "worker");
    owner = kept(await openPostgresStore(url));
    worker = kept(await openPostgresStore(cluster.database("store", "worker")));
  });

  afterAll(async () => {
    for (const one of opened) await one.close();
    cluster.stop();
    sweep();
  });

  storeSuite("postgres, the schema's owner", () => ({ store: owner, lapse }));
  storeSuite("postgres, a role with few rights", () => ({ store: worker, lapse }));
  portfolioStoreSuite("postgres, a role with few rights", () => ({ store: worker, lapse }));

  test("what is given back is free at once, though a renewal of it was on its way", async () => {
    const run = "run-2026-01-02-030405-renewed";
    let [arrive, isSent] = [(): void => undefined, (): void => undefined];
    const sent = new Promise<void>((resolve) => (isSent = resolve));
    const late: Promise<unknown>[] = [];

    const slowly: Database = {
      ...owner.database,
      query: (text, values) => {
        if (!text.startsWith("update autopilot.run set lease_until = clock_timestamp()")) {
          return owner.database.query(text, values);
        }

        const arrived = new Promise<void>((resolve) => (arrive = resolve)).then(() =>
          owner.database.query(text, values),
        );
        late.push(arrived);
        isSent();

        return arrived;
      },
    };

    const holder = { worker: "one", host: "here", pid: 1 };
    const request = { run, kind: "run", holder, leaseMs: 60_000, clock: leaseClock };

    const lease = holdLease(slowly, {
      row: { table: "run", id: run },
      taken: await takeRun(owner.database, request),
      times: { leaseMs: 60_000, renewMs: 20, stopMs: 50_000, answerMs: 10_000 },
      clock: leaseClock,
    });

    await sent;
    await lease.release();
    arrive();
    await Promise.all(late);
    expect(await takeRun(owner.database, request)).toMatchObject({ epoch: lease.epoch + 1 });
    // As a product of before left it: held until then, by nobody.
    await owner.database.query("update autopilot.run set owner = null where run_id = $1", [run]);
    expect(await takeRun(owner.database, request)).toMatchObject({ epoch: lease.epoch + 2 });
  });

  test("a worker's role can neither change nor remove a line, a blob or the schema", async () => {
    const { journal } = await worker.open("run-2026-01-02-030405-1", "run", options);
    await journal.append([skipped(1)]);
    await journal.putBlob("x");
    await journal.close();

    for (const text of [
      "update autopilot.entry set line = line",
      "delete from autopilot.entry",
      "truncate autopilot.entry",
      "update autopilot.blob set bytes = ''",
      "delete from autopilot.blob",
      "delete from autopilot.run",
      "update autopilot.request set body = '{}'",
      "create table autopilot.mine (a int)",
      "drop table autopilot.entry",
    ]) {
      await expect(worker.database.query(text), text).rejects.toThrow(
        /permission denied|must be owner/,
      );
    }
  });

  test("of eight that take a run at once one gets it, and of eight that append at one place one does", async () => {
    const run = "run-2026-01-02-030405-2";
    const takes = await Promise.allSettled(
      Array.from({ length: 8 }, () => owner.open(run, "run", options)),
    );
    const won = takes.flatMap((take) => (take.status === "fulfilled" ? [take.value] : []));
    expect(won).toHaveLength(1);
    const [held] = won;
    await held?.journal.append([skipped(1)]);
    // The same epoch in eight hands, as after a bug: number and hash still let one of them through.
    const { rows } = await owner.database.query(
      "select epoch::text, head from autopilot.run where run_id = $1",
      [run],
    );

    const raced = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        owner.database.query("select autopilot.append_lines($1, $2, 2, $3, $4, $5, 2) as kept", [
          run,
          rows[0]?.["epoch"],
          rows[0]?.["head"],
          Buffer.alloc(32, n),
          [Buffer.from("x")],
        ]),
      ),
    );
    expect(raced.filter(({ rows: [row] }) => row?.["kept"] === true)).toHaveLength(1);
    expect(
      (
        await owner.database.query("select 1 from autopilot.entry where run_id = $1 and seq = 2", [
          run,
        ])
      ).count,
    ).toBe(1);

    // What the owner knows is not what is there any more: nothing is written over it.
    expect(
      await failureFrom(held?.journal.append([skipped(2)]) ?? Promise.resolve()),
    ).toMatchObject({ kind: "store_lost_lines" });

    await held?.journal.close();
  });

  test("an owner that believes its lease and has lost it is refused by the statement itself", async () => {
    const run = "run-2026-01-02-030405-3";
    // Its clock stands still, so it never doubts itself.
    const sleeper = kept(
      await openPostgresStore(cluster.database("store", "worker"), {
        clock: { monotonicMs: () => 0, wallMs: () => 0 },
      }),
    );
    const stale = await sleeper.open(run, "run", options);
    await stale.journal.append([skipped(1)]);
    await lapse(run);
    const next = await owner.open(run, "run", options);
    expect(stale.lease.isConfirmed()).toBe(true);
    expect(await failureFrom(stale.journal.append([skipped(66)]))).toMatchObject({
      kind: "lease_lost",
    });

    expect(stale.lease.lost.aborted).toBe(true);
    expect(stale.lease.isConfirmed()).toBe(false);
    expect(await next.journal.append([skipped(2)])).toMatchObject([{ seq: 2, epoch: 2 }]);
    await next.journal.close();
    expect(await exported(owner, run)).not.toContain("step-66");
  });

  test("many runs of one worker share statements: each has its lines once and in order, one that was lost leaves the others kept", async () => {
    const ids = Array.from({ length: 40 }, (_, at) => `run-2026-01-02-0304${String(at + 10)}-many`);
    const runs = await Promise.all(ids.map((id) => worker.open(id, "run", options)));
    const [lost = ""] = ids;
    await owner.database.query("update autopilot.run set epoch = epoch + 1 where run_id = $1", [
      lost,
    ]);

    const appended = await Promise.allSettled(
      runs.map(async ({ journal }, at) => {
        for (let n = 0; n < 5; n++) {
          await journal.append(Array.from({ length: 1 + ((at + n) % 3) }, () => skipped(n)));
        }
      }),
    );
    expect(appended.map(({ status }) => status)).toEqual(
      ids.map((id) => (id === lost ? "rejected" : "fulfilled")),
    );

    const lengths = await Promise.all(
      ids.map(async (id) => (await exported(worker, id)).split("\n").length - 1),
    );
    expect(lengths).toEqual(
      ids.map((id, at) =>
        id === lost ? 0 : [0, 1, 2, 3, 4].reduce((sum, n) => sum + 1 + ((at + n) % 3), 0),
      ),
    );

    await Promise.all(runs.map(({ journal }) => journal.close()));
    for (const id of ids.slice(1, 4)) await (await owner.open(id, "run", options)).journal.close(); // its chain is whole
    const transactions = await owner.database.query(
      "select count(distinct xmin::text)::text as n from autopilot.entry where run_id like '%-many'",
    );
    expect(Number(transactions.rows[0]?.["n"]), "transactions that wrote their lines").toBeLessThan(
      39 * 5,
    );
  });

  test("a lease that lapsed lets nothing through, though nobody has taken the run", async () => {
    const run = "run-2026-01-02-030405-8";
    // Its clock stands still, so it does not renew either.
    const sleeper = kept(
      await openPostgresStore(cluster.database("store"), {
        clock: { monotonicMs: () => 0, wallMs: () => 0 },
      }),
    );

    const { journal } = await sleeper.open(run, "run", options);
    await lapse(run);
    const appended = journal.append([skipped(1)]);
    await sleep(500); // several tries
    expect(await exported(owner, run)).toBe("");
    await owner.database.query(
      "update autopilot.run set lease_until = clock_timestamp() + interval '60 s' where run_id = $1",
      [run],
    );

    expect(await appended).toMatchObject([{ seq: 1 }]);
    await journal.close();
  });

  test("a lease that lapsed and that nobody took is the owner's again with the next renewal", async () => {
    const run = "run-2026-01-02-030405-4";
    const store = kept(await openPostgresStore(cluster.database("store"), { leaseMs: 12_000 }));
    const { journal } = await store.open(run, "run", options);
    await lapse(run);
    expect(await journal.append([skipped(1)])).toMatchObject([{ seq: 1 }]);
    await journal.close();
  });

  test("wall and monotonic clock that disagree leave nothing confirmed until the store has confirmed it", async () => {
    let wall = 0;
    const clock = { monotonicMs: () => performance.now(), wallMs: () => performance.now() + wall };
    const store = kept(
      await openPostgresStore(cluster.database("store"), { clock, leaseMs: 60_000 }),
    );

    const { journal, lease } = await store.open("run-2026-01-02-030405-5", "run", options);
    expect(lease.isConfirmed()).toBe(true);
    wall = 3_600_000; // the machine slept for an hour
    expect(lease.isConfirmed()).toBe(false);
    await expect.poll(() => lease.isConfirmed(), { timeout: 30_000 }).toBe(true);
    await journal.close();
  });

  test("a line that was changed in the table is damage, and the run is not taken further", async () => {
    const run = "run-2026-01-02-030405-6";
    const { journal } = await owner.open(run, "run", options);
    await journal.append([skipped(1), skipped(2)]);
    await journal.close();
    await owner.database.query(
      "update autopilot.entry set line = overlay(line placing 'X' from 40) where run_id = $1 and seq = 1",
      [run],
    );

    expect(await failureFrom(owner.open(run, "run", options))).toMatchObject({
      kind: "journal_damaged",
      trouble: { line: 1 },
    });

    await owner.database.query("delete from autopilot.entry where run_id = $1 and seq = 2", [run]);
    expect(await failureFrom(owner.open(run, "run", options))).toMatchObject({
      kind: "journal_damaged",
    });
  });

  test("what was acknowledged is there after kill -9 of the database, once, and its owner goes on", async () => {
    const run = "run-2026-01-02-030405-7";
    const store = kept(await openPostgresStore(cluster.database("store"), { leaseMs: 120_000 }));
    const { journal } = await store.open(run, "run", options);
    const acknowledged: number[] = [];

    const writing = (async () => {
      for (let n = 1; n <= 120; n++) {
        acknowledged.push(...(await journal.append([skipped(n)])).map(({ seq }) => seq));
      }
    })();

    await expect
      .poll(() => acknowledged.length, { timeout: 60_000, interval: 5 })
      .toBeGreaterThan(10);

    cluster.crash();
    await expect
      .poll(
        () => {
          try {
            cluster.start();
            return true;
          } catch {
            return false;
          }
        },
        { timeout: 60_000 },
      )
      .toBe(true);

    await writing;
    await journal.close();
    expect(acknowledged).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    const lines = (await exported(store, run)).trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { readonly step: string }).step)).toEqual(
      acknowledged.map((n) => `step-${n}`),
    );
  });
});

describe.skipIf(postgresBin === null)(`the schema${withoutPostgres}`, () => {
  let schema: Cluster;
  beforeAll(() => {
    schema = startCluster();
  });

  afterAll(() => schema.stop());
  const at = (name: string): Database => connect(schema.database(name), { answerMs: 20_000 });

  test("is made once, by however many at once, and is found done after", async () => {
    const databases = [at("fresh"), at("fresh"), at("fresh")];
    const done = await Promise.all(databases.map((database) => migrate(database, "test")));
    expect(done.every(({ to }) => to === migrations.length)).toBe(true);
    const [one] = databases;
    if (one === undefined) throw new Error("no database");
    expect(await migrate(one, "test")).toEqual({ from: migrations.length, to: migrations.length });
    await Promise.all(databases.map((database) => database.close()));
  });

  test("that is missing, older or newer is refused with what to do", async () => {
    const url = schema.database("versions");
    expect(await failureFrom(openPostgresStore(url))).toMatchObject({
      kind: "store_unusable",
      trouble: { hint: "autopilot fleet init" },
    });

    const database = at("versions");
    await migrate(database, "test");
    await database.query("insert into autopilot.schema_version values ($1, 'later', 'later')", [
      migrations.length + 1,
    ]);

    expect((await failureFrom(openPostgresStore(url))).message).toContain(
      "newer than this product knows",
    );

    expect((await failureFrom(migrate(database, "test"))).message).toContain(
      "newer than this product knows",
    );

    await database.query("delete from autopilot.schema_version where version > $1", [
      migrations.length,
    ]);

    const wanted = [
      ...migrations,
      { about: "one more", statements: ["create table autopilot.more (a int)", "select 1/0"] },
    ];
    await expect(migrate(database, "test", wanted)).rejects.toThrow("division by zero");
    expect(await readVersion(database.query)).toBe(migrations.length);
    expect(
      (await database.query("select to_regclass('autopilot.more') as there")).rows[0]?.["there"],
    ).toBeNull();

    await database.close();
  });

  test("in a database that may lose what it acknowledged is not used", async () => {
    const url = schema.database("loose");
    const database = at("loose");
    await migrate(database, "test");
    await database.close();
    schema.sql("postgres", "create role hasty login superuser");
    schema.sql("postgres", "alter role hasty set synchronous_commit = off");
    const refused = await failureFrom(openPostgresStore(schema.database("loose", "hasty")));
    expect(refused.kind).toBe("store_unusable");
    expect(refused.message).toContain("synchronous_commit=off");
    await (await openPostgresStore(url)).close();
  });

  test("that becomes one that may lose what it acknowledged gives out no run from then on, and goes on when it is durable again", async () => {
    const database = at("hurried");
    await migrate(database, "test");
    await database.close();
    const store = await openPostgresStore(schema.database("hurried"));
    const held = await store.open("run-2026-01-02-030405", "run", options);
    await held.journal.close();
    const setCommit = (value: string): void => {
      schema.sql("postgres", `alter system set synchronous_commit = ${value}`);
      schema.sql("postgres", "select pg_reload_conf()");
    };
    setCommit("off");
    const shown = async (): Promise<unknown> =>
      (await store.database.query("show synchronous_commit")).rows[0]?.["synchronous_commit"];
    await expect.poll(shown, { timeout: 30_000 }).toBe("off");
    const refused = await failureFrom(store.open("run-2026-01-02-030405", "run", options));
    expect([refused.kind, refused.message]).toEqual([
      "store_unusable",
      expect.stringContaining("synchronous_commit=off"),
    ]);

    expect((await store.runs())[0], "and nobody has it").toMatchObject({ holder: null });
    setCommit("on");
    await expect.poll(shown, { timeout: 30_000 }).toBe("on");
    await (await store.open("run-2026-01-02-030405", "run", options)).journal.close();
    await store.close();
  });

  test.each([
    ["somebody else's", "create schema autopilot; create table autopilot.run (a int)", "init"],
    ["without a table", "drop table autopilot.request", "use"],
    ["without a column", "alter table autopilot.run drop column take_overs", "use"],
    ["without a function", "drop function autopilot.append_lines", "use"],
  ])("that is %s is refused with words", async (name, statement, when) => {
    const folded = `wrong_${name.replaceAll(/[^a-z]/g, "")}`;
    const [database, url] = [at(folded), schema.database(folded)];
    if (when === "use") await migrate(database, "test");
    await database.query(statement);

    const use = async (): Promise<void> => {
      if (when === "init") await migrate(database, "test");
      const store = await openPostgresStore(url);

      try {
        const { journal } = await store.open("run-2026-01-02-030405", "run", options);
        await journal.append([skipped(1), skipped(2)]);
        await (await store.requests("run-2026-01-02-030405")).pending();
      } finally {
        await store.close();
      }
    };
    expect(await failureFrom(use())).toMatchObject({ kind: "store_unusable" });

    if (when === "init") {
      expect(await readVersion(database.query), "and it is left alone").toBeNull();
    }

    await database.close();
  });

  test("is not made by somebody without the right to, nor read by somebody without any", async () => {
    schema.sql("postgres", "create role nobody login");
    const database = at("rights");
    await migrate(database, "test");
    await database.close();
    expect(await failureFrom(openPostgresStore(schema.database("rights", "nobody")))).toMatchObject(
      { kind: "store_unusable" },
    );

    const stranger = connect(schema.database("unmade", "nobody"), { answerMs: 5_000 });
    expect(await failureFrom(migrate(stranger, "test"))).toMatchObject({ kind: "store_unusable" });
    await stranger.close();
    expect(
      await failureFrom(
        openPostgresStore(`postgres://owner@/none?host=${encodeURIComponent(schema.socket)}`),
      ),
    ).toMatchObject({
      kind: "store_unusable",
    });

    const secret = await failureFrom(openPostgresStore("postgres://ann:s3cret@127.0.0.1:1/store"));
    expect(secret).toMatchObject({ kind: "store_unreachable" });
    expect(secret.message).not.toContain("s3cret");
  });
});
