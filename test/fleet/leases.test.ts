// Leases with real processes: stopped, killed, cut off from the database. What they say they did is
// held against what the store holds.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { rolldown } from "rolldown";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { migrate } from "../../src/fleet/postgres/migrate.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { plannerKey } from "../../src/fleet/shared-mark.ts";
import { JournalFailure } from "../../src/journal/journal-failure.ts";
import { genesis } from "../../src/journal/line.ts";
import { skipped } from "../../src/journal/scene.test-support.ts";
import type { OpenedRun, OpenOptions } from "../../src/ports/run-store.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { openWay, type Way } from "./way.ts";

type Said = {
  readonly word: string;
  readonly at: number;
  readonly asked?: number;
  readonly seq?: number;
  readonly step?: string;
  readonly kind?: string;
};
type Owner = {
  readonly child: ChildProcess;
  readonly said: Said[];
  readonly all: (word: string) => readonly Said[];
};

const leaseMs = 6_000;
const programs = ["owner", "planner"] as const;
const programOf = (name: (typeof programs)[number]): string =>
  `node_modules/.cache/fleet-${name}-${process.pid}.mjs`;
const options = { now: () => new Date().toISOString(), activeMs: () => performance.now() };
const owners: Owner[] = [];
const ways: Way[] = [];
let cluster: Cluster;
let store: PostgresStore;

function start(url: string, run: string, name: (typeof programs)[number] = "owner"): Owner {
  const child = spawn(process.execPath, [programOf(name), url, run, String(leaseMs)], {
    stdio: ["pipe", "pipe", "inherit"],
  });

  const said: Said[] = [];
  createInterface({ input: child.stdout }).on(
    "line",
    (line) => void said.push(JSON.parse(line) as Said),
  );

  const owner = { child, said, all: (word: string) => said.filter((one) => one.word === word) };
  owners.push(owner);
  return owner;
}

/** Takes a run as soon as its lease has lapsed. */
async function takeWhenFree(run: string, more: Partial<OpenOptions> = {}): Promise<OpenedRun> {
  for (;;) {
    try {
      return await store.open(run, "run", { ...options, ...more });
    } catch (error) {
      if (!(error instanceof JournalFailure) || error.kind !== "run_locked") throw error;
      await sleep(20);
    }
  }
}

async function stepsOf(
  run: string,
): Promise<readonly { readonly seq: number; readonly epoch: number; readonly step: string }[]> {
  const found: { seq: number; epoch: number; step: string }[] = [];
  await store.read(
    run,
    genesis,
    (entry) => void found.push(entry as unknown as (typeof found)[number]),
  );

  return found;
}

const spoke = (owner: Owner, word: string, times: number): Promise<void> =>
  expect
    .poll(() => owner.all(word).length, { timeout: 120_000, interval: 10 })
    .toBeGreaterThanOrEqual(times);

function wayTo(): { readonly url: string; readonly way: Way } {
  const way = openWay(cluster.socket);
  ways.push(way);
  return { url: `postgres://owner@/leases?host=${encodeURIComponent(way.folder)}`, way };
}

describe.skipIf(postgresBin === null)(`a lease${withoutPostgres}`, () => {
  beforeAll(async () => {
    for (const name of programs) {
      const bundle = await rolldown({
        input: `test/fleet/${name}.ts`,
        external: ["fs-native-extensions", "pg-native"],
        platform: "node",
      });
      await bundle.write({ file: programOf(name), format: "esm", codeSplitting: false });
      await bundle.close();
    }

    cluster = startCluster();
    const database = connect(cluster.database("leases"), { answerMs: 20_000 });
    await migrate(database, "test");
    await database.close();
    store = await openPostgresStore(cluster.database("leases"), { leaseMs });
  });

  afterEach(async () => {
    for (const { child } of owners.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill("SIGKILL");
      await once(child, "exit");
    }

    for (const way of ways.splice(0)) way.close();
  });

  afterAll(async () => {
    await store.close();
    cluster.stop();
    for (const name of programs) rmSync(programOf(name), { force: true });
  });

  test("an owner that is stopped past its lease and wakes writes nothing, spends nothing and says that it lost the run", async () => {
    const run = "run-2026-01-02-030405-1";
    const stale = start(cluster.database("leases"), run);
    await spoke(stale, "kept", 5);
    stale.child.kill("SIGSTOP");
    const next = await takeWhenFree(run);
    const taken = next.journal.position.seq;
    await next.journal.append([skipped(1_001)]);
    const wokenAt = Date.now();
    stale.child.kill("SIGCONT");
    await spoke(stale, "refused", 3);
    await spoke(stale, "lost", 1);
    await next.journal.append([skipped(1_002)]);
    await next.journal.close();
    const steps = await stepsOf(run);
    expect(steps.slice(taken).map(({ epoch, step }) => [epoch, step])).toEqual([
      [2, "step-1001"],
      [2, "step-1002"],
    ]);

    expect(stale.all("spent").filter(({ asked = 0 }) => asked >= wokenAt)).toEqual([]);
    expect(new Set(stale.all("refused").map(({ kind }) => kind))).toEqual(new Set(["lease_lost"]));

    for (const { seq, step } of stale.all("kept")) {
      expect(steps[(seq ?? 0) - 1]).toMatchObject({ seq, epoch: 1, step });
    }
  });

  test("a planner that is stopped past its lease, clocks and all, and wakes before its successor writes is refused by the statement", async () => {
    const key = "portfolio-0123456789abcdef";
    const stale = start(cluster.database("leases"), key, "planner");
    await spoke(stale, "taken", 1);
    stale.child.stdin?.write("1\n");
    await spoke(stale, "kept", 1);
    stale.child.kill("SIGSTOP");
    const next = await takeWhenFree(plannerKey(key)); // the journal, nobody has taken
    stale.child.stdin?.write("66\n");
    stale.child.kill("SIGCONT");
    await spoke(stale, "refused", 1);
    await spoke(stale, "lost", 1);
    expect(stale.all("believes"), "it asked its lease before, and was sure of it").toHaveLength(2);
    expect(stale.all("refused").map(({ kind }) => kind)).toEqual(["lease_lost"]);
    expect(
      cluster.sql("leases", `select epoch from autopilot.run where run_id = '${key}'`),
      "and it had the journal",
    ).toBe("1");

    stale.child.kill("SIGKILL");
    const { journal } = await takeWhenFree(key, { under: next.lease });
    await journal.append([skipped(2)]);
    await journal.close();
    await next.journal.close();
    expect((await stepsOf(key)).map(({ step }) => step)).toEqual(["step-1", "step-2"]);
  });

  test("an owner that is cut off stops itself before anybody else gets its run", async () => {
    const run = "run-2026-01-02-030405-2";
    const { url, way } = wayTo();
    const stale = start(url, run);
    await spoke(stale, "kept", 5);
    Object.assign(way, { isUpCut: true, isDownCut: true });
    const next = await takeWhenFree(run);
    const takenAt = Date.now();
    await spoke(stale, "lost", 1);
    await spoke(stale, "refused", 1);
    expect(stale.all("lost")[0]?.at).toBeLessThan(takenAt);
    expect(stale.all("spent").filter(({ asked = 0 }) => asked >= takenAt)).toEqual([]);
    // What was on its way comes through at last, and changes nothing.
    way.heal();
    await spoke(stale, "refused", 5);
    const steps = await stepsOf(run);
    expect(steps).toHaveLength(next.journal.position.seq);

    for (const { seq, step } of stale.all("kept")) {
      expect(steps[(seq ?? 0) - 1]).toMatchObject({ seq, epoch: 1, step });
    }

    await next.journal.close();
  });

  test("answers that are lost for a while leave every line there once, in order", async () => {
    const run = "run-2026-01-02-030405-3";
    const { url, way } = wayTo();
    const owner = start(url, run);

    for (let round = 1; round <= 3; round++) {
      await spoke(owner, "kept", round * 10);
      way.isDownCut = true; // commits happen, nobody hears
      await sleep(300);
      way.heal();
    }

    await spoke(owner, "kept", 40);
    owner.child.kill("SIGKILL");
    await once(owner.child, "exit");
    expect(owner.all("lost")).toEqual([]);
    const steps = await stepsOf(run);
    expect(steps.map(({ step }) => step)).toEqual(steps.map((_, index) => `step-${index + 1}`));

    for (const { seq, step } of owner.all("kept")) {
      expect(steps[(seq ?? 0) - 1]).toMatchObject({ seq, step });
    }
  });

  test("an owner that is killed loses nothing acknowledged, and the next one goes on under a greater epoch", async () => {
    const run = "run-2026-01-02-030405-4";
    const owner = start(cluster.database("leases"), run);
    await spoke(owner, "kept", 5);
    owner.child.kill("SIGKILL");
    await once(owner.child, "exit");
    const next = await takeWhenFree(run);
    expect(next.lease.epoch).toBe(2);

    for (const { seq, step } of owner.all("kept")) {
      expect(next.entries[(seq ?? 0) - 1]).toMatchObject({ seq, epoch: 1, step });
    }

    expect(await next.journal.append([skipped(7)])).toMatchObject([{ epoch: 2 }]);
    await next.journal.close();
    expect((await store.runs()).find((row) => row.run === run)).toMatchObject({
      takeOvers: 1,
      holder: null,
    });
  });
});
