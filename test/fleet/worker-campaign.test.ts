// A campaign over whole workers: three "machines", each a network namespace with a worker, a clone,
// a home and a host name of its own, work on many runs while things happen to them by a seed that
// is reported. Then the hub, the store, the model and what was seen meanwhile are held against each
// other. `AUTOPILOT_FAULTS=all` makes a thousand things happen, without it sixteen. Where
// namespaces can't be made, links are proxies, loss is not played and no model is called: the title
// says so.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { migrate } from "../../src/fleet/postgres/migrate.ts";
import { listNewestOrders, listOrders } from "../../src/fleet/postgres/stored-orders.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { genesis } from "../../src/journal/line.ts";
import { program, sharedCache } from "../support/autopilot.ts";
import { dice } from "../support/dice.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { git, scratchFolder } from "../support/scratch-repository.ts";
import {
  beyondSlots,
  collectAcknowledged,
  grantsIn,
  lateCalls,
  noteHistory,
} from "./campaign-history.ts";
import {
  type Link,
  type Links,
  namespacesMissing,
  openNamespaces,
  ports,
  proxies,
} from "./links.ts";
import { at, type Machine, makes, openFleet, said, submit } from "./machines.ts";

const isShown = process.env["FLEET_SHOW"] !== undefined;
const isLong = process.env["AUTOPILOT_FAULTS"] === "all";
const events = Number(process.env["FLEET_EVENTS"] ?? (isLong ? "1000" : "16"));
/** Seeds that found something once: 618001, 618003 (decision 0135). */
const seed = Number(process.env["FLEET_SEED"] ?? "20261116");
const leaseMs = 8_000;
const slots = 4;
/**
 * How many runs wait or are worked on at once while things happen; each ends after some seconds.
 */
const openRuns = 5;
/** How long nothing happens to a machine between two events, at most. */
const calmMs = 4_000;
/**
 * Ending a process tree is promised within two seconds; on a machine that is this busy an agent is
 * only held against its worker after more.
 */
const graceMs = 20_000;
const machineNames = ["one", "two", "three"];
const missing = postgresBin === null ? null : namespacesMissing();
const withoutNamespaces = missing === null ? "" : ` (links are proxies: ${missing})`;
const agent = resolve(import.meta.dirname, "calling-agent.mjs");

type Worker = {
  readonly name: string;
  readonly machine: Machine;
  readonly link: Link;
  readonly clockFile: string;
  child: ChildProcess;
  isStopped: boolean;
  wokenAt: number;
};

let links: Links;
let cluster: Cluster;
let store: PostgresStore;
const models: ChildProcess[] = [];
let isDown = false;
const workers: Worker[] = [];
let modelLog = "";

function launch(
  { folder, env }: Machine,
  name: string,
  on: readonly string[],
  clockFile: string,
): ChildProcess {
  const clock = resolve(import.meta.dirname, "../fixtures/faults/jumping-clock.cjs");
  const [first, ...rest] = [...on, process.execPath];
  return spawn(
    first ?? process.execPath,
    [...rest, "--require", clock, program, "worker", "--jobs", "2", "--name", name],
    {
      cwd: folder,
      detached: true, // its own group, so that it can be stopped as a machine is
      env: {
        PATH: process.env["PATH"],
        HOME: join(dirname(folder), "home"),
        USER: name,
        LANG: "C.UTF-8",
        XDG_CACHE_HOME: sharedCache,
        CLOCK_FILE: clockFile,
        ...env,
      },
      stdio: ["ignore", "ignore", isShown ? "inherit" : "ignore"],
    },
  );
}
/** A program beside the worker, which nothing happens to. */
function onMachine({ on }: Link, args: readonly string[]): ChildProcess {
  const [first = "", ...rest] = [...on, process.execPath, ...args];
  return spawn(first, rest, { stdio: ["ignore", "ignore", "inherit"] });
}
const relaunch = (one: Worker): void =>
  void (one.child = launch(one.machine, one.name, one.link.on, one.clockFile));

const isAlive = ({ child }: Worker): boolean =>
  child.exitCode === null && child.signalCode === null;

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
  for (const pid of processesOn(worker)) {
    try {
      process.kill(pid, name);
    } catch {
      // gone
    }
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

/** Does something to a link for a while. */
const during =
  (trouble: (link: Link) => void, share = 1) =>
  async ({ link }: Worker, ms: number): Promise<void> => {
    trouble(link);
    await sleep(ms * share);
    link.heal();
  };
const jumps =
  (byMs: number) =>
  async ({ clockFile }: Worker, ms: number): Promise<void> => {
    writeFileSync(clockFile, String(byMs));
    await sleep(ms);
    writeFileSync(clockFile, "0");
  };

const nemeses: Readonly<Record<string, (one: Worker, ms: number) => Promise<void>>> = {
  "cut both ways": during(({ lose }) => lose({ questions: true, answers: true })),
  "questions lost": during(({ lose }) => lose({ questions: true, answers: false })),
  "answers lost": during(({ lose }) => lose({ questions: false, answers: true })),
  "old connections forgotten": during(({ forgetOld }) => forgetOld(), 0.5),
  "connections reset": during(({ reset }) => reset(), 0.25),
  slow: during(({ slow }) => slow()),
  ...(missing === null ? { "packets lost": during(({ loseSome }) => loseSome?.()) } : {}),
  "hub unreachable": during(({ cutHub }) => cutHub()),
  "clock an hour ahead": jumps(3_600_000),
  "clock an hour behind": jumps(-3_600_000),
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
    relaunch(one);
  },
  "machine cut off from power": async (one, ms) => {
    signal(one, "SIGSTOP"); // none of them sees another end
    signal(one, "SIGKILL");
    await sleep(ms / 2);
    relaunch(one);
  },
  "asked to end": async (one) => {
    if (isAlive(one)) {
      const gone = once(one.child, "exit");
      one.child.kill("SIGTERM");
      await gone;
    }

    relaunch(one);
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

const copiesOf = ({ machine, name }: Pick<Worker, "machine" | "name">): string =>
  join(machine.folder, `.autopilot/worker/copies/${name}/`);

/** Agents that are alive on a machine, by the key of the run they work for. */
function agentsOn(worker: Worker): readonly string[] {
  const copies = copiesOf(worker);
  return processesOn(worker).flatMap((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/environ`, "utf8");
      if (
        !text.includes("\0AUTOPILOT_RUN=") ||
        /^State:\s+[ZXT]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
      ) {
        return [];
      }

      const cwd = readlinkSync(`/proc/${pid}/cwd`);
      return cwd.startsWith(copies) ? (cwd.slice(copies.length).split("/")[0] ?? []) : [];
    } catch {
      return [];
    }
  });
}

/**
 * Looks twice a second whether an agent is alive for a run that somebody else has, and stays so for
 * longer than it takes to end it.
 */
function watchStrangers(
  isOver: AbortSignal,
  alsoLook: () => void,
): { readonly strangers: string[]; readonly ended: Promise<void> } {
  const seenFor = new Map<string, number>();
  const strangers: string[] = [];

  const look = async (): Promise<void> => {
    const holders = new Map((await store.runs()).map(({ run, holder }) => [run, holder]));
    const now = new Set<string>();

    for (const worker of workers) {
      if (worker.isStopped || Date.now() - worker.wokenAt < graceMs) continue;
      const pids = new Set(processesOn(worker));

      for (const key of agentsOn(worker)) {
        const holder = holders.get(key);
        if (holder !== null && holder !== undefined && !pids.has(holder.pid)) {
          now.add(`${worker.name} ${key} ${holder.pid}`);
        }
      }
    }

    for (const one of seenFor.keys()) if (!now.has(one)) seenFor.delete(one);
    for (const one of now) {
      const since = seenFor.get(one) ?? Date.now();
      seenFor.set(one, since);
      if (Date.now() - since > graceMs) strangers.push(one);
    }
  };

  const ended = (async () => {
    while (!isOver.aborted) {
      alsoLook();
      await look().catch(() => undefined); // the database may be down
      await sleep(500);
    }
  })();

  return { strangers, ended };
}

describe.skipIf(postgresBin === null)(`a campaign over workers${withoutPostgres}`, () => {
  beforeAll(async () => {
    links = missing === null ? openNamespaces(machineNames) : proxies;
    cluster = startCluster([], false, { within: links.server, subnet: links.subnet });
    modelLog = join(scratchFolder(), "model.jsonl");
    const database = connect(cluster.database("fleet"), { answerMs: 20_000 });
    await migrate(database, "test");
    await noteHistory(database);
    await database.close();
    store = await openPostgresStore(cluster.database("fleet"));
  });

  afterAll(async () => {
    for (const worker of workers) {
      signal(worker, "SIGKILL");
      worker.link.close();
    }

    for (const model of models) model.kill("SIGKILL");
    await store.close();
    cluster.stop();
    links.close();
  });

  test(
    `every run ends once, its work is on the hub's branch once, and nobody works under another's lease${withoutNamespaces}`,
    { timeout: events * 120_000 + 600_000 },
    async () => {
      const settings = scratchFolder();
      mkdirSync(join(settings, "autopilot"), { recursive: true });
      const calling = { argv: [process.execPath, agent], like: "claude", mode: "full" };
      writeFileSync(
        join(settings, "autopilot/config.yaml"),
        JSON.stringify({ version: 1, agents: { calling } }),
      );

      const own = { XDG_CONFIG_HOME: settings, ANTHROPIC_API_KEY: "sk-ant-of-a-test" };
      const fleet = openFleet(cluster.database("fleet"), leaseMs);
      const first: Machine = { ...fleet.first, env: { ...fleet.first.env, ...own } };

      for (const name of machineNames) {
        const link = links.open(name, cluster.socket, fleet.hub);
        const machine = fleet.another({ ...own, ...link.env });
        mkdirSync(join(dirname(machine.folder), "home"), { recursive: true });
        const clockFile = join(scratchFolder(), "clock");

        if (missing === null) {
          models.push(
            onMachine(link, [
              resolve(import.meta.dirname, "model.mjs"),
              String(ports.model),
              modelLog,
              name,
            ]),
          );
        }

        const child = launch(machine, name, link.on, clockFile);
        workers.push({ name, machine, link, clockFile, child, isStopped: false, wokenAt: 0 });
      }

      const keys = new Map<string, string>(); // run → the file it makes
      const rollRuns = dice(seed);
      let offered = 0;

      const submitted = async (): Promise<void> => {
        const isCalling = missing === null && offered % 2 === 1;
        const path = `${isCalling ? "c" : "t"}${offered++}`;

        const part = {
          do: [
            { sleep: 200 + rollRuns(1_500) },
            { write: { path: `${path}.part`, text: `${path}\n` } },
            { say: "not yet" },
          ],
        };

        const turns = [{ ...part, confidence: 0.9 }, makes(path, rollRuns(1_500))];
        // A tenth of them fail in their first turn and are tried again.
        const all = rollRuns(10) === 0 ? [{ do: [{ exit: 3 }] }, ...turns] : turns;
        keys.set(
          await submit(first, path, isCalling ? "calling" : all, "--slots", String(slots)),
          path,
        );
      };

      const over = new AbortController();
      const acknowledged = collectAcknowledged(workers.map(copiesOf));
      const watch = watchStrangers(over.signal, acknowledged.look);
      /** Three crashes in one attempt ask for a person, who says to go on. */
      let asked = 0;

      const answerCrashes = async (): Promise<void> => {
        const newest = await listNewestOrders(store.database, [...keys.keys()]).catch(() => []);
        for (const { run, outcome } of newest.filter(
          (one) =>
            one.state === "ended" &&
            /crashed three times|died or fell silent/.test(one.outcome ?? ""),
        )) {
          const ended = await at(first, "fleet", "resume", run);
          if (ended.code === 0) asked += 1;
          else if (isShown) process.stderr.write(`${run}: ${outcome}: ${said(ended)}\n`);
        }
      };

      const openCount = async (): Promise<number> =>
        (await listOrders(store.database).catch(() => null))?.length ?? openRuns;
      const names = Object.keys(nemeses);
      let happened = 0;
      const isAllPlayed = (): boolean => happened >= events;
      const played = new Map<string, number>();

      /**
       * What happens to one machine, by a seed of its own. Mostly it is short; now and then it
       * lasts longer than the lease.
       */
      const suffer = async (one: Worker, at: number): Promise<void> => {
        const roll = dice(seed + 1 + at);
        while (!isAllPlayed()) {
          happened += 1;
          const name = names[roll(names.length)] ?? "";
          const ms = roll(6) === 0 ? leaseMs + roll(4_000) : 200 + roll(2_500);
          played.set(name, (played.get(name) ?? 0) + 1);
          if (isShown) process.stderr.write(`${happened} ${name}: ${one.name} for ${ms} ms\n`);
          await nemeses[name]?.(one, ms);
          if (!isAlive(one)) relaunch(one); // as a supervisor does
          await sleep(roll(calmMs)); // in which work gets on
        }
      };

      const offering = (async () => {
        while (!isAllPlayed()) {
          if ((await openCount()) < openRuns) {
            await submitted().catch((error: unknown) => unlessDown(error));
          } else {
            await answerCrashes().then(() => sleep(200));
          }
        }
      })();
      await Promise.all([...workers.map(suffer), offering]);
      for (const { link } of workers) link.heal();
      const isThrough = async (): Promise<boolean> => {
        await answerCrashes();
        return (await openCount()) === 0;
      };
      await expect.poll(isThrough, { timeout: 600_000, interval: 500 }).toBe(true);
      over.abort();
      await watch.ended;
      acknowledged.look();

      const grants = await grantsIn(store.database);
      const takeOvers = (await store.runs()).reduce((sum, run) => sum + run.takeOvers, 0);
      const runOf = new Map([...keys].map(([key, path]) => [path, key]));
      const { calls, late } = lateCalls(modelLog, grants, runOf);
      const story = `seed ${seed}: ${happened} events, ${keys.size} runs, ${takeOvers} take-overs, ${acknowledged.count()} lines seen acknowledged, ${calls} model calls, a person asked ${asked} times`;
      process.stderr.write(
        `worker campaign: ${story}; ${[...played].map(([name, times]) => `${name} ${times}`).join(", ")}\n`,
      );

      expect(watch.strangers, `${story}: nobody works under another's lease`).toEqual([]);
      expect(late, `${story}: the model was called by nobody who had lost the run`).toEqual([]);

      if (missing === null && keys.size > 2) {
        expect(calls, "the model was called").toBeGreaterThan(0);
      }

      expect(await acknowledged.lost(store), `${story}: what was acknowledged is there`).toEqual(
        [],
      );

      expect(await beyondSlots(store.database), `${story}: slots`).toEqual([]);
      expect(
        grants.filter(({ epoch, before }) => epoch !== before + 1),
        `${story}: epochs`,
      ).toEqual([]);

      for (const [key, path] of keys) {
        const lines: {
          readonly event: string;
          readonly epoch: number;
          readonly commit?: string;
        }[] = [];
        await store.read(
          key,
          genesis,
          (entry) => void lines.push(entry as unknown as (typeof lines)[number]),
        ); // the chain is checked, and with it gaps

        const [order] = await listOrders(store.database, key);
        expect(
          order?.outcome,
          `${story}: ${key}: ${lines
            .slice(-8)
            .map((line) => JSON.stringify(line))
            .join("\n")}`,
        ).toMatch(/^completed, verified, landed as/);

        expect(
          lines.filter(({ event }) => event === "run_completed").length,
          `${story}: ${key} completed`,
        ).toBe(1);

        expect(
          lines.every(({ epoch }, at) => epoch >= (lines[at - 1]?.epoch ?? 0)),
          `${story}: ${key} epochs`,
        ).toBe(true);

        const commits = lines.flatMap(({ event, commit }) =>
          event === "changes_applied" ? (commit ?? []) : [],
        );
        for (const commit of commits) git(fleet.hub, "merge-base", "--is-ancestor", commit, "main");
        expect(
          git(fleet.hub, "log", "--no-merges", "--format=%H", "main", "--", path).split("\n")
            .length,
          `${story}: ${path} once`,
        ).toBe(1);
      }

      let before: ReadonlySet<string> = new Set();
      for (const commit of git(fleet.hub, "rev-list", "--first-parent", "--reverse", "main").split(
        "\n",
      )) {
        const there = new Set(git(fleet.hub, "ls-tree", "--name-only", commit).split("\n"));
        expect(
          [...before].filter((path) => !there.has(path)),
          `${story}: what a landed run proved holds at ${commit}`,
        ).toEqual([]);

        before = there;
      }

      expect(
        [...keys.values()]
          .flatMap((path) => [path, `${path}.part`])
          .filter((path) => !before.has(path)),
      ).toEqual([]);
    },
  );
});

/** A run that is submitted while the database is down is refused, and submitted again. */
function unlessDown(error: unknown): void {
  if (!String(error).includes("store_unreachable")) throw error;
}
