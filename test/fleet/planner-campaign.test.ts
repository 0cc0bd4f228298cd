// A campaign over who plans: pools of one portfolio on two "machines", each a network namespace
// with a link, a folder and a clone of its own, and things that happen to whichever of them has the
// portfolio's lease, by a seed that is reported. Tasks end one after the other while they do: each
// waits in its agent's turn until it is let go. Then the branch, the journal, the store and the
// files are held against each other. `AUTOPILOT_FAULTS=all` plays more of everything. Where
// namespaces can't be made, links are proxies and no packet is lost: the title says so.

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listPlannedPortfolios } from "../../src/fleet/planned-portfolios.ts";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { migrate } from "../../src/fleet/postgres/migrate.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { isPlannerKey } from "../../src/fleet/shared-mark.ts";
import { verifyJournal } from "../../src/journal/read.ts";
import { begin, type Ended, until } from "../support/autopilot.ts";
import { dice } from "../support/dice.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { seed as seedOfRun } from "../support/sampled.ts";
import { git, scratchFolder } from "../support/scratch-repository.ts";
import { grantsIn, noteHistory } from "./campaign-history.ts";
import { type Link, type Links, namespacesMissing, openNamespaces, proxies } from "./links.ts";
import { at, linesOf, openFleet, said, shortMs, worker } from "./machines.ts";
import {
  addProject,
  addTask,
  summarizeEnd,
  portfolio,
  rebuilt,
  standby,
} from "./made-portfolio.ts";

const isShown = process.env["FLEET_SHOW"] !== undefined;
const isLong = process.env["AUTOPILOT_FAULTS"] === "all";
const events = Number(process.env["FLEET_EVENTS"] ?? (isLong ? "24" : "1"));
const tasks = Number(process.env["FLEET_TASKS"] ?? (isLong ? "12" : "2"));
/** What happens in an everyday run is chosen by the seed of the sample. */
const first = isLong ? 0 : 1 + events * seedOfRun;
const seed = Number(process.env["FLEET_SEED"] ?? "20261117");
/** Longer than the lease, by some. */
const pastLeaseMs = shortMs + 4_000;
/**
 * Nothing happens to the worker but what happens to the database: a lease that it was granted and
 * never heard of has to lapse.
 */
const workerLeaseMs = 30_000;
const machineNames = ["one", "two"];
const database = "planner";
const missing = postgresBin === null ? null : namespacesMissing();
const withoutNamespaces = missing === null ? "" : ` (links are proxies: ${missing})`;

type Pool = {
  readonly name: string;
  readonly folder: string;
  readonly link: Link;
  readonly clockFile: string;
  begun: ReturnType<typeof begin>;
  isKilled: boolean;
};

let links: Links;
let cluster: Cluster;
let store: PostgresStore;
const pools: Pool[] = [];
const running: ReturnType<typeof begin>[] = [];

/** Of a project beside the others, so that it can be started at once. */
let spares = 0;
let addSpare: () => Promise<string> = () => Promise.reject(new Error("no portfolio yet"));

const isAlive = ({ begun: { child } }: Pool): boolean =>
  child.exitCode === null && child.signalCode === null;

/** Who plans, and under which epoch; null while nobody does, or nobody can say. */
async function planning(): Promise<{ readonly pool: Pool; readonly epoch: number } | null> {
  const [row] = listPlannedPortfolios(await store.runs().catch(() => []));
  const pool = pools.find((one) => isAlive(one) && one.begun.child.pid === row?.holder?.pid);
  return row === undefined || pool === undefined ? null : { pool, epoch: row.epoch };
}

/** The first pool has moved the portfolio into the store, and plans it. */
async function keyInStore(): Promise<string> {
  await planner();
  return listPlannedPortfolios(await store.runs())[0]?.key ?? "";
}

async function planner(): Promise<{ readonly pool: Pool; readonly epoch: number }> {
  let found: Awaited<ReturnType<typeof planning>> = null;
  await expect
    .poll(async () => (found = await planning()) !== null, { timeout: 300_000, interval: 100 })
    .toBe(true);

  if (found === null) throw new Error("nobody plans");
  return found;
}

/** Whether the lease was granted anew since: whoever had it lost it. */
const isTakenSince = (epoch: number): Promise<unknown> =>
  expect
    .poll(async () => ((await planning())?.epoch ?? epoch) > epoch, {
      timeout: 300_000,
      interval: 100,
    })
    .toBe(true);

/** From a pool's own machine. */
const reachesHub = ({ link }: Pool): boolean => {
  const [first, ...rest] = [...link.on, "timeout"];
  const words = [...rest, "5", "git", "ls-remote", "-q", link.env["AUTOPILOT_HUB"] ?? ""];
  return (
    spawnSync(first ?? "timeout", words, {
      env: { ...process.env, ...link.env, GIT_SSH_COMMAND: undefined },
      stdio: "ignore",
    }).status === 0
  );
};

function restart(): Promise<boolean> {
  try {
    cluster.start();
    return Promise.resolve(true);
  } catch {
    return Promise.resolve(false); // what was killed is not gone yet
  }
}

type Harm = (
  planner: { readonly pool: Pool; readonly epoch: number },
  roll: (sides: number) => number,
) => Promise<void>;

/** Cut for longer than the lease: it is lost, and granted anew. */
const cut =
  (what: { readonly questions: boolean; readonly answers: boolean }): Harm =>
  async ({ pool, epoch }) => {
    pool.link.lose(what);
    await isTakenSince(epoch);
    pool.link.heal();
  };
/** For a while, longer or shorter than the lease; it may lose it or not. */
const during =
  (trouble: (link: Link) => void, isHarmed?: (pool: Pool, isNow: boolean) => void): Harm =>
  async ({ pool }, roll) => {
    isHarmed?.(pool, false);
    trouble(pool.link);
    isHarmed?.(pool, true);
    await sleep(2_000 + roll(pastLeaseMs));
    pool.link.heal();
  };
const jumps =
  (byMs: number): Harm =>
  async ({ pool }, roll) => {
    writeFileSync(pool.clockFile, String(byMs));
    const seen = (): string =>
      readFileSync(`${pool.clockFile}.seen-by-${pool.begun.child.pid}`, "utf8");
    await until("its clock to jump", () => seen() === String(byMs));
    await sleep(2_000 + roll(pastLeaseMs));
    writeFileSync(pool.clockFile, "0");
  };

/** Each ends only after it has shown that it happened. */
const harms: Readonly<Record<string, Harm>> = {
  "planner killed": async ({ pool, epoch }) => {
    pool.isKilled = true;
    const gone = once(pool.begun.child, "exit");
    pool.begun.child.kill("SIGKILL");
    await gone;
    await isTakenSince(epoch);
  },
  "planner stopped past its lease": async ({ pool, epoch }) => {
    pool.begun.child.kill("SIGSTOP");
    await sleep(pastLeaseMs);
    pool.begun.child.kill("SIGCONT"); // stopped in the middle of a change it keeps the journal until then
    await isTakenSince(epoch);
  },
  "cut both ways": cut({ questions: true, answers: true }),
  "questions lost": cut({ questions: true, answers: false }),
  "answers lost": cut({ questions: false, answers: true }),
  "database killed": async () => {
    cluster.crash();
    expect(await planning()).toBeNull();
    await expect.poll(restart, { timeout: 60_000, interval: 100 }).toBe(true);
  },
  "database away past the lease": async ({ epoch }) => {
    cluster.crash();
    await sleep(pastLeaseMs);
    await expect.poll(restart, { timeout: 60_000, interval: 100 }).toBe(true);
    await isTakenSince(epoch);
  },
  "hub unreachable": during(
    ({ cutHub }) => cutHub(),
    (pool, isCut) => expect(reachesHub(pool)).toBe(!isCut),
  ),
  "hub down while a task is started": async ({ pool }) => {
    for (let isDelayed = false, found = pool; !isDelayed; found = (await planner()).pool) {
      found.link.stopHub();
      expect(reachesHub(found)).toBe(false);
      const task = await addSpare();
      const events = (): readonly string[] =>
        linesOf(join(found.folder, ".autopilot/portfolio/journal.jsonl")).filter((line) =>
          line.includes(`"task_id":"${task}"`),
        );
      const isMet = (): boolean =>
        events().some((line) => /"event":"task_(delayed|dispatched)"/.test(line));
      await expect.poll(isMet, { timeout: 300_000, interval: 250 }).toBe(true);
      isDelayed = events().some((line) => line.includes('"event":"task_delayed"')); // else another has the lease, and reaches it
      found.link.heal();
    }
  },
  "clock an hour ahead": jumps(3_600_000),
  "clock an hour behind": jumps(-3_600_000),
  slow: during(({ slow }) => slow()),
  ...(missing === null ? { "packets lost": during(({ loseSome }) => loseSome?.()) } : {}),
};

describe.skipIf(postgresBin === null)(`a campaign over who plans${withoutPostgres}`, () => {
  beforeAll(async () => {
    links = missing === null ? openNamespaces(machineNames) : proxies;
    cluster = startCluster([], false, { within: links.server, subnet: links.subnet });
    const owner = connect(cluster.database(database), { answerMs: 20_000 });
    await migrate(owner, "test");
    await noteHistory(owner);
    await owner.close();
    store = await openPostgresStore(cluster.database(database));
  });

  afterAll(async () => {
    for (const { child, ended } of running) {
      child.kill("SIGKILL");
      await ended;
    }

    for (const { link } of pools) link.close();
    await store.close();
    cluster.stop();
    links.close();
  });

  test(
    `every task lands once and nobody is asked, whatever happens to who has the lease${withoutNamespaces}`,
    { timeout: (events + tasks) * 180_000 + 600_000 },
    async () => {
      const fleet = openFleet(cluster.database(database), shortMs);
      const gates = scratchFolder();
      const gate = (n: number): string => join(gates, String(n));
      const waits = (n: number): object => ({
        run: `while ! test -e '${gate(n)}'; do sleep 0.2; done`,
      });
      const machine = await portfolio(fleet.first.folder, fleet.first.env, tasks, 4, waits);
      await addProject(machine, "Spare", fleet.first.folder, 0, { slots: 1 });
      addSpare = () => addTask(machine, "Spare", `spare-${spares++}`);

      const atWork = worker(
        fleet.another({ AUTOPILOT_LEASE_MS: String(workerLeaseMs) }),
        "--jobs",
        "5",
      );
      running.push(atWork);
      /** Without it every task would wait, and the campaign until its time is over. */
      const workerEnded = atWork.ended.then((ended) =>
        Promise.reject(new Error(`the worker ended: ${said(ended)}`)),
      );

      const workers = (): string => cluster.sql(database, "select count(*) from autopilot.worker");
      await Promise.race([
        workerEnded,
        expect.poll(workers, { timeout: 120_000, interval: 250 }).toBe("1"),
      ]); // one that starts while the store is away ends

      const clock = resolve(import.meta.dirname, "../fixtures/faults/jumping-clock.cjs");
      const args = [
        "portfolio",
        "run",
        "--fleet",
        "--until-idle",
        "--isolation",
        "clone",
        "--jobs",
        "5",
        "--json",
      ];

      const launch = (folder: string, link: Link, clockFile: string): ReturnType<typeof begin> => {
        const env = {
          ...machine.env,
          ...link.env,
          NODE_OPTIONS: `--require ${clock}`,
          CLOCK_FILE: clockFile,
        };

        const begun = begin(folder, args, { env, on: link.on });
        if (isShown) begun.child.stderr?.pipe(process.stderr, { end: false });
        running.push(begun);

        return begun;
      };

      for (const name of machineNames) {
        const link = links.open(name, cluster.socket, fleet.hub, database);
        const clockFile = join(scratchFolder(), "clock");
        const { folder } =
          pools.length === 0 ? machine : await standby(fleet.another(), await keyInStore());
        pools.push({
          name,
          folder,
          link,
          clockFile,
          begun: launch(folder, link, clockFile),
          isKilled: false,
        });
      }

      /** As a supervisor does. A pool that ends by itself while tasks wait has given up. */
      const gaveUp: string[] = [];
      const relaunch = async (): Promise<void> => {
        for (const pool of pools.filter((one) => !isAlive(one))) {
          if (!pool.isKilled) gaveUp.push(said(await pool.begun.ended));
          Object.assign(pool, {
            begun: launch(pool.folder, pool.link, pool.clockFile),
            isKilled: false,
          });
        }
      };

      const journals = pools.map(({ folder }) =>
        join(folder, ".autopilot/portfolio/journal.jsonl"),
      );
      const [journal = ""] = journals;

      /** As whoever plans has it. */
      const starts = (): number =>
        Math.max(
          ...journals.map(
            (path) => readFileSync(path, "utf8").split('"event":"task_dispatched"').length,
          ),
        );

      /** Until the next task is being started, or for a while: it may have been before. */
      const nextStart = async (): Promise<void> => {
        const before = starts();
        for (let looked = 0; looked < 500 && starts() === before; looked++) await sleep(20);
      };

      const played: string[] = [];
      const play = async (): Promise<readonly Ended[]> => {
        const roll = dice(seed);
        const names = Object.keys(harms);
        const order = names
          .map((name) => ({ name, at: roll(1_000_000) }))
          .toSorted((a, b) => a.at - b.at);

        let opened = 0;
        for (let n = 0; n < events; n++) {
          for (; opened < Math.floor(((n + 1) * tasks) / (events + 1)); opened++) {
            writeFileSync(gate(opened), "");
          }

          // Mostly where a task is just being started, else somewhere in the work that this lets go
          // on.
          if (roll(4) === 0) await sleep(roll(4_000));
          else await nextStart();

          const { name = "" } = order[(first + n) % order.length] ?? {};
          const found = await planner();

          if (isShown) {
            process.stderr.write(`${n + 1} ${name}: ${found.pool.name} at epoch ${found.epoch}\n`);
          }

          await harms[name]?.(found, roll);
          played.push(name);
          await relaunch();
        }

        for (; opened < tasks; opened++) writeFileSync(gate(opened), "");
        return Promise.all(pools.map(({ begun }) => begun.ended));
      };
      const ends = await Promise.race([workerEnded, play()]);

      const shown = await Promise.all(pools.map(({ folder }) => rebuilt({ ...machine, folder }))); // catches up
      const lines = linesOf(journal).map(
        (line) =>
          JSON.parse(line) as {
            readonly event: string;
            readonly task_id?: string;
            readonly content?: string;
          },
      );

      const story = `seed ${seed}: ${played.join(", ")}`;
      const told = `${story}\n${lines.map(({ event, task_id }) => `${event} ${task_id ?? ""}`).join("\n")}\n${ends.map(said).join("\n")}`;
      const delays = lines.filter(({ event }) => event === "task_delayed").length;
      const grants = (await grantsIn(store.database)).filter(({ run }) => isPlannerKey(run));
      process.stderr.write(
        `planner campaign: ${story}; ${grants.length} leases granted, ${delays} times a task waited for an outage\n`,
      );

      expect(gaveUp, `${told}: no pool ends while tasks are left`).toEqual([]);
      for (const { json } of ends) expect(json, told).toMatchObject({ result: "PASS", left: 0 });

      const { dirt, statuses, landed } = (await summarizeEnd(
        machine,
        fleet.first.folder,
        fleet.hub,
      )) as Record<string, unknown>;

      const all = tasks + spares;
      expect({ dirt, statuses, landed }, told).toEqual({
        dirt: "",
        statuses: Array.from({ length: all }, () => "done"),
        landed: all,
      });

      expect(delays, `${told}: a task waited for each hub that was down`).toBeGreaterThanOrEqual(
        played.filter((name) => name === "hub down while a task is started").length,
      );

      const asked = lines.filter(
        ({ event, content }) => event === "block_opened" && content?.startsWith("idle:") !== true,
      );
      expect(asked, `${told}: nobody is asked`).toEqual([]);
      const recorded = lines.flatMap(({ event, task_id }) =>
        event === "merge_landed" ? (task_id ?? []) : [],
      );
      expect(
        [recorded.length, new Set(recorded).size],
        `${told}: each landing is recorded once`,
      ).toEqual([all, all]);

      const runs = cluster.sql(database, "select count(*) from autopilot.run where kind = 'run'");
      expect(runs, `${told}: no run was begun a second time`).toBe(String(all));
      const made = [
        ...Array.from({ length: tasks }, (_, n) => `made-${n}.txt`),
        ...Array.from({ length: spares }, (_, n) => `spare-${n}.txt`),
      ];
      for (const path of made) {
        const commits = git(fleet.hub, "log", "--no-merges", "--format=%H", "main", "--", path);
        expect(commits.split("\n").length, `${told}: ${path} is in git once`).toBe(1);
      }

      let before: ReadonlySet<string> = new Set();
      for (const commit of git(fleet.hub, "rev-list", "--first-parent", "--reverse", "main").split(
        "\n",
      )) {
        const there = new Set(git(fleet.hub, "ls-tree", "--name-only", commit).split("\n"));
        const lost = [...before].filter((path) => !there.has(path));
        expect(lost, `${told}: what a landed task proved holds at ${commit}`).toEqual([]);
        before = there;
      }

      expect(
        grants.map(({ epoch }) => epoch),
        `${story}: each epoch of the lease was granted once, in order`,
      ).toEqual(grants.map((_, nth) => nth + 1));

      expect(shown[1], `${story}: both folders show the same`).toEqual(shown[0]);
      for (const { folder } of pools) {
        expect(
          linesOf(join(folder, ".autopilot/portfolio/journal.jsonl")),
          `${story}: and hold the same`,
        ).toEqual(linesOf(journal));

        expect(
          verifyJournal(join(folder, ".autopilot/portfolio")),
          `${story}: its chain is whole`,
        ).toMatchObject({
          ok: true,
          torn_bytes: 0,
        });

        const again = await at({ ...machine, folder }, "portfolio", "rebuild");
        expect(again.json, `${story}: the files are as the journal tells them`).toMatchObject({
          result: "PASS",
          different: [],
        });
      }
    },
  );

  test("a copy of its folder in another place plans nothing", { timeout: 300_000 }, async () => {
    const url = cluster.database("copied");
    await at({ folder: scratchFolder(), env: { AUTOPILOT_STORE: url } }, "fleet", "init");
    const fleet = openFleet(url);
    const machine = await portfolio(fleet.first.folder, fleet.first.env, 1);
    const elsewhere = { ...machine, folder: join(scratchFolder(), "portfolio") };
    cpSync(machine.folder, elsewhere.folder, { recursive: true });
    const refused = await at(elsewhere, "portfolio", "run", "--fleet", "--until-idle");
    expect(refused.json, said(refused)).toMatchObject({
      result: "FAIL",
      reason_code: "portfolio_foreign",
    });

    expect(cluster.sql("copied", "select count(*) from autopilot.run")).toBe("0");
  });
});
