// A campaign over whole workers: three "machines", each a worker process with a clone, a home and a way to the database of its own, work on
// many runs while things happen to them by a seed that is reported. Then the hub, the store and what was seen meanwhile are held against each
// other. `AUTOPILOT_FAULTS=all` makes a thousand things happen, without it nine: a lease of a whole worker lasts eight seconds, so that each
// event takes its time.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync, renameSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { migrate } from "../../src/fleet/postgres/migrate.ts";
import { ordersIn } from "../../src/fleet/postgres/orders.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { genesis } from "../../src/journal/line.ts";
import { program, sharedCache } from "../support/autopilot.ts";
import { dice } from "../support/dice.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { git, scratchFolder } from "../support/scratch-repository.ts";
import { type Machine, makes, openFleet, submit } from "./machines.ts";
import { openWay, type Way } from "./way.ts";

const isShown = process.env["FLEET_SHOW"] !== undefined;
const isLong = process.env["AUTOPILOT_FAULTS"] === "all";
const events = Number(process.env["FLEET_EVENTS"] ?? (isLong ? "1000" : "9"));
const seed = Number(process.env["FLEET_SEED"] ?? "20261116");
const leaseMs = 8_000;
const slots = 4;
/** How many runs wait or are worked on at once while things happen; each ends after some seconds. */
const openRuns = events > 9 ? 5 : 3;
/** Ending a process tree is promised within two seconds; on a machine that is this busy an agent is only held against its worker after more. */
const graceMs = 20_000;

type Worker = {
  readonly name: string;
  readonly machine: Machine;
  readonly way: Way;
  readonly hubLink: string;
  child: ChildProcess;
  isStopped: boolean;
  wokenAt: number;
};

let cluster: Cluster;
let store: PostgresStore;
let isDown = false;
const workers: Worker[] = [];

function launch({ folder, env }: Machine, name: string): ChildProcess {
  return spawn(process.execPath, [program, "worker", "--jobs", "2", "--name", name], {
    cwd: folder,
    detached: true, // its own group, so that it can be stopped as a machine is
    env: {
      PATH: process.env["PATH"],
      HOME: join(dirname(folder), "home"),
      USER: name,
      LANG: "C.UTF-8",
      XDG_CACHE_HOME: sharedCache,
      ...env,
    },
    stdio: ["ignore", "ignore", isShown ? "inherit" : "ignore"],
  });
}

const isAlive = ({ child }: Worker): boolean => child.exitCode === null && child.signalCode === null;

/** Every process of a machine: what works in its folders. */
function processesOn({ machine, child }: Worker): readonly number[] {
  const root = dirname(machine.folder);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return pid === child.pid || readlinkSync(`/proc/${pid}/cwd`).startsWith(`${root}/`);
      } catch {
        return false;
      }
    });
}
/** A signal to all of them; who is gone already does not mind. */
function signal(worker: Worker, name: "SIGSTOP" | "SIGCONT" | "SIGKILL"): void {
  for (const pid of processesOn(worker))
    try {
      process.kill(pid, name);
    } catch {
      // gone
    }
}

function restart(): Promise<boolean> {
  try {
    cluster.start();
    return Promise.resolve(true);
  } catch {
    return Promise.resolve(false); // what was killed is not gone yet
  }
}

const nemeses: Readonly<Record<string, (one: Worker, ms: number) => Promise<void>>> = {
  "cut both ways": async ({ way }, ms) => {
    Object.assign(way, { isUpCut: true, isDownCut: true });
    await sleep(ms);
    way.heal();
  },
  "questions lost": async ({ way }, ms) => {
    way.isUpCut = true;
    await sleep(ms);
    way.heal();
  },
  "answers lost": async ({ way }, ms) => {
    way.isDownCut = true;
    await sleep(ms);
    way.heal();
  },
  "old connections forgotten": async ({ way }, ms) => {
    way.forgetOld();
    await sleep(ms / 2);
  },
  "connections reset": async ({ way }, ms) => {
    way.reset();
    await sleep(ms / 4);
  },
  slow: async ({ way }, ms) => {
    way.delayMs = 150;
    await sleep(ms);
    way.heal();
  },
  "machine asleep": async (one, ms) => {
    one.isStopped = true;
    signal(one, "SIGSTOP");
    await sleep(ms);
    signal(one, "SIGCONT");
    one.isStopped = false;
    one.wokenAt = Date.now();
  },
  "worker killed": async (one, ms) => {
    one.child.kill("SIGKILL");
    await sleep(ms / 4);
    one.child = launch(one.machine, one.name);
  },
  "machine cut off from power": async (one, ms) => {
    signal(one, "SIGKILL");
    await sleep(ms / 2);
    one.child = launch(one.machine, one.name);
  },
  "asked to end": async (one) => {
    if (isAlive(one)) {
      const gone = once(one.child, "exit");
      one.child.kill("SIGTERM");
      await gone;
    }
    one.child = launch(one.machine, one.name);
  },
  "hub unreachable": async ({ hubLink }, ms) => {
    renameSync(hubLink, `${hubLink}.away`);
    await sleep(ms);
    renameSync(`${hubLink}.away`, hubLink);
  },
  "database killed": async (_one, ms) => {
    if (isDown) return sleep(ms / 4); // one power cut at a time
    isDown = true;
    cluster.crash();
    await sleep(ms / 4);
    await expect.poll(restart, { timeout: 60_000, interval: 100 }).toBe(true);
    isDown = false;
  },
};

/** Agents that are alive on a machine, by the key of the run they work for. */
function agentsOn(worker: Worker): readonly string[] {
  const copies = join(worker.machine.folder, `.autopilot/worker/copies/${worker.name}/`);
  return processesOn(worker).flatMap((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/environ`, "utf8");
      if (!text.includes("\0AUTOPILOT_RUN=") || /^State:\s+[ZXT]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))) return [];
      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      return cwd.startsWith(copies) ? (cwd.slice(copies.length).split("/")[0] ?? []) : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(postgresBin === null)(`a campaign over workers${withoutPostgres}`, () => {
  beforeAll(async () => {
    cluster = startCluster();
    const database = connect(cluster.database("fleet"), { answerMs: 20_000 });
    await migrate(database, "test");
    await database.close();
    store = await openPostgresStore(cluster.database("fleet"));
  });
  afterAll(async () => {
    for (const worker of workers) {
      signal(worker, "SIGKILL");
      worker.way.close();
    }
    await store.close();
    cluster.stop();
  });

  test(
    "every run ends once, its work is on the hub's branch once, and nobody works under another's lease",
    { timeout: events * 120_000 + 600_000 },
    async () => {
      const roll = dice(seed);
      const fleet = openFleet(cluster.database("fleet"), leaseMs);
      for (const name of ["one", "two", "three"]) {
        const way = openWay(cluster.socket);
        const hubLink = join(scratchFolder(), "hub.git");
        symlinkSync(fleet.hub, hubLink);
        const machine = fleet.another({
          AUTOPILOT_STORE: `postgres://owner@/fleet?host=${encodeURIComponent(way.folder)}`,
          AUTOPILOT_HUB: hubLink,
        });
        execFileSync("mkdir", ["-p", join(dirname(machine.folder), "home")]);
        workers.push({ name, machine, way, hubLink, child: launch(machine, name), isStopped: false, wokenAt: 0 });
      }

      const keys = new Map<string, string>(); // run → the file it makes
      const submitted = async (): Promise<void> => {
        const path = `t${keys.size}`;
        const turns = [
          {
            do: [{ sleep: 200 + roll(1_500) }, { write: { path: `${path}.part`, text: `${path}\n` } }, { say: "not yet" }],
            confidence: 0.9,
          },
          makes(path, roll(1_500)),
        ];
        // A tenth of them fail in their first turn and are tried again.
        const all = roll(10) === 0 ? [{ do: [{ exit: 3 }] }, ...turns] : turns;
        keys.set(await submit(fleet.first, path, all, "--slots", String(slots)), path);
      };

      const over = new AbortController();
      const seenFor = new Map<string, number>();
      const strangers: string[] = [];
      let takenMost = 0;
      const look = async (): Promise<void> => {
        const [runs, orders] = await Promise.all([store.runs(), ordersIn(store.database)]);
        takenMost = Math.max(takenMost, orders.filter(({ state }) => state === "taken").length);
        const holders = new Map(runs.map(({ run, holder }) => [run, holder]));
        const now = new Set<string>();
        for (const worker of workers) {
          if (worker.isStopped || Date.now() - worker.wokenAt < graceMs) continue;
          const pids = new Set(processesOn(worker));
          for (const key of agentsOn(worker)) {
            const holder = holders.get(key);
            if (holder !== null && holder !== undefined && !pids.has(holder.pid)) now.add(`${worker.name} ${key} ${holder.pid}`);
          }
        }
        for (const one of seenFor.keys()) if (!now.has(one)) seenFor.delete(one);
        for (const one of now) {
          const since = seenFor.get(one) ?? Date.now();
          seenFor.set(one, since);
          if (Date.now() - since > graceMs) strangers.push(one);
        }
      };
      const looking = (async () => {
        while (!over.signal.aborted) {
          await look().catch(() => undefined); // the database may be down
          await sleep(500);
        }
      })();
      const openCount = async (): Promise<number> => (await ordersIn(store.database).catch(() => null))?.length ?? openRuns;

      const names = Object.keys(nemeses);
      const happens = async (one: Worker, name: string, ms: number): Promise<void> => {
        if (isShown) process.stderr.write(`${name}: ${one.name} for ${ms} ms\n`);
        await nemeses[name]?.(one, ms);
        if (!isAlive(one)) one.child = launch(one.machine, one.name); // as a supervisor does
      };
      for (let n = 0; n < events; n += workers.length) {
        while ((await openCount()) < openRuns) await submitted();
        // Something happens to each of them at once. Mostly it is short; now and then it lasts longer than the lease.
        const drawn = workers.map((one) => ({
          one,
          name: names[roll(names.length)] ?? "",
          ms: roll(6) === 0 ? leaseMs + roll(4_000) : 200 + roll(2_500),
        }));
        await Promise.all(drawn.map(({ one, name, ms }) => happens(one, name, ms)));
      }
      for (const { way } of workers) way.heal();
      await expect.poll(openCount, { timeout: 600_000, interval: 500 }).toBe(0);
      over.abort();
      await looking;

      const takeOvers = (await store.runs()).reduce((sum, run) => sum + run.takeOvers, 0);
      const story = `seed ${seed}: ${events} events, ${keys.size} runs, ${takeOvers} take-overs`;
      process.stderr.write(`worker campaign: ${story}\n`);
      expect(strangers, `${story}: nobody works under another's lease`).toEqual([]);
      expect(takenMost, `${story}: slots`).toBeLessThanOrEqual(slots);
      for (const [key, path] of keys) {
        const lines: { readonly event: string; readonly epoch: number; readonly commit?: string }[] = [];
        await store.read(key, genesis, (entry) => void lines.push(entry as unknown as (typeof lines)[number])); // the chain is checked, and with it gaps
        expect(lines.filter(({ event }) => event === "run_completed").length, `${story}: ${key} completed`).toBe(1);
        expect(
          lines.every(({ epoch }, at) => epoch >= (lines[at - 1]?.epoch ?? 0)),
          `${story}: ${key} epochs`,
        ).toBe(true);
        const [order] = await ordersIn(store.database, key);
        expect(order?.outcome, `${story}: ${key}`).toMatch(/^completed, verified, landed as/);
        const commits = lines.flatMap(({ event, commit }) => (event === "changes_applied" ? (commit ?? []) : []));
        for (const commit of commits) git(fleet.hub, "merge-base", "--is-ancestor", commit, "main");
        expect(git(fleet.hub, "log", "--no-merges", "--format=%H", "main", "--", path).split("\n").length, `${story}: ${path} once`).toBe(
          1,
        );
      }
      const landings = git(fleet.hub, "rev-list", "--first-parent", "--reverse", "main").split("\n");
      let before = 0;
      for (const commit of landings) {
        const count = git(fleet.hub, "ls-tree", "--name-only", commit).split("\n").length;
        expect(count, `${story}: nothing that landed is gone at ${commit}`).toBeGreaterThanOrEqual(before);
        before = count;
      }
      expect(before).toBe(1 + keys.size * 2);
    },
  );
});
