// What a database, its network and its machine may do to a store: a migration that loses its
// network, a full disk, a pooler that keeps no session, a clock that is an hour off.

import { chownSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseError, Pool, type PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, type Database } from "../../src/fleet/postgres/connect.ts";
import { migrate, readVersion } from "../../src/fleet/postgres/migrate.ts";
import { openOrders } from "../../src/fleet/postgres/orders.ts";
import { type Migration, migrations } from "../../src/fleet/postgres/schema.ts";
import { openPostgresStore } from "../../src/fleet/postgres/store.ts";
import { failureFrom, skipped, still } from "../../src/journal/scene.test-support.ts";
import type { OpenOptions } from "../../src/ports/run-store.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { fill, mayMount, smallDisk, whyNoDisk } from "../faults/small-disk.ts";
import { openPooler } from "./pooler.ts";
import { openWay } from "./way.ts";

const options: OpenOptions = { now: still.now, activeMs: still.activeMs };
const run = "run-2026-01-02-030405";
let cluster: Cluster;

async function made(name: string): Promise<string> {
  const url = cluster.database(name);
  const database = connect(url, { answerMs: 20_000 });
  await migrate(database, "test");
  await database.close();

  return url;
}

describe.skipIf(postgresBin === null)(`troubles of a store${withoutPostgres}`, () => {
  beforeAll(() => {
    cluster = startCluster();
  });

  afterAll(() => cluster.stop());

  test.each(["questions", "answers", "last answers"])(
    "a migration whose %s are lost on the way is made whole or not at all, and the next one goes on from there",
    async (lost) => {
      const name = `cut_${lost.replace(" ", "_")}`;
      const url = await made(name);
      const way = openWay(cluster.socket);
      const far = connect(`postgres://owner@/${name}?host=${encodeURIComponent(way.folder)}`, {
        answerMs: 1_000,
      });

      const wanted: readonly Migration[] = [
        ...migrations,
        {
          about: "two tables",
          statements: [
            "create table autopilot.first (a int)",
            "create table autopilot.second (a int)",
          ],
        },
      ];

      // The network goes while the second statement is on its way, or the commit is: then it is
      // made, and nobody hears of it.
      const isMade = lost === "last answers";
      const cut = (): object =>
        Object.assign(way, lost === "questions" ? { isUpCut: true } : { isDownCut: true });

      const cutting: Database = {
        ...far,
        inTransaction: (work) =>
          far.inTransaction(async (ask) => {
            const value = await work((text, values) => {
              if (!isMade && text.includes("autopilot.second")) cut();
              return ask(text, values);
            });

            if (isMade) cut();
            return value;
          }),
      };
      expect(await failureFrom(migrate(cutting, "test", wanted))).toMatchObject({
        kind: "store_unreachable",
      });

      const near = connect(url, { answerMs: 20_000 });
      const before = isMade ? wanted.length : migrations.length;
      await expect.poll(() => readVersion(near.query), { timeout: 30_000 }).toBe(before);
      expect(await migrate(near, "test", wanted)).toEqual({ from: before, to: wanted.length });
      expect(
        (
          await near.query(
            "select to_regclass('autopilot.first') is not null and to_regclass('autopilot.second') is not null as both",
          )
        ).rows,
      ).toEqual([{ both: true }]);

      await near.close();
      way.heal();
      await far.close();
      way.close();
    },
  );

  test("a database that is full refuses the line with words; what was there stays, and there is room again for the next owner", async () => {
    const store = await openPostgresStore(await made("full"));
    const { journal } = await store.open(run, "run", options);
    await journal.append([skipped(1)]);
    cluster.sql(
      "full",
      `create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$;
       create trigger full_disk before insert on autopilot.entry for each row execute function full_disk()`,
    );

    expect(await failureFrom(journal.append([skipped(2)]))).toMatchObject({
      kind: "disk_full",
      message: expect.stringContaining("no room") as string,
    });

    await journal.close();
    cluster.sql("full", "drop trigger full_disk on autopilot.entry");
    const next = await store.open(run, "run", options);
    expect(next.journal.position.seq).toBe(1);
    await next.journal.append([skipped(2)]);
    await next.journal.close();
    await store.close();
  });

  test.skipIf(!mayMount)(
    `a disk of the database that fills up costs the lines that did not fit, and no other${whyNoDisk}`,
    async () => {
      const store = await openPostgresStore(await made("small"));
      const disk = smallDisk(8);
      const { uid, gid } = statSync(cluster.socket); // the server's user
      const folder = join(disk, "tables");
      mkdirSync(folder, { mode: 0o700 });
      chownSync(folder, uid, gid);
      cluster.sql("small", `create tablespace small location '${folder}'`);

      for (const part of [0, 1, 2, 3]) {
        for (const what of [
          `table autopilot.entry_${part}`,
          `index autopilot.entry_${part}_pkey`,
        ]) {
          cluster.sql("small", `alter ${what} set tablespace small`);
        }
      }

      const ballast = fill(disk, 128);
      const { journal } = await store.open(run, "run", options);
      let acknowledged = 0;

      const failure = await failureFrom(
        (async () => {
          for (; acknowledged < 100_000; acknowledged += 50) {
            await journal.append(Array.from({ length: 50 }, (_, n) => skipped(acknowledged + n)));
          }
        })(),
      );
      expect([failure.kind, failure.message]).toEqual([
        "disk_full",
        expect.stringContaining("No space left on device"),
      ]);

      expect(acknowledged).toBeGreaterThan(0);
      await journal.close();
      rmSync(ballast);
      const next = await store.open(run, "run", options);
      expect(
        [next.journal.position.seq, (await store.runs())[0]?.takeOvers],
        "given back, and whole",
      ).toEqual([acknowledged, 0]);

      await next.journal.append([skipped(1)]);
      await next.journal.close();
      await store.close();
      cluster.sql("postgres", "drop database small with (force)");
      cluster.sql("postgres", "drop tablespace small");
    },
  );

  test("a pooler that gives every question another connection breaks nothing: no session is relied on", async () => {
    const store = await openPostgresStore(await made("pooled"), { usesMax: 1 });
    const { journal, lease } = await store.open(run, "run", options);
    for (let n = 1; n <= 5; n++) await journal.append([skipped(n)]);
    const blob = await journal.putBlob("payload");
    expect((await store.readBlob(run, blob)).toString()).toBe("payload");
    await store.send(run, {
      event: "control_requested",
      control: "pause",
      now: false,
      request: "one",
      actor: "operator:kim",
    });

    const requests = await store.requests(run);
    expect((await requests.pending()).map(({ request }) => request)).toEqual(["one"]);
    await requests.close();
    const orders = openOrders(store.database, { leaseMs: 8_000 });
    await orders.offer({ id: "a", run, repository: "r", priority: 3, needs: [], slots: 1 });
    let begun: (id: string) => void = () => undefined;
    const order = new Promise<string>((resolve) => (begun = resolve));

    const working = await orders.work(
      { worker: "one", jobs: 1, labels: [], repositories: ["r"] },
      ({ id }) => {
        begun(id);
        return Promise.resolve({ kind: "ended", outcome: "done" });
      },
    );

    expect(await order).toBe("a");
    await working.drain();
    expect(lease.isConfirmed()).toBe(true);
    await journal.close();
    await store.close();
  });

  test("a pooler in transaction mode breaks nothing: statements that it does not keep are sent as any other", async () => {
    await made("transactions");
    const pooler = openPooler(cluster.socket);
    const url = `postgres://owner@/transactions?host=${encodeURIComponent(pooler.folder)}`;
    const [store, other] = [await openPostgresStore(url), await openPostgresStore(url)];

    const journals = await Promise.all(
      [1, 2, 3, 4].map(
        async (n) =>
          (await (n % 2 === 0 ? store : other).open(`run-2026-01-02-03040${n}`, "run", options))
            .journal,
      ),
    );

    // Statements lie at connections that the next question does not get, and are there already
    // where another client made them.
    for (let n = 1; n <= 10; n++) {
      await Promise.all(journals.map((journal) => journal.append([skipped(n)])));
    }

    for (const journal of journals) await journal.append([skipped(11)]);
    for (const journal of journals) expect(journal.position.seq).toBe(11);
    const kept = cluster.sql(
      "transactions",
      "select count(*), count(distinct (run_id, seq)) from autopilot.entry",
    );
    expect(kept).toBe("44|44");
    const careless = new Pool({ connectionString: url, max: 4 });

    const asked = [1, 2, 3, 4].flatMap(() =>
      [1, 2].map(() =>
        careless.query({ name: "mine", text: "select 1" }).catch((error: unknown) => error),
      ),
    );
    const codes = (await Promise.all(asked)).map((one) =>
      one instanceof DatabaseError ? one.code : null,
    );
    expect(
      codes.filter((code) => code === "42P05" || code === "26000").length,
      "whoever relies on them is refused",
    ).toBeGreaterThan(0);

    await careless.end();
    await Promise.all(journals.map((journal) => journal.close()));
    await Promise.all([store.close(), other.close()]);
    pooler.close();
  });

  test("a connection that breaks at the moment it is handed out costs its question, and not the process", async () => {
    const database = connect(await made("broken"), { answerMs: 20_000 });
    await database.query("select 1");
    type HandOut = (this: unknown, client: PoolClient, ...rest: readonly unknown[]) => unknown;
    type Handing = { _acquireClient: HandOut };
    const pools = Pool.prototype as unknown as Handing;
    const handOut = pools._acquireClient;
    const unheard: unknown[] = [];
    pools._acquireClient = function (client, ...rest) {
      const value = handOut.call(this, client, ...rest);
      try {
        client.emit("error", new Error("Connection terminated unexpectedly")); // nobody has had a turn since
      } catch (error) {
        unheard.push(error);
      }

      return value;
    };

    try {
      await database.query("select 1");
    } finally {
      pools._acquireClient = handOut;
    }

    expect(unheard).toEqual([]);
    await database.close();
  });

  test("a machine that falls silent in the middle of taking an order holds no other up", async () => {
    const url = await made("silent");
    const [silent, other] = [connect(url, { answerMs: 300 }), connect(url, { answerMs: 20_000 })];
    let [wake, falls] = [(): void => undefined, (): void => undefined];
    const [woken, fallen] = [
      new Promise<void>((resolve) => (wake = resolve)),
      new Promise<void>((resolve) => (falls = resolve)),
    ];

    const taking = silent
      .inTransaction(async (ask) => {
        await ask("select pg_advisory_xact_lock(1)");
        falls();
        await woken;
        await ask("select 1");
      })
      .then(
        () => null,
        (error: unknown) => error,
      );

    await fallen;
    await other.inTransaction((ask) => ask("select pg_advisory_xact_lock(1)"));
    wake();
    expect(await taking).toMatchObject({
      message: expect.stringMatching(/idle-in-transaction|terminated|not queryable/) as string,
    });

    expect(
      (await silent.query("select 1 as one")).rows,
      "its next question has another connection",
    ).toEqual([{ one: 1 }]);

    await silent.close();
    await other.close();
  });

  test.each([3_600_000, -3_600_000])(
    "a machine whose clock is off by %i ms holds, writes and gives back as any other",
    async (off) => {
      const url = await made(`clock_${off < 0 ? "behind" : "ahead"}`);
      const clock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() + off };
      const store = await openPostgresStore(url, { clock });
      const { journal, lease } = await store.open(run, "run", options);
      await journal.append([skipped(1)]);
      expect(lease.isConfirmed()).toBe(true);
      const other = await openPostgresStore(url);
      expect(
        await failureFrom(other.open(run, "run", options)),
        "the database's clock says whose it is",
      ).toMatchObject({
        kind: "run_locked",
      });

      await journal.close();
      const next = await other.open(run, "run", options);
      expect([next.lease.epoch, next.journal.position.seq]).toEqual([lease.epoch + 1, 1]);
      await next.journal.close();
      await store.close();
      await other.close();
    },
  );
});
