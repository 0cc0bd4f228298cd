// Workers that take runs from a store by themselves, on several "machines", as a user starts them.

import { execFileSync } from "node:child_process";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openOrders } from "../../src/fleet/postgres/orders.ts";
import { listOrders, type StoredOrder } from "../../src/fleet/postgres/stored-orders.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { genesis } from "../../src/journal/line.ts";
import type { begin } from "../support/autopilot.ts";
import { processesOf, until } from "../support/autopilot.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { git, scratch } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import {
  at,
  type Fleet,
  gate,
  makes,
  openFleet,
  patientMs,
  refusePushes,
  said,
  shortMs,
  submit,
  worker,
} from "./machines.ts";

let cluster: Cluster;
let store: PostgresStore;
let names = 0;
const running: ReturnType<typeof begin>[] = [];

async function fresh(leaseMs = patientMs): Promise<Fleet> {
  const url = cluster.database(`workers_${names++}`);
  const made = await at(
    { folder: scratch(), env: { AUTOPILOT_STORE: url, AUTOPILOT_LEASE_MS: String(patientMs) } },
    "fleet",
    "init",
  );
  expect(made.code, said(made)).toBe(0);
  store = await openPostgresStore(url, { leaseMs: patientMs });

  return openFleet(url, leaseMs);
}
const start = (...given: Parameters<typeof worker>): ReturnType<typeof begin> => {
  const one = worker(...given);
  running.push(one);
  return one;
};
async function orderOf(key: string): Promise<StoredOrder> {
  const [order] = await listOrders(store.database, key);
  if (order === undefined) throw new Error(`no order of ${key}`);
  return order;
}
async function ended(key: string): Promise<StoredOrder> {
  for (;;) {
    const order = await orderOf(key);
    if (order.state === "ended") return order;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
async function events(
  key: string,
): Promise<readonly { readonly event: string; readonly reason_code: string }[]> {
  const found: { readonly event: string; readonly reason_code: string }[] = [];
  await store.read(key, genesis, (entry) => void found.push(entry));
  return found;
}
async function eventually(key: string, event: string): Promise<void> {
  while (!(await events(key)).some((one) => one.event === event)) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
const onHub = (fleet: Fleet, ...args: readonly string[]): string => git(fleet.hub, ...args);

describe.skipIf(postgresBin === null)(`workers${withoutPostgres}`, () => {
  beforeAll(() => {
    cluster = startCluster();
  });

  afterEach(async () => {
    for (const { child, ended: gone } of running.splice(0)) {
      child.kill("SIGKILL");
      await gone;
    }

    await store.close();
  });

  afterAll(() => cluster.stop());

  test("take what was submitted, each run once, and land it on the hub's branch; asked to end they drain; a store that is behind the hub, as after a restored backup, has nothing bought or landed again", async () => {
    const fleet = await fresh();
    const keys: string[] = [];
    for (const path of ["a", "b"]) keys.push(await submit(fleet.first, path, [makes(path)]));
    const restore = cluster.dump(`workers_${names - 1}`);
    const [one, two] = [start(fleet.another(), "--jobs", "2"), start(fleet.another())];
    const orders = await Promise.all(keys.map(ended));

    for (const { outcome } of orders) {
      expect(outcome).toMatch(/^completed, verified, landed as [0-9a-f]{12}$/);
    }

    expect(onHub(fleet, "ls-tree", "--name-only", "main").split("\n")).toEqual([
      "README.md",
      "a",
      "b",
    ]);

    const status = await at(fleet.first, "fleet", "status");
    expect((status.json["workers"] as readonly unknown[]).length).toBe(2);
    // Listed by key; two that were submitted within a second follow each other as chance has it.
    const listed = orders.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    expect(status.json["runs"]).toEqual(
      listed.map(({ id, outcome }): unknown =>
        expect.objectContaining({ last_order: { order: id, state: "ended", outcome } }),
      ),
    );

    for (const { child, ended: gone } of [one, two]) {
      child.kill("SIGTERM");
      const left = await gone;
      expect(left.json, said(left)).toMatchObject({ result: "PASS" });
    }

    expect((await store.runs()).map(({ holder, takeOvers }) => [holder, takeOvers])).toEqual(
      keys.map(() => [null, 0]),
    );

    for (const key of keys) {
      const all = await events(key);
      expect(all.filter(({ event }) => event === "run_completed")).toHaveLength(1);
      expect(all.filter(({ event }) => event === "turn_ended")).toHaveLength(1);
    }

    // Nothing of it is left in the clone that submitted them.
    expect(git(fleet.first.folder, "status", "--porcelain")).toBe("");
    expect((await at(fleet.first, "runs")).json["runs"]).toEqual([]);

    const landed = onHub(fleet, "rev-parse", "main");
    const url = cluster.database("from_backup");
    restore("from_backup");
    await store.close();
    store = await openPostgresStore(url, { leaseMs: patientMs });
    const before = await Promise.all(keys.map(events));
    start(fleet.another({ AUTOPILOT_STORE: url }), "--name", "later");

    for (const { outcome } of await Promise.all(keys.map(ended))) {
      expect(outcome).toMatch(
        /^failed: .*the hub has work of epoch \d+ of .*, and the store is back at epoch \d+/,
      );
    }

    expect([await Promise.all(keys.map(events)), onHub(fleet, "rev-parse", "main")]).toEqual([
      before,
      landed,
    ]);
  });

  test("a worker that is asked to end gives its run back when the turn ends, a killed one's is taken up by another: nothing acknowledged is lost, finished turns are not bought again", async () => {
    const fleet = await fresh(shortMs);
    const turn = gate();

    const key = await submit(fleet.first, "b", [
      {
        do: [turn.waits, { write: { path: "a", text: "a\n" } }, { say: "not yet" }],
        confidence: 0.9,
      },
      makes("b", 2_000),
    ]);

    const patient = { AUTOPILOT_LEASE_MS: String(patientMs) };
    const one = start(fleet.another(patient));
    await eventually(key, "session_opened");
    one.child.kill("SIGTERM");
    await eventually(key, "control_requested");
    turn.open();
    const left = await one.ended;
    expect(left.json, said(left)).toMatchObject({ result: "PASS", returned: 1 });
    expect((await events(key)).filter(({ event }) => event === "turn_ended")).toHaveLength(1);
    expect((await orderOf(key)).state).toBe("offered");

    const machine = fleet.another();
    const processes = (): readonly number[] =>
      processesOf(
        key.split(".")[0] ?? "",
        join(machine.folder, ".autopilot/worker/copies/two", key),
      );

    const two = start(machine, "--name", "two");
    await until("the second turn", () => processes().length > 0);
    two.child.kill("SIGKILL");
    await two.ended;
    const before = (await events(key)).length;
    start(fleet.another(patient));
    const { outcome } = await ended(key);
    expect(outcome).toMatch(/^completed, verified, landed as/);
    const all = await events(key);
    expect(all.length).toBeGreaterThan(before);
    expect(all.filter(({ event }) => event === "changes_applied")).toHaveLength(2);
    expect(onHub(fleet, "ls-tree", "--name-only", "main").split("\n")).toEqual([
      "README.md",
      "a",
      "b",
    ]);

    expect(processes()).toEqual([]);
  });

  longTest(
    "a pause that a person asked for outlives a worker that is asked to end at the same time",
    "src/commands/fleet/order-end.test.ts › a person's pause outlives the worker; a worker's own is gone on with by the next one",
    async () => {
      const fleet = await fresh();
      const turn = gate();

      const key = await submit(fleet.first, "b", [
        {
          do: [turn.waits, { write: { path: "a", text: "a\n" } }, { say: "not yet" }],
          confidence: 0.9,
        },
        makes("b"),
      ]);

      const one = start(fleet.another());
      await eventually(key, "session_opened");
      expect((await at(fleet.first, "fleet", "pause", key)).json).toMatchObject({ result: "PASS" });
      await eventually(key, "control_requested");
      let heard = "";
      one.child.stderr?.on("data", (text: string) => (heard += text));
      one.child.kill("SIGTERM");
      await until("the worker to drain", () => heard.includes("Draining"));
      turn.open();
      await one.ended;
      expect(await orderOf(key)).toMatchObject({
        state: "ended",
        outcome: "rests: paused on request",
      });

      start(fleet.another());
      await at(fleet.first, "fleet", "resume", key);
      expect((await ended(key)).outcome).toMatch(/landed as/);
    },
  );

  test("a run that workers die of is given to no further one until a person says so; questions are answered, and runs paused, resumed and stopped, from another machine", async () => {
    const fleet = await fresh();
    const asks = await submit(fleet.first, "b", [
      { do: [{ ask: { question: "Which way?", options: ["left", "right"] } }], confidence: 0.9 },
      makes("b"),
    ]);
    const before = (await events(asks)).length;
    // Four died soon after they had got it, and a fifth has it.
    await store.database.query(
      "update autopilot.work_order set state = 'taken', worker_id = 'gone', worker_epoch = 1, taken_at = now(), times_taken = 5, deaths = 4",
    );

    start(fleet.another(), "--jobs", "2");
    expect((await ended(asks)).outcome).toBe(
      "failed: 5 workers in a row died or fell silent soon after they had got it",
    );

    expect((await events(asks)).length, "nothing of it was touched").toBe(before);
    const shown = await at(fleet.first, "fleet", "status", "--all");
    expect(said(shown)).toContain("5 workers in a row died");
    await at(fleet.first, "fleet", "resume", asks);

    expect((await ended(asks)).outcome).toContain("Which way?");
    const wrong = await at(fleet.first, "fleet", "answer", asks, "left", "--block", "another");
    expect(wrong.json, said(wrong)).toMatchObject({
      result: "FAIL",
      reason_code: "human_block_open",
    });

    const given = await at(fleet.first, "fleet", "answer", asks, "left");
    expect(given.json, said(given)).toMatchObject({ result: "PASS" });
    expect((await ended(asks)).outcome).toMatch(/landed as/);

    const long = await submit(fleet.first, "c", [makes("c", 60_000), makes("c")]);
    await eventually(long, "session_opened");
    const paused = await at(fleet.first, "fleet", "pause", long, "--now");
    expect(paused.json, said(paused)).toMatchObject({ result: "PASS" });
    expect((await ended(long)).outcome).toMatch(/^rests: /);
    expect((await at(fleet.first, "fleet", "pause", long)).json.reason_code).toBe(
      "invalid_state_transition",
    );

    await at(fleet.first, "fleet", "resume", long);
    while ((await events(long)).filter(({ event }) => event === "session_opened").length < 2) {
      await new Promise((go) => setTimeout(go, 100));
    }

    expect((await at(fleet.first, "fleet", "stop", long)).json).toMatchObject({ result: "PASS" });
    expect((await ended(long)).outcome).toMatch(/^stopped/);
    expect((await at(fleet.first, "fleet", "stop", long)).json.reason_code).toBe(
      "invalid_state_transition",
    );

    expect(
      (await at(fleet.first, "fleet", "stop", "run-2026-01-02-030405.00000000")).json.reason_code,
    ).toBe("run_missing");
  });

  longTest(
    "a completed run whose workers died before they said what became of it lands when a person says to go on, and only once",
    "test/fleet/workers.test.ts › a run that workers die of is given to no further one until a person says so; questions are answered, and runs paused, resumed and stopped, from another machine",
    async () => {
      const fleet = await fresh();
      const before = onHub(fleet, "rev-parse", "main");
      const key = await submit(fleet.first, "a", [makes("a")]);
      start(fleet.another());
      expect((await ended(key)).outcome).toMatch(/landed as/);
      const landed = onHub(fleet, "rev-parse", "main");
      expect(
        (await at(fleet.first, "fleet", "resume", key)).json.reason_code,
        "it has landed",
      ).toBe("invalid_state_transition");

      for (const tip of [landed, before]) {
        git(fleet.hub, "update-ref", "refs/heads/main", tip);
        await store.database.query(
          "update autopilot.work_order set outcome = 'failed: 5 workers in a row died' where run_id = $1",
          [key],
        );

        expect((await at(fleet.first, "fleet", "stop", key)).json.reason_code).toBe(
          "invalid_state_transition",
        );

        const again = await at(fleet.first, "fleet", "resume", key);
        expect(again.code, said(again)).toBe(0);
        expect((await ended(key)).outcome).toMatch(/^completed, verified, landed as/);
        expect(
          onHub(fleet, "log", "--no-merges", "--format=%H", "main", "--", "a").split("\n"),
        ).toHaveLength(1);
      }
    },
  );

  longTest(
    "a landing that lost the race is proved on the new tip, and what fails or is refused there stays on its ref",
    "test/fleet/hub.test.ts › a branch of the hub moves only from where it was looked at, and of many at once one lands",
    async () => {
      const fleet = await fresh();
      const elsewhere = fleet.another();

      const push = (path: string, text: string): void => {
        git(elsewhere.folder, "pull", "-q", fleet.hub, "main");
        execFileSync("sh", [
          "-c",
          `printf '%s' "$2" > "$1"`,
          "sh",
          join(elsewhere.folder, path),
          text,
        ]);

        git(elsewhere.folder, "add", "-A");
        git(elsewhere.folder, "commit", "-q", "-m", path);
        git(elsewhere.folder, "push", "-q", fleet.hub, "HEAD:main");
      };

      const merged = await submit(fleet.first, "b", [makes("b")]);
      const broken = await submit(
        fleet.first,
        "d",
        [makes("d")],
        "--done-criteria",
        "no e beside it :: test ! -f e",
      );

      const kept = await submit(fleet.first, "h", [makes("h")], "--holdout", "test ! -f e");
      const conflicts = await submit(fleet.first, "f", [makes("f")]);
      const refused = await submit(fleet.first, "g", [makes("g")], "--needs", "later");
      push("e", "e\n");
      push("f", "another f\n");
      start(fleet.another(), "--jobs", "3");
      expect((await ended(merged)).outcome).toMatch(/landed as/);
      expect((await ended(broken)).outcome).toMatch(
        /not landed: it passes alone and fails on the new tip: .*test ! -f e/,
      );

      expect((await ended(kept)).outcome).toMatch(
        /not landed: it passes alone and fails on the new tip: failed: holdout 1/,
      );

      expect((await ended(conflicts)).outcome).toMatch(
        /not landed: it conflicts with what has landed in f/,
      );

      expect(onHub(fleet, "ls-tree", "--name-only", "main").split("\n")).toEqual([
        "README.md",
        "b",
        "e",
        "f",
      ]);

      expect(onHub(fleet, "show", "main:f")).toBe("another f");
      expect(onHub(fleet, "log", "--merges", "--format=%s", "main")).toContain("Merge run-");
      refusePushes(fleet.hub, "refs/heads/main", "main is protected");
      start(fleet.another(), "--labels", "later", "--name", "able");
      expect((await ended(refused)).outcome).toMatch(
        /not landed: the hub refuses it: .*main is protected/,
      );

      rmSync(join(fleet.hub, "hooks", "pre-receive"));
    },
  );

  test("the hub is looked at first: another repository's, or one without the branch, takes no worker and no run; one that is away is waited for, and one that is not the run's gives it back untried", async () => {
    const fleet = await fresh();
    const strange = openFleet(fleet.first.env["AUTOPILOT_STORE"] ?? "", undefined, {
      "other.md": "another\n",
    });

    const empty = `${fleet.hub}.empty`;
    git(fleet.first.folder, "init", "-q", "--bare", "-b", "main", empty);

    for (const [hub, why] of [
      [strange.hub, "is a branch of another repository"],
      [empty, "has no branch main"],
    ] as const) {
      const machine = fleet.another({ AUTOPILOT_HUB: hub });
      for (const args of [
        ["worker"],
        ["fleet", "submit", "make b", "--yes", "--agent", "scripted:/nowhere"],
      ]) {
        expect((await at(machine, ...args)).json).toMatchObject({
          reason_code: "hub_unusable",
          message: expect.stringContaining(why) as string,
        });
      }

      expect(git(hub, "for-each-ref", "refs/autopilot")).toBe("");
    }

    const copy = `${fleet.hub}.copy`;
    git(fleet.first.folder, "clone", "-q", "--mirror", fleet.hub, copy); // the same branches, and so the same first commit
    const key = await submit(fleet.first, "a", [makes("a")]);
    const before = await events(key);
    start(fleet.another({ AUTOPILOT_HUB: copy }), "--name", "wrong");
    const told = async (): Promise<string> => said(await at(fleet.first, "fleet", "status"));
    const sentence = `${copy}, the hub of this worker, has no commit of ${key}: it was submitted through another hub`;
    await expect.poll(told, { timeout: 120_000, interval: 500 }).toContain(sentence);
    expect([
      await events(key),
      git(copy, "for-each-ref", "refs/autopilot"),
      (await orderOf(key)).timesTaken,
    ]).toEqual([before, "", 0]);

    const [machine, away] = [
      fleet.another({ AUTOPILOT_HUB: `file://${fleet.hub}` }),
      `${fleet.hub}.away`,
    ]; // known under any of its names
    renameSync(fleet.hub, away);
    start(machine, "--name", "right");
    await expect
      .poll(told, { timeout: 120_000, interval: 500 })
      .toContain("Asking the hub for a run failed");

    renameSync(away, fleet.hub);
    expect((await ended(key)).outcome).toMatch(/landed as/);
    expect(git(copy, "ls-tree", "--name-only", "main")).toBe("README.md");
  });

  test("a second worker of one name is refused, and so is one without a hub, a store or a whole clone", async () => {
    const fleet = await fresh();
    const machine = fleet.another();
    const one = { worker: "one", jobs: 1, labels: [], repositories: [] };
    const taken = await openOrders(store.database, { leaseMs: patientMs }).work(one, () =>
      Promise.reject(new Error("it is given no order")),
    );

    const second = await at(fleet.another(), "worker", "--name", "one");
    expect(second.json, said(second)).toMatchObject({
      result: "FAIL",
      reason_code: "worker_name_taken",
    });

    const { AUTOPILOT_HUB: _hub, ...without } = machine.env;
    expect((await at({ ...machine, env: without }, "worker")).json.reason_code).toBe(
      "hub_unreachable",
    );

    expect(
      (await at({ ...machine, env: without }, "fleet", "submit", "make b", "--yes")).json
        .reason_code,
    ).toBe("hub_unreachable");

    expect((await at({ folder: machine.folder, env: {} }, "worker")).json.reason_code).toBe(
      "store_unusable",
    );

    expect((await at(machine, "worker", "--labels", "no/label")).code).not.toBe(0);
    const shallow = fleet.another();
    git(shallow.folder, "fetch", "-q", "--depth", "1", `file://${fleet.hub}`, "main");
    rmSync(join(shallow.folder, ".git/shallow"), { force: true });
    execFileSync("sh", [
      "-c",
      `git -C "$1" rev-parse HEAD > "$1/.git/shallow"`,
      "sh",
      shallow.folder,
    ]);

    expect((await at(shallow, "worker", "--name", "two")).json.reason_code).toBe(
      "workspace_unusable",
    );

    const preview = await at(
      fleet.first,
      "fleet",
      "submit",
      "make b",
      "--agent",
      "scripted:/nowhere",
    );
    expect(preview.code).not.toBe(0);
    await taken.drain();
  });
});
