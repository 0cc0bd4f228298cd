// Machines that are brought up to date one after the other: products of two schemas on one store,
// made by adding a migration to a copy of the built program. What an older product may not touch it
// refuses with words.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openOrders } from "../../src/fleet/postgres/orders.ts";
import { listOrders, type StoredOrder } from "../../src/fleet/postgres/stored-orders.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { migrations } from "../../src/fleet/postgres/schema.ts";
import { genesis } from "../../src/journal/line.ts";
import { program, sharedCache } from "../support/autopilot.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { at, gate, type Machine, makes, openFleet, patientMs, said, submit } from "./machines.ts";

const folder = resolve(`node_modules/.cache/upgrade-${process.pid}`);
const known = migrations.length;
let cluster: Cluster;
let store: PostgresStore;
const running: ChildProcess[] = [];

/**
 * The built program with more migrations, as its source would have them, in the place of the one
 * before.
 */
function nextProduct(
  added: readonly { readonly about: string; readonly oldestCompatible?: number }[],
): string {
  const dist = join(folder, "next");
  if (!existsSync(dist)) cpSync(dirname(program), dist, { recursive: true });
  const ends = /oldestCompatible:2\}\]/;
  const textOf = (file: string): string => readFileSync(join(dirname(program), file), "utf8");
  const files = readdirSync(dist).filter(
    (file) => file.endsWith(".cjs") && ends.test(textOf(file)),
  );
  if (files.length === 0) throw new Error("the last migration is not where this test looks for it");
  const more = added.map((one) =>
    JSON.stringify({ ...one, statements: [`create table autopilot.${one.about} (n int)`] }),
  );

  const all = `oldestCompatible:2},${more.join(",")}]`;
  for (const file of files) writeFileSync(join(dist, file), textOf(file).replace(ends, all));
  return join(dist, "autopilot.cjs");
}

function launch(
  by: string,
  { folder: cwd, env }: Machine,
  ...args: readonly string[]
): { readonly child: ChildProcess; readonly out: () => string } {
  const home = join(dirname(cwd), "home");
  mkdirSync(home, { recursive: true });

  const child = spawn(process.execPath, [by, ...args], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      USER: "tester",
      LANG: "C.UTF-8",
      XDG_CACHE_HOME: sharedCache,
      ...env,
    },
    stdio: ["ignore", "pipe", "ignore"],
  });

  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  running.push(child);

  return { child, out: () => out };
}
async function ended(
  by: string,
  machine: Machine,
  ...args: readonly string[]
): Promise<{ readonly result: string; readonly message: string }> {
  const { child, out } = launch(by, machine, ...args, "--json");
  await once(child, "close");
  return JSON.parse(out()) as { readonly result: string; readonly message: string };
}
async function drained(child: ChildProcess, then: () => void = () => undefined): Promise<void> {
  const gone = once(child, "close");
  child.kill("SIGTERM");
  then(); // whether the turn ends before the signal is heard or after, another goes on with the run
  await gone;
}
const orderOf = async (key: string): Promise<StoredOrder | undefined> =>
  (await listOrders(store.database, key))[0];
const outcome = (key: string): Promise<unknown> =>
  expect
    .poll(async () => (await orderOf(key))?.outcome ?? null, { timeout: 240_000, interval: 100 })
    .toMatch(/landed as/);
async function eventsOf(key: string): Promise<readonly string[]> {
  const found: string[] = [];
  await store.read(key, genesis, ({ event }) => void found.push(event));
  return found;
}

describe.skipIf(postgresBin === null)(`an upgrade${withoutPostgres}`, () => {
  beforeAll(() => {
    cluster = startCluster();
  });

  afterEach(async () => {
    for (const child of running.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }

    await store.close();
  });

  afterAll(() => {
    cluster.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("one machine at a time: both products work on one store, and on each other's runs; one that breaks with the older waits for its end; a run in a newer format is handed back untried, and the worker goes on with others", async () => {
    const one = { about: "adds", oldestCompatible: known };
    const adds = nextProduct([one]);
    const url = cluster.database("upgrade");
    const fleet = openFleet(url);
    expect((await at(fleet.first, "fleet", "init")).json.result).toBe("PASS");
    store = await openPostgresStore(url, { leaseMs: patientMs });
    const [turn, later] = [gate(), gate()];
    const slow = {
      do: [turn.waits, { write: { path: "a", text: "a\n" } }, { say: "not yet" }],
      confidence: 0.9,
    };

    const key = await submit(fleet.first, "b", [slow, makes("b")]);
    const old = launch(program, fleet.another(), "worker", "--name", "old");
    await expect
      .poll(() => eventsOf(key), { timeout: 120_000, interval: 100 })
      .toContain("session_opened");

    expect(await ended(adds, fleet.first, "fleet", "init"), "it only adds").toMatchObject({
      result: "PASS",
    });

    expect(cluster.sql("upgrade", "select max(version) from autopilot.schema_version")).toBe(
      String(known + 1),
    );

    await drained(old.child, () => turn.open());
    const next = launch(adds, fleet.another(), "worker", "--name", "next");
    await outcome(key);

    const other = await submit(fleet.first, "d", [
      { ...slow, do: [later.waits, { say: "not yet" }] },
      makes("d"),
    ]);
    await expect
      .poll(() => eventsOf(other), { timeout: 120_000, interval: 100 })
      .toContain("session_opened");

    const newer = "run-2026-01-02-030405.00000000";
    const line = String.raw`'{"seq":1,"journal":99,"what":"this product does not know"}'`;
    cluster.sql(
      "upgrade",
      `insert into autopilot.run (run_id, kind, seq, epoch) values ('${newer}', 'run', 1, 1)`,
    );

    cluster.sql(
      "upgrade",
      `insert into autopilot.entry values ('${newer}', 1, 1, convert_to(${line}, 'UTF8'))`,
    );

    const repository = (await orderOf(other))?.repository ?? "";
    await openOrders(store.database).offer({
      id: "newer.1",
      run: newer,
      repository,
      priority: 1,
      needs: [],
      slots: 8,
    });

    const again = launch(program, fleet.another(), "worker", "--name", "old");
    await drained(next.child, () => later.open());
    await outcome(other);

    const handedBack = {
      state: "offered",
      timesTaken: 0,
      outcome: expect.stringContaining("newer than this product knows") as string,
    };

    await expect
      .poll(() => orderOf(newer), { timeout: 120_000, interval: 100 })
      .toMatchObject(handedBack); // it is looked at again and again

    const taken = await at(fleet.first, "fleet", "take", newer);
    expect(taken.json, said(taken)).toMatchObject({ result: "FAIL", reason_code: "journal_newer" });
    expect((await at(fleet.first, "fleet", "doctor")).json).toMatchObject({ result: "PASS" });

    const breaks = nextProduct([one, { about: "breaks" }]);
    const refused = await ended(breaks, fleet.first, "fleet", "init");
    expect(refused).toMatchObject({
      result: "FAIL",
      reason_code: "store_unusable",
      message: expect.stringContaining("old (process") as string,
    });

    await drained(again.child);
    expect(await ended(breaks, fleet.first, "fleet", "init")).toMatchObject({ result: "PASS" });

    // In processes of their own: one that is at work already was inspected when it began.
    for (const args of [
      ["worker", "--name", "old"],
      ["fleet", "status"],
    ]) {
      const late = await ended(program, fleet.another(), ...args);
      expect(late, args.join(" ")).toMatchObject({ result: "FAIL", reason_code: "store_unusable" });
      expect(late.message).toContain("newer than this product knows");
    }
  });
});
