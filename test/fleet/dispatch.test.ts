// What hands runs to workers, held to its port. A worker that is killed or stopped is a process of
// its own; the others take orders here, where the engine allows for several.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { hastenOrders, listOrders } from "../../src/fleet/postgres/stored-orders.ts";
import { sendRequest } from "../../src/fleet/postgres/requests.ts";
import { migrate } from "../../src/fleet/postgres/migrate.ts";
import type { Dispatch, WorkerRegistration, WorkOrder } from "../../src/ports/dispatch.ts";
import type { RunRequest } from "../../src/ports/request-queue.ts";
import { until } from "../support/autopilot.ts";
import { type Cluster, startCluster, withoutPostgres } from "../support/postgres.ts";
import { hasTurn, isLong } from "../support/sampled.ts";
import { openEngine, withoutEngine } from "./engines.ts";
import { type Said, takeOrders } from "./order-taking.ts";

const program = `node_modules/.cache/order-taker-${process.pid}.mjs`;
const leaseMs = 2_400;
/**
 * Long enough that a worker has looked several times; a test that waits this long shows that
 * nothing happens.
 */
const quietMs = 1_500;

type Taker = {
  readonly said: Said[];
  readonly begun: () => readonly string[];
  readonly report: (line: string) => void;
};

type Killable = Taker & { readonly child: ChildProcess };

let cluster: Cluster;
let url: string;
let dispatch: Dispatch;
const takers: Taker[] = [];
const leaves: (() => Promise<void>)[] = [];
let databases = 0;

type Named = Partial<WorkerRegistration> & { readonly worker: string };
const whole = (seat: Named): WorkerRegistration => ({
  jobs: 1,
  labels: [],
  repositories: ["r"],
  ...seat,
});
const takerOf = (said: Said[], report: Taker["report"]): Taker => ({
  said,
  report,
  begun: () => said.flatMap(({ begun }) => begun ?? []),
});

function launch(engine: string, seat: Named): Killable {
  const child = spawn(
    process.execPath,
    [program, engine, url, String(leaseMs), JSON.stringify(whole(seat))],
    {
      stdio: ["pipe", "pipe", "inherit"],
    },
  );

  const said: Said[] = [];
  createInterface({ input: child.stdout }).on(
    "line",
    (line) => void said.push(JSON.parse(line) as Said),
  );

  const taker = { ...takerOf(said, (line) => void child.stdin.write(`${line}\n`)), child };
  takers.push(taker);
  leaves.push(() => end(child));

  return taker;
}

/** One that nothing happens to. */
function sit(engine: string, seat: Named): Taker {
  if (engine !== "sql") return launch(engine, seat);
  const said: Said[] = [];
  const taking = takeOrders(
    { engine, url, leaseMs, worker: whole(seat) },
    (one) => void said.push(one),
  );
  const taker = takerOf(said, taking.hear);
  takers.push(taker);
  leaves.push(taking.leave);

  return taker;
}
const ready = (taker: Taker): Promise<unknown> =>
  until("a worker", () => taker.said.some((one) => one.ready === true));
const hasBegun = (taker: Taker, id: string, times = 1): Promise<unknown> =>
  until(`${id} begun`, () => taker.begun().filter((one) => one === id).length >= times);
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
const order = (id: string, more: Partial<WorkOrder> = {}): WorkOrder => ({
  id,
  run: `run-${id}`,
  repository: "r",
  priority: 3,
  needs: [],
  slots: 10,
  ...more,
});

const promisesOf = (engine: string) => (): void => {
  beforeAll(async () => {
    const bundle = await rolldown({
      input: "test/fleet/order-taker.ts",
      external: ["fs-native-extensions", "pg-native"],
      platform: "node",
    });
    await bundle.write({ file: program, format: "esm", codeSplitting: false });
    await bundle.close();
    cluster = startCluster();
  });

  afterAll(() => {
    cluster.stop();
    rmSync(program, { force: true });
  });

  const fresh = async (): Promise<void> => {
    url = cluster.database(`orders_${engine}_${databases++}`);
    const database = connect(url, { answerMs: 20_000 });
    await migrate(database, "test");
    await database.close();
    dispatch = await openEngine(engine, url, leaseMs);
  };

  afterEach(async () => {
    takers.length = 0;
    await Promise.all(leaves.splice(0).map((leave) => leave()));
    await dispatch.close();
  });

  test("an order that is offered twice is one, is begun once, and never again when it has ended", async () => {
    await fresh();
    expect([await dispatch.offer(order("a")), await dispatch.offer(order("a"))]).toEqual([
      true,
      false,
    ]);

    const [one, two] = [sit(engine, { worker: "one" }), sit(engine, { worker: "two" })];
    const has = await until("an order", () => [one, two].find((taker) => taker.begun().length > 0));
    await sleep(quietMs);
    has.report("end a");
    await sleep(quietMs);
    expect(
      await dispatch.offer(order("a")),
      "what is over is not offered again under the same name",
    ).toBe(false);

    await sleep(quietMs);
    expect([...one.begun(), ...two.begun()]).toEqual(["a"]);
  });

  test("priority is strict, over all repositories, then age", async () => {
    await fresh();
    const one = sit(engine, { worker: "one", repositories: ["r", "s"] });
    await dispatch.offer(order("first"));
    await hasBegun(one, "first");
    await dispatch.offer(order("p5", { priority: 5 }));
    await dispatch.offer(order("p3", { priority: 3, repository: "s" }));
    await dispatch.offer(order("p1", { priority: 1 }));
    await dispatch.offer(order("p1-later", { priority: 1, repository: "s" }));

    for (const [ends, begins] of [
      ["first", "p1"],
      ["p1", "p1-later"],
      ["p1-later", "p3"],
      ["p3", "p5"],
    ] as const) {
      one.report(`end ${ends}`);
      await hasBegun(one, begins);
    }

    expect(one.begun()).toEqual(["first", "p1", "p1-later", "p3", "p5"]);
  });

  test("no repository has more than its slots, no worker more than its jobs, however many take at once", async () => {
    await fresh();
    for (let n = 0; n < 8; n++) await dispatch.offer(order(`a${n}`, { repository: "a", slots: 2 }));
    for (let n = 0; n < 8; n++) {
      await dispatch.offer(order(`b${n}`, { repository: "b", slots: 100 }));
    }

    const three = ["one", "two", "three"].map((worker) =>
      sit(engine, { worker, jobs: 3, repositories: ["a", "b"] }),
    );
    const open = new Map<Taker, Set<string>>(three.map((taker) => [taker, new Set()]));
    const seen = new Set<string>();
    while (seen.size < 16) {
      for (const taker of three) {
        for (const id of taker.begun()) {
          if (!seen.has(id)) open.get(taker)?.add(id);
          seen.add(id);
        }
      }

      const all = [...open.values()].flatMap((ids) => [...ids]);
      expect(all.filter((id) => id.startsWith("a")).length).toBeLessThanOrEqual(2);
      for (const ids of open.values()) expect(ids.size).toBeLessThanOrEqual(3);
      // Noted as ended before it is reported, so that a count can only be too small by what has not
      // been seen yet.
      const [taker, ids] = [...open].find(([, one]) => one.size > 0) ?? [];
      const [id] = ids ?? [];
      if (taker === undefined || id === undefined) {
        await sleep(20);
        continue;
      }

      await sleep(60);
      ids?.delete(id);
      taker.report(`end ${id}`);
    }

    expect(three.flatMap((taker) => taker.begun()).toSorted()).toEqual([...seen].toSorted());
  });

  test("an order goes only where its repository is served and its labels are, and not before its time", async () => {
    await fresh();
    const plain = sit(engine, { worker: "plain", jobs: 5 });
    await ready(plain);
    const notBefore = new Date(Date.now() + 2_000).toISOString();
    await dispatch.offer(order("elsewhere", { repository: "s" }));
    await dispatch.offer(order("gpu", { needs: ["gpu"] }));
    await dispatch.offer(order("both", { needs: ["docker", "gpu"] }));
    await dispatch.offer(order("later", { notBefore }));
    await hasBegun(plain, "later");
    expect(plain.said.find(({ begun }) => begun === "later")?.at).toBeGreaterThanOrEqual(
      Date.parse(notBefore),
    );

    expect(plain.begun()).toEqual(["later"]);
    const able = sit(engine, { worker: "able", jobs: 5, labels: ["docker", "gpu", "more"] });
    await hasBegun(able, "both");
    await hasBegun(able, "gpu");
    expect(plain.begun()).toEqual(["later"]);
  });

  test("what is withdrawn is handed to nobody, and its slot is free at once, also where a dead worker had it", async () => {
    await fresh();
    const one = launch(engine, { worker: "one" });
    await dispatch.offer(order("held", { slots: 1 }));
    await hasBegun(one, "held");
    expect(await dispatch.withdraw("held"), "a living worker has it").toBe(false);
    await dispatch.offer(order("never", { slots: 1 }));
    await dispatch.offer(order("next", { slots: 1 }));
    expect(await dispatch.withdraw("never")).toBe(true);
    expect(await dispatch.withdraw("never")).toBe(false);
    expect(await dispatch.withdraw("unknown")).toBe(false);
    await end(one.child);
    while (!(await dispatch.withdraw("held"))) await sleep(50); // its lease has to lapse
    const two = sit(engine, { worker: "two" });
    await hasBegun(two, "next");
    two.report("end next");
    await sleep(leaseMs + quietMs);
    expect(two.begun()).toEqual(["next"]);
  });

  test("what a killed worker had is begun by another, and what is given back is begun again", async () => {
    await fresh();
    const one = launch(engine, { worker: "one" });
    await dispatch.offer(order("a"));
    await hasBegun(one, "a");
    const two = sit(engine, { worker: "two" });
    await ready(two);
    await end(one.child);
    await hasBegun(two, "a");
    two.report("again a");
    await hasBegun(two, "a", 2);
    two.report("end a");
    await sleep(quietMs);
    expect(two.begun()).toEqual(["a", "a"]);
  });

  test("an order says how many workers in a row died with it; one that gives it back begins the count anew", async () => {
    await fresh();
    const deaths = (): readonly (number | undefined)[] =>
      takers
        .slice(-3)
        .flatMap(({ said }) => said.flatMap((one) => (one.begun === "a" ? [one.deaths] : [])));

    await dispatch.offer(order("a"));
    for (const worker of ["one", "two"]) {
      const taker = launch(engine, { worker });
      await hasBegun(taker, "a");
      await end(taker.child);
    }

    const last = sit(engine, { worker: "three" });
    await hasBegun(last, "a");
    last.report("again a");
    await hasBegun(last, "a", 2);
    expect(deaths()).toEqual([0, 1, 2, 0]);
    last.report("end a");
  });

  test("a worker that drains takes nothing more and is done when its orders are", async () => {
    await fresh();
    const one = sit(engine, { worker: "one", jobs: 2 });
    await dispatch.offer(order("a"));
    await hasBegun(one, "a");
    one.report("drain");
    await sleep(quietMs / 2);
    await dispatch.offer(order("b"));
    await sleep(quietMs);
    expect(
      one.said.some(({ over }) => over !== undefined),
      "it is not done yet",
    ).toBe(false);

    one.report("end a");
    await until("its end", () => one.said.some(({ over }) => over === null));
    expect(one.begun()).toEqual(["a"]);
    await hasBegun(sit(engine, { worker: "two" }), "b");
  });

  test("what was taken in a worker's name while the answer got lost is handed out again, and counts as one try", async () => {
    await fresh();
    const database = connect(url, { answerMs: 20_000 });
    const one = sit(engine, { worker: "one", jobs: 2 });
    await dispatch.offer(order("known"));
    await hasBegun(one, "known");
    await dispatch.offer(
      order("lost", { notBefore: new Date(Date.now() + 3_600_000).toISOString() }),
    );

    await database.query(
      `update autopilot.work_order set state = 'taken', worker_id = 'one', worker_epoch = (select epoch from autopilot.worker), times_taken = 1,
        not_before = now() where order_id = 'lost'`,
    );

    await hasBegun(one, "lost");
    const [lost] = await listOrders(database, "run-lost");
    await database.close();
    expect(one.begun(), "what it knows of is not given back").toEqual(["known", "lost"]);
    expect(lost?.timesTaken).toBe(1);
  });

  test("a second order of a run waits until the first is through", async () => {
    await fresh();
    const one = sit(engine, { worker: "one", jobs: 2 });
    await dispatch.offer(order("first", { run: "same" }));
    await hasBegun(one, "first");
    await dispatch.offer(order("second", { run: "same" }));
    await dispatch.offer(order("other"));
    await hasBegun(one, "other");
    one.report("end other");
    await sleep(quietMs);
    expect(one.begun()).toEqual(["first", "other"]);
    one.report("end first");
    await hasBegun(one, "second");
  });

  test("a word that the run has not read has its order handed out again, once; one that waits for its time is hastened", async () => {
    await fresh();
    const database = connect(url, { answerMs: 20_000 });

    const leave = (request: string, control: string) =>
      sendRequest(database, "run-a", {
        event: "control_requested",
        control,
        now: true,
        request,
        actor: "operator:kim",
      } as RunRequest);

    const one = sit(engine, { worker: "one" });
    expect(await hastenOrders(database, "run-a"), "nobody will read it").toBe(false);
    await dispatch.offer(order("a", { notBefore: new Date(Date.now() + 3_600_000).toISOString() }));
    expect(await hastenOrders(database, "run-a")).toBe(true);
    await hasBegun(one, "a");
    await leave("late", "stop");
    one.report("end a");
    await hasBegun(one, "a", 2);
    expect(
      (await listOrders(database, "run-a"))[0]?.timesTaken,
      "begun anew by a person's word",
    ).toBe(1);

    await leave("rests-already", "pause");
    one.report("end a");
    await sleep(quietMs);
    const [ended] = await listOrders(database, "run-a");
    await database.close();
    expect([one.begun(), ended?.state]).toEqual([["a", "a"], "ended"]);
  });

  test("two workers of one name are never both alive", async () => {
    await fresh();
    const one = launch(engine, { worker: "one" });
    await ready(one);
    const second = launch(engine, { worker: "one" });
    expect(
      await until("a refusal", () => second.said.find(({ refused }) => refused !== undefined)),
    ).toMatchObject({
      refused: "worker_name_taken",
    });

    await dispatch.offer(order("a"));
    await hasBegun(one, "a");
    // Stopped past its lease, it is another's turn; woken, it ends by itself and takes nothing.
    one.child.kill("SIGSTOP");
    await sleep(leaseMs + 500);
    const third = launch(engine, { worker: "one" });
    await hasBegun(third, "a");
    one.child.kill("SIGCONT");
    one.report("end a");
    expect(
      await until("its end", () => one.said.find(({ over }) => over !== undefined)),
    ).toMatchObject({
      over: expect.any(String) as string,
    });

    third.report("again a");
    await hasBegun(third, "a", 2);
  });
};

for (const engine of ["sql", "graphile-worker", "dbos"]) {
  const isPlayed = engine === "sql" || isLong || hasTurn(engine);
  const without =
    withoutPostgres ||
    withoutEngine(engine) ||
    (isPlayed ? "" : " (skipped: of long runs, and in turn of runs with a seed)");
  describe.skipIf(without !== "")(`dispatch by ${engine}${without}`, promisesOf(engine));
}
