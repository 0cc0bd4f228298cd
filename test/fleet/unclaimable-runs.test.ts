// Runs that no worker can take: labels that nobody has, a hub that is another's, a worker that is
// gone. They can be stopped, and they cost their workers little.

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { migrate } from "../../src/fleet/postgres/migrate.ts";
import { openOrders } from "../../src/fleet/postgres/orders.ts";
import { listOrders } from "../../src/fleet/postgres/stored-orders.ts";
import { sendRequest } from "../../src/fleet/postgres/requests.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { genesis } from "../../src/journal/line.ts";
import type { OnOrder, WorkerHandle } from "../../src/ports/dispatch.ts";
import { type begin, until } from "../support/autopilot.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { longTest } from "../support/sampled.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import {
  at,
  type Fleet,
  makes,
  openFleet,
  patientMs,
  said,
  shortMs,
  submit,
  worker,
} from "./machines.ts";

let cluster: Cluster;
let store: PostgresStore | null = null;
let names = 0;
const running: ReturnType<typeof begin>[] = [];

async function fresh(
  leaseMs = patientMs,
): Promise<{ readonly fleet: Fleet; readonly store: PostgresStore }> {
  const url = cluster.database(`unclaimable_${names++}`);
  const made = await at({ folder: scratch(), env: { AUTOPILOT_STORE: url } }, "fleet", "init");
  expect(made.code, said(made)).toBe(0);
  store = await openPostgresStore(url, { leaseMs });

  return { fleet: openFleet(url, leaseMs), store };
}
const start = (...given: Parameters<typeof worker>): ReturnType<typeof begin> => {
  const one = worker(...given);
  running.push(one);
  return one;
};
async function eventsOf({ read }: PostgresStore, key: string): Promise<readonly string[]> {
  const found: string[] = [];
  await read(key, genesis, ({ event }) => void found.push(event));
  return found;
}
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(100);
}

describe.skipIf(postgresBin === null)(`a run that no worker can take${withoutPostgres}`, () => {
  beforeAll(() => {
    cluster = startCluster();
  });

  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill("SIGKILL");
      await ended;
    }

    await store?.close();
    store = null;
  });

  afterAll(() => cluster.stop());

  test("is stopped by the command itself, under the run's lease, and leaves the queue", async () => {
    const { fleet, store } = await fresh();
    start(fleet.another());
    const key = await submit(fleet.first, "a", [makes("a")], "--needs", "nobody-has-this");
    const before = await eventsOf(store, key);
    const stopped = await at(fleet.first, "fleet", "stop", key);
    expect(stopped.json, said(stopped)).toMatchObject({ result: "PASS", state: "stopped" });
    expect(said(stopped)).toContain("Nobody held it");
    expect(await eventsOf(store, key)).toEqual([...before, "control_requested", "run_stopped"]);
    expect((await listOrders(store.database, key)).map(({ state }) => state)).toEqual([
      "withdrawn",
    ]);

    expect((await store.runs()).map(({ holder, takeOvers }) => [holder, takeOvers])).toEqual([
      [null, 0],
    ]);

    const requests = await store.requests(key);
    expect(await requests.pending()).toEqual([]);
    await requests.close();
    expect((await at(fleet.first, "fleet", "stop", key)).json.reason_code).toBe(
      "invalid_state_transition",
    );
  });

  longTest(
    "because its workers have another hub is stopped too; a worker that gets an order of it nevertheless ends it without the hub",
    "test/fleet/unclaimable-runs.test.ts › is stopped by the command itself, under the run's lease, and leaves the queue",
    async () => {
      const { fleet, store } = await fresh();
      const copy = `${fleet.hub}.copy`;
      git(fleet.first.folder, "clone", "-q", "--mirror", fleet.hub, copy);
      const key = await submit(fleet.first, "a", [makes("a")]);
      start(fleet.another({ AUTOPILOT_HUB: copy }));
      await eventually(
        async () =>
          (await listOrders(store.database, key))[0]?.outcome?.includes("another hub") === true,
      );

      const stopped = await at(fleet.first, "fleet", "stop", key);
      expect(stopped.json, said(stopped)).toMatchObject({ result: "PASS" });
      expect((await eventsOf(store, key)).at(-1)).toBe("run_stopped");
      const [last] = await listOrders(store.database, key);
      if (last === undefined) throw new Error("it has no order");
      await openOrders(store.database).offer({ ...last, id: "late" });
      await eventually(async () => (await listOrders(store.database, key))[0]?.state === "ended");
      expect((await listOrders(store.database, key))[0]?.outcome).toMatch(/^stopped/);
    },
  );

  test("because its only worker is dead is stopped when the lease has lapsed; the turn it was at is written off", async () => {
    const { fleet, store } = await fresh(shortMs);
    const key = await submit(fleet.first, "a", [makes("a", 600_000)]);
    const one = start(fleet.another());
    await eventually(async () => (await eventsOf(store, key)).includes("session_opened"));
    one.child.kill("SIGKILL");
    await one.ended;
    const early = await at(fleet.first, "fleet", "stop", key);
    expect(early.json, said(early)).toMatchObject({ result: "PASS", state: "running" });
    expect(said(early), "its lease holds: the worker may be alive").toContain(
      "as soon as its worker has read it",
    );

    await eventually(async () => (await store.runs())[0]?.holder === null);
    const stopped = await at(fleet.first, "fleet", "stop", key);
    expect(stopped.json, said(stopped)).toMatchObject({ result: "PASS", state: "stopped" });
    const last = ["control_requested", "control_requested", "step_interrupted", "run_stopped"];
    expect((await eventsOf(store, key)).slice(-last.length)).toEqual(last);
    const exported = join(fleet.first.folder, "..", `${key}.jsonl`);
    await at(fleet.first, "fleet", "export", key, "--to", exported);
    expect((await at(fleet.first, "validate", exported)).code).toBe(0);
  });
});

describe.skipIf(postgresBin === null)(
  `an order that a worker could do nothing with${withoutPostgres}`,
  () => {
    beforeAll(() => {
      cluster = startCluster();
    });

    afterAll(() => cluster.stop());

    test("is left alone by that worker for a while, not by others, and not when somebody has said something to its run", async () => {
      const database = connect(cluster.database("paused_orders"), { answerMs: 20_000 });
      await migrate(database, "test");
      const dispatch = openOrders(database, { leaseMs: patientMs });
      const taken: string[] = [];

      const work = (name: string): Promise<WorkerHandle> => {
        const on: OnOrder = async () => {
          taken.push(name);
          return {
            kind: "again",
            afterMs: 0,
            because: "another hub",
            isTrouble: true,
            isUntried: true,
          };
        };

        return dispatch.work({ worker: name, jobs: 1, labels: [], repositories: ["r"] }, on);
      };
      const one = await work("one");
      await dispatch.offer({
        id: "a",
        run: "run-a",
        repository: "r",
        priority: 3,
        needs: [],
        slots: 1,
      });

      await sleep(2_500); // it looks ten times, and the order is free
      expect(taken).toEqual(["one"]);
      const two = await work("two");
      await until("the other", () => taken.includes("two"));
      await two.drain();
      taken.length = 0;
      await sendRequest(database, "run-a", {
        event: "control_requested",
        control: "stop",
        now: true,
        request: "00000000-0000-4000-8000-000000000001",
        actor: "operator:kim",
      });

      await until("the request", () => taken.includes("one"));
      await sleep(1_500);
      expect(taken, "once for each").toEqual(["one"]);
      await one.drain();
      await database.close();
    });
  },
);
