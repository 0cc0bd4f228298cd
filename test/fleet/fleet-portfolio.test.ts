// A portfolio whose tasks are worked on by workers of a store ends as the same portfolio on files
// does. `AUTOPILOT_FAULTS=all`: two machines with eight agents each and 120 tasks, a tenth of which
// fail first.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listPlannedPortfolios } from "../../src/fleet/planned-portfolios.ts";
import { openPostgresStore } from "../../src/fleet/postgres/store.ts";
import { nodeDisk } from "../../src/journal/disk.ts";
import { takeLock } from "../../src/journal/lock.ts";
import { verifyJournal } from "../../src/journal/read.ts";
import {
  autopilot,
  type begin,
  begin as start,
  type Reported,
  until,
} from "../support/autopilot.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { scratchFolder } from "../support/scratch-repository.ts";
import { taskResult } from "../support/task-result.ts";
import { longTest } from "../support/sampled.ts";
import { type Link, type Links, namespacesMissing, openNamespaces, proxies } from "./links.ts";
import {
  at,
  linesOf,
  type Machine,
  openFleet,
  patientMs,
  said,
  shortMs,
  worker,
} from "./machines.ts";
import { summarizeEnd, portfolio, rebuilt, standby } from "./made-portfolio.ts";

const isLong = process.env["AUTOPILOT_FAULTS"] === "all";
const tasks = isLong ? 120 : 2;
const jobs = isLong ? 8 : 2;
/** The tasks that two machines plan in turn. */
const planned = isLong ? 3 : 1;
const missing = postgresBin === null ? null : namespacesMissing();
let links: Links;
let cluster: Cluster;
const opened: Link[] = [];
const running: ReturnType<typeof begin>[] = [];

const run = (
  { folder, env }: Machine,
  ...args: readonly string[]
): Promise<{ readonly json: Reported; readonly out: string; readonly err: string }> =>
  autopilot(
    folder,
    [
      "portfolio",
      "run",
      "--until-idle",
      "--isolation",
      "clone",
      "--jobs",
      String(jobs * 2),
      ...args,
      "--json",
    ],
    { env },
  );

describe.skipIf(postgresBin === null)(`a portfolio on a fleet${withoutPostgres}`, () => {
  beforeAll(() => {
    links = missing === null ? openNamespaces(["one", "two"]) : proxies;
    cluster = startCluster([], false, { within: links.server, subnet: links.subnet });
  });

  afterAll(async () => {
    for (const { child, ended } of running) {
      child.kill("SIGKILL");
      await ended;
    }

    for (const link of opened) link.close();
    cluster.stop();
    links.close();
  });

  test(
    "ends as the same portfolio on files does, and every task was worked on elsewhere",
    { timeout: isLong ? 3_600_000 : 600_000 },
    async () => {
      const url = cluster.database("portfolio");
      await at({ folder: scratchFolder(), env: { AUTOPILOT_STORE: url } }, "fleet", "init");
      const [fleet, files] = [openFleet(url), openFleet(url)];
      for (let n = 0; n < 2; n++) running.push(worker(fleet.another(), "--jobs", String(jobs)));
      const elsewhere = await portfolio(fleet.first.folder, fleet.first.env, tasks, jobs * 2);
      const ended = await run(elsewhere, "--fleet");
      expect(ended.json, `${ended.out}\n${ended.err}`).toMatchObject({ result: "PASS" });
      const here = await portfolio(files.first.folder, {}, tasks, jobs * 2);
      const alone = await run(here);
      expect(alone.json, `${alone.out}\n${alone.err}`).toMatchObject({ result: "PASS" });
      expect(await summarizeEnd(elsewhere, fleet.first.folder, fleet.hub)).toEqual(
        await summarizeEnd(here, files.first.folder),
      );

      const owners = cluster.sql(
        "portfolio",
        "select count(*) from autopilot.work_order where state = 'ended' and times_taken >= 1",
      );
      expect(Number(owners)).toBeGreaterThanOrEqual(tasks);
      const { AUTOPILOT_HUB: _hub, ...without } = elsewhere.env;
      const again = await run({ folder: elsewhere.folder, env: without }, "--fleet");
      expect(again.json, "the portfolio knows its hub").toMatchObject({ result: "PASS" });
      const refused = await run({ folder: here.folder, env: without }, "--fleet");
      expect(refused.json).toMatchObject({ result: "FAIL", reason_code: "hub_unusable" });
    },
  );

  test(
    `is planned by one machine: another waits, and takes over when the first is killed, cut off or stopped; nothing is done twice${missing === null ? "" : ` (machines share a network: ${missing})`}`,
    { timeout: 600_000 },
    async () => {
      const url = cluster.database("standby");
      await at({ folder: scratchFolder(), env: { AUTOPILOT_STORE: url } }, "fleet", "init");
      const fleet = openFleet(url, shortMs);
      const machine = await portfolio(fleet.first.folder, fleet.first.env, planned);
      const store = await openPostgresStore(url, { leaseMs: patientMs });
      const planner = async (): Promise<number | null> =>
        listPlannedPortfolios(await store.runs())[0]?.holder?.pid ?? null;
      const [one, two] = (["one", "two"] as const).map((name) =>
        links.open(name, cluster.socket, fleet.hub, "standby"),
      );
      opened.push(...[one, two].filter((link) => link !== undefined));
      let other = machine;

      const pool = (link = one): ReturnType<typeof begin> => {
        const { folder } = link === two ? other : machine;
        const args = [
          "portfolio",
          "run",
          "--fleet",
          "--until-idle",
          "--isolation",
          "clone",
          "--jobs",
          "3",
          "--json",
        ];
        const begun = start(folder, args, {
          env: { ...machine.env, ...link?.env },
          on: link?.on ?? [],
        });
        running.push(begun);

        return begun;
      };

      const plans = (one: ReturnType<typeof begin>): Promise<unknown> =>
        expect.poll(planner, { timeout: 240_000, interval: 100 }).toBe(one.child.pid);
      const offered = async (): Promise<number> =>
        Number(cluster.sql("standby", "select count(*) from autopilot.work_order"));

      const first = pool();
      await plans(first);
      const alone = await autopilot(machine.folder, ["portfolio", "run", "--json"], {});
      expect(alone.json.reason_code, "a pool that knows of no store is kept out").toBe(
        "store_unusable",
      );

      const key = listPlannedPortfolios(await store.runs())[0]?.key ?? "";
      other = await standby(fleet.another(), key);
      const second = pool(two);
      await expect.poll(offered, { timeout: 120_000, interval: 250 }).toBe(planned); // each look starts a client
      first.child.kill("SIGKILL");
      await plans(second);
      const third = pool();
      two?.lose({ questions: true, answers: true });
      await plans(third);
      two?.heal();
      running.push(worker(fleet.another({ AUTOPILOT_LEASE_MS: String(patientMs) }), "--jobs", "2"));
      const journal = join(machine.folder, ".autopilot/portfolio");
      const copied = join(other.folder, ".autopilot/portfolio");

      // Stopped in the middle of a change it would keep the journal until it is killed or woken.
      for (let isFree = false; !isFree;) {
        third.child.kill("SIGSTOP");
        await until("it to stop", () =>
          /\) T /.test(readFileSync(`/proc/${third.child.pid}/stat`, "latin1")),
        );

        isFree = await takeLock(nodeDisk, journal).then(
          (lock) => (lock.release(), true),
          () => false,
        );

        if (!isFree) third.child.kill("SIGCONT");
      }

      await plans(second);
      third.child.kill("SIGCONT");
      const [last, woken] = await Promise.all([second.ended, third.ended]);
      await store.close();
      expect(woken.json, said(woken)).toMatchObject({ result: "PASS" });
      expect(woken.err).toContain("this pool has lost the portfolio");
      expect(last.err, "cut off, it lost it too").toMatch(
        /this pool has lost the portfolio|the store does not answer/,
      );

      expect(last.json, said(last)).toMatchObject({ result: "PASS", left: 0 });
      expect(await summarizeEnd(machine, fleet.first.folder, fleet.hub)).toMatchObject({
        statuses: Array.from({ length: planned }, () => "done"),
        landed: planned,
        dirt: "",
      });

      expect(await rebuilt(other), "both folders show the same").toEqual(await rebuilt(machine));
      expect(readFileSync(join(copied, "journal.jsonl"), "utf8")).toBe(
        readFileSync(join(journal, "journal.jsonl"), "utf8"),
      );

      expect([journal, copied].map((folder) => verifyJournal(folder))).toMatchObject([
        { ok: true },
        { ok: true },
      ]);

      const file = join(scratchFolder(), "exported.jsonl");
      expect((await at(other, "fleet", "export", key, "--to", file)).json.result).toBe("PASS");
      expect(readFileSync(file, "utf8")).toBe(readFileSync(join(journal, "journal.jsonl"), "utf8"));
      const lines = linesOf(join(journal, "journal.jsonl")).map(
        (line) => JSON.parse(line) as { readonly event: string; readonly task_id?: string },
      );
      const landed = lines.flatMap(({ event, task_id }) =>
        event === "merge_landed" ? (task_id ?? []) : [],
      );
      expect(new Set(landed).size, "each landed").toBe(planned);
      expect(landed, "once").toHaveLength(planned);
      const story = lines.map(({ event, task_id }) => `${event} ${task_id ?? ""}`).join("\n");
      const runs = cluster.sql("standby", "select count(*) from autopilot.run where kind = 'run'");
      expect(runs, `no run was begun a second time:\n${story}`).toBe(String(planned));
      expect(
        cluster.sql("standby", "select count(*) from autopilot.work_order"),
        "nor offered",
      ).toBe(String(planned));
    },
  );

  longTest(
    "a question of a task's run is answered on a machine that has no copy of it, which then goes on with the same run",
    "test/fleet/shared-portfolio.test.ts › is taken into a folder of another machine: nothing in it is changed, and nothing gains rights before its user agrees",
    async () => {
      const url = cluster.database("asks");
      await at({ folder: scratchFolder(), env: { AUTOPILOT_STORE: url } }, "fleet", "init");
      const fleet = openFleet(url);
      const machine = await portfolio(fleet.first.folder, fleet.first.env, 0);
      const script = join(machine.folder, "asks.json");
      const asks = {
        do: [{ ask: { question: "Which way?", options: ["left", "right"] } }],
        confidence: 0.9,
      };

      const makes = {
        do: [
          { write: { path: "made.txt", text: "made\n" } },
          { say: "finished <promise>DONE</promise>" },
        ],
      };

      writeFileSync(
        script,
        JSON.stringify({ turns: [{ when: { step: "report" }, returns: taskResult }, asks, makes] }),
      );

      const task = [
        "portfolio",
        "add",
        "task",
        "Shop",
        "make it",
        "--agent",
        `scripted:${script}`,
        "--isolation",
        "clone",
      ];
      expect((await at(machine, ...task, "--accept", "made :: test -f made.txt")).json.result).toBe(
        "PASS",
      );

      running.push(worker(fleet.another()));
      const asked = await run(machine, "--fleet");
      expect(asked.json, `${asked.out}\n${asked.err}`).toMatchObject({ done: 0, left: 1 });

      const store = await openPostgresStore(url);
      const key = listPlannedPortfolios(await store.runs())[0]?.key ?? "";
      await store.close();
      const other = await standby(fleet.another(), key);
      const inbox = await at(other, "portfolio", "inbox");
      expect(inbox.json["blocks"], said(inbox)).toMatchObject([{ question: "Which way?" }]);
      const answered = await at(other, "portfolio", "answer", "left");
      expect(answered.json, said(answered)).toMatchObject({
        result: "PASS",
        reason_code: "block_answered",
      });

      const ended = await run(other, "--fleet");
      expect(ended.json, `${ended.out}\n${ended.err}`).toMatchObject({
        result: "PASS",
        done: 1,
        left: 0,
      });

      const seen = await at(machine, "portfolio", "status");
      expect(seen.json, said(seen)).toMatchObject({
        tasks: [{ status: "done" }],
        store: { key, shown: "store" },
      });

      expect(
        cluster.sql("asks", "select count(*) from autopilot.run where kind = 'run'"),
        "the same run went on",
      ).toBe("1");
    },
  );

  longTest(
    "asks a person about a task that workers die of",
    "test/fleet/workers.test.ts › a run that workers die of is given to no further one until a person says so; questions are answered, and runs paused, resumed and stopped, from another machine",
    async () => {
      const url = cluster.database("poison");
      await at({ folder: scratchFolder(), env: { AUTOPILOT_STORE: url } }, "fleet", "init");
      const fleet = openFleet(url);
      const machine = await portfolio(fleet.first.folder, fleet.first.env, 1);
      const pool = run(machine, "--fleet");
      const orders = (): string =>
        cluster.sql("poison", "select count(*) from autopilot.work_order");
      await expect.poll(orders, { timeout: 120_000, interval: 250 }).toBe("1");
      cluster.sql(
        "poison",
        "update autopilot.work_order set state = 'taken', worker_id = 'gone', worker_epoch = 1, taken_at = now(), times_taken = 5, deaths = 4",
      );

      running.push(worker(fleet.another()));
      const ended = await pool;
      expect(ended.err, ended.out).toContain("5 workers in a row died or fell silent");
      const { json } = await at(machine, "portfolio", "status");
      expect(
        (json["tasks"] as readonly { readonly status: string }[]).map(({ status }) => status),
      ).toEqual(["blocked_human"]);
    },
    300_000,
  );
});
