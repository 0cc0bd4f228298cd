// Projects of several repositories in a store: each repository has its own hub, and a machine that
// takes the portfolio over has a clone of each.

import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bringTasks } from "../../src/commands/fleet/bring-tasks.ts";
import { recoverTasks } from "../../src/commands/portfolio/recover-tasks.ts";
import { dispatch, type WorkerPool } from "../../src/portfolio/worker/dispatch.ts";
import { takePortfolio } from "../../src/commands/fleet/take-portfolio.ts";
import { addProject as add, addTask, initPortfolio } from "../../src/commands/portfolio/add.ts";
import { adoptPortfolio } from "../../src/commands/portfolio/adopt.ts";
import { editPortfolio } from "../../src/commands/portfolio/edit.ts";
import { importBacklog } from "../../src/commands/portfolio/import.ts";
import { listPlannedPortfolios } from "../../src/fleet/planned-portfolios.ts";
import type { PostgresStore } from "../../src/fleet/postgres/store.ts";
import { sharePortfolio } from "../../src/fleet/share-portfolio.ts";
import { openSharedStore } from "../../src/fleet/shared-run.ts";
import { still, sweep } from "../../src/journal/scene.test-support.ts";
import { readClones } from "../../src/portfolio/store/clones.ts";
import { readPortfolio } from "../../src/portfolio/store/fold.ts";
import { portfolioAt, type PortfolioPaths } from "../../src/portfolio/store/folder.ts";
import { withPortfolio } from "../../src/portfolio/store/open.ts";
import { openProjectExchange } from "../../src/portfolio/worker/exchange-for.ts";
import type { CommandContext } from "../../src/project/command-context.ts";
import { toFailure } from "../../src/project/respond.ts";
import { begin } from "../support/autopilot.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { git, scratch, scratchFolder, write } from "../support/scratch-repository.ts";
import { longTest } from "../support/sampled.ts";
import { at, gate, type Machine, openFleet, said, shortMs, worker } from "./machines.ts";
import { addProject, portfolio } from "./made-portfolio.ts";

let cluster: Cluster;
let env: NodeJS.ProcessEnv;
let store: PostgresStore;
const running: ReturnType<typeof begin>[] = [];
const home = scratchFolder();
const contextIn = (cwd: string, more: NodeJS.ProcessEnv = {}): CommandContext => ({
  cwd,
  env: { ...env, ...more },
  user: "kim",
  isTerminal: false,
  show: () => undefined,
  showLive: () => undefined,
  ask: () => Promise.resolve(null),
  interrupted: new AbortController().signal,
});

/** A repository that no other one is a clone of, and its hub. */
function made(name: string): { readonly repository: string; readonly hub: string } {
  const repository = scratch({ files: { "README.md": `${name}\n` } });
  return { repository, hub: hubOf(repository) };
}
function hubOf(repository: string, branch = "main"): string {
  const hub = join(scratchFolder(), "hub.git");
  git(repository, "init", "-q", "--bare", "-b", "main", hub);
  if (branch !== "") git(repository, "push", "-q", hub, branch);

  return hub;
}
let planners = 0;
const planning = async (paths: PortfolioPaths): Promise<PortfolioPaths> => {
  const { lease } = await store.open(`portfolio-${++planners}/planner`, "portfolio", still);
  return { ...paths, planner: { lease, unbrought: new Map() } };
};
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => toFailure(error).code,
  );

describe.skipIf(postgresBin === null)(`a hub for each repository${withoutPostgres}`, () => {
  beforeAll(async () => {
    cluster = startCluster();
    env = { HOME: home, PATH: process.env["PATH"], AUTOPILOT_STORE: cluster.database("hubs") };

    const ended = await at(
      { folder: scratchFolder(), env: { AUTOPILOT_STORE: env["AUTOPILOT_STORE"] ?? "" } },
      "fleet",
      "init",
    );
    expect(ended.json.result, said(ended)).toBe("PASS");
    store = await openSharedStore(env);
  });

  afterAll(async () => {
    for (const { child, ended } of running) {
      child.kill("SIGKILL");
      await ended;
    }

    await store.close();
    cluster.stop();
    sweep();
  });

  longTest(
    "projects of two repositories land on two hubs, and a machine that has neither goes on when the first is killed",
    "test/fleet/project-hubs.test.ts › a machine that takes it over clones each hub once, and later those that were away or new",
    async () => {
      const url = cluster.database("two");
      await at({ folder: scratchFolder(), env: { AUTOPILOT_STORE: url } }, "fleet", "init");
      const [shop, bank] = ["shop", "bank"].map((name) =>
        openFleet(url, shortMs, { "README.md": `${name}\n` }),
      );
      if (shop === undefined || bank === undefined) throw new Error("no fleet");
      const { AUTOPILOT_HUB: _hub, ...without } = shop.first.env;
      const { waits, open } = gate();
      const first = await portfolio(shop.first.folder, without, 2, 4, () => waits);
      await addProject(first, "Bank", bank.first.folder, 2, { first: () => waits });

      const run = [
        "portfolio",
        "run",
        "--fleet",
        "--until-idle",
        "--isolation",
        "clone",
        "--jobs",
        "4",
        "--json",
      ];
      const refused = await begin(first.folder, run, { env: without }).ended;
      expect(refused.json, said(refused)).toMatchObject({
        result: "FAIL",
        reason_code: "hub_unusable",
      });

      for (const id of ["proj-shop", "proj-bank"]) {
        expect(said(refused)).toContain(`autopilot portfolio edit ${id} --hub URL`);
      }

      expect(
        cluster.sql("two", "select count(*) from autopilot.run"),
        "and it stays on files",
      ).toBe("0");

      const settle = await at(first, "portfolio", "edit", "proj-bank", "--hub", bank.hub);
      expect(settle.json, said(settle)).toMatchObject({ result: "PASS" });
      const named: Machine = { ...first, env: { ...without, AUTOPILOT_HUB: shop.hub } }; // it has one of the two repositories

      for (const fleet of [shop, bank]) {
        running.push(worker(fleet.another({ AUTOPILOT_LEASE_MS: "300000" }), "--jobs", "2"));
      }

      const killed = begin(named.folder, run, { env: named.env });
      running.push(killed);
      const taken = (): string =>
        cluster.sql("two", "select count(*) from autopilot.work_order where state = 'taken'");
      await expect.poll(taken, { timeout: 240_000, interval: 250 }).toBe("4");
      killed.child.kill("SIGKILL");
      await killed.ended;
      for (const { folder } of [shop.first, bank.first]) renameSync(folder, `${folder}.gone`); // with its disk

      const elsewhere = await openSharedStore({ ...env, AUTOPILOT_STORE: url });
      const key = listPlannedPortfolios(await elsewhere.runs())[0]?.key ?? "";
      await elsewhere.close();
      const root = join(scratchFolder(), "there");
      const outside: Machine = { folder: scratchFolder(), env: without };
      const brought = await at(outside, "portfolio", "take", key, "--into", root);
      expect(brought.json, said(brought)).toMatchObject({ result: "PASS", warnings: [] });
      const clones = Object.values(brought.json["clones"] as Readonly<Record<string, string>>);
      expect(
        clones.map((folder) => readFileSync(join(folder, "README.md"), "utf8")).toSorted(),
      ).toEqual(["bank\n", "shop\n"]);

      const second: Machine = { folder: root, env: without };
      expect((await at(second, "portfolio", "adopt", "--yes")).json.result).toBe("PASS");
      const pool = begin(second.folder, run, { env: without });
      running.push(pool);
      open();
      const ended = await pool.ended;
      expect(ended.json, said(ended)).toMatchObject({ result: "PASS", left: 0 });

      for (const { hub } of [shop, bank]) {
        for (const path of ["made-0.txt", "made-1.txt"]) {
          expect(
            git(hub, "log", "--no-merges", "--format=%H", "main", "--", path).split("\n"),
            "landed once",
          ).toHaveLength(1);
        }
      }

      expect(
        cluster.sql("two", "select count(*) from autopilot.run where kind = 'run'"),
        "no run was begun a second time",
      ).toBe("4");
    },
  );

  test("a hub is looked at before it is a repository's: unreachable, without the branch, of another repository, or with a password", async () => {
    const [shop, bank] = [made("shop"), made("bank")];
    const root = scratchFolder();
    const [context, paths] = [contextIn(root), portfolioAt(root)];
    await initPortfolio(context, { name: "many" });
    expect((await add(context, { name: "Shop", repo: shop.repository })).result).toBe("PASS");

    const edit = async (hub: string) => {
      const { reason_code, message, remediation } = await editPortfolio(context, {
        id: "proj-shop",
        hub,
      });

      return { code: reason_code, text: `${message}\n${remediation.join("\n")}` };
    };

    const empty = hubOf(shop.repository, "");
    expect(await edit(join(scratchFolder(), "nowhere.git"))).toMatchObject({
      code: "hub_unreachable",
    });

    expect(await edit(empty)).toEqual({
      code: "hub_unusable",
      text: expect.stringContaining(`push ${empty} main`) as string,
    });

    expect(await edit(bank.hub)).toEqual({
      code: "hub_unusable",
      text: expect.stringContaining("another repository") as string,
    });

    expect(await edit("https://kim:word@hub.example/x.git")).toEqual({
      code: "hub_unusable",
      text: expect.stringContaining("password") as string,
    });

    expect(await edit("ext::sh -c id")).toMatchObject({ code: "hub_unusable" });
    expect((await readPortfolio(paths)).hubs).toEqual({});
    expect(await edit(shop.hub)).toMatchObject({ code: "ok" });
    expect((await readPortfolio(paths)).hubs).toEqual({ [shop.repository]: shop.hub });
    const page = readFileSync(join(paths.pagesFolder, "projects/proj-shop.md"), "utf8");
    expect(page).toContain(shop.hub);
  });

  test("in a store every repository that is added has a hub: its own, or it is refused with what gives it one", async () => {
    const [shop, bank, mint] = [made("shop"), made("bank"), made("mint")];
    const root = scratchFolder();
    const [context, paths] = [contextIn(root), portfolioAt(root)];
    await initPortfolio(context, { name: "many" });
    await add(context, { name: "Shop", repo: shop.repository, hub: shop.hub });
    await sharePortfolio(store, paths.ownFolder);
    const refused = await add(context, { name: "Bank", repo: bank.repository });
    expect(refused, refused.message).toMatchObject({
      reason_code: "hub_unusable",
      remediation: expect.arrayContaining([expect.stringContaining("--hub")]) as string[],
    });

    expect(
      await add(context, { name: "Bank", repo: bank.repository, hub: shop.hub }),
    ).toMatchObject({ reason_code: "hub_unusable" });

    const wrong = contextIn(root, { AUTOPILOT_HUB: shop.hub });
    expect(
      await add(wrong, { name: "Bank", repo: bank.repository }),
      "it has another repository",
    ).toMatchObject({
      reason_code: "hub_unusable",
    });

    const right = contextIn(root, { AUTOPILOT_HUB: bank.hub });
    expect(await add(right, { name: "Bank", repo: bank.repository })).toMatchObject({
      result: "PASS",
    });

    // Two projects over one repository share its hub; another one is none of theirs.
    expect(await add(context, { name: "Till", repo: shop.repository })).toMatchObject({
      result: "PASS",
    });

    const other = hubOf(shop.repository);
    expect(await add(context, { name: "Desk", repo: shop.repository, hub: other })).toMatchObject({
      reason_code: "hub_unusable",
    });

    const list = (text: string): string => {
      write(root, { "list.yaml": text });
      return "list.yaml";
    };

    const two = `projects:\n  - { name: A, repo: ${mint.repository}, hub: ${mint.hub} }\n`;
    const faulty = await importBacklog(context, {
      file: list(
        `${two}  - { name: B, repo: ${mint.repository}, hub: ${hubOf(mint.repository)} }\n`,
      ),
    });
    expect(faulty.message).toContain("a repository has one");
    expect(
      (
        await importBacklog(context, {
          file: list(`projects:\n  - { name: A, repo: ${mint.repository} }\n`),
        })
      ).result,
    ).toBe("FAIL");

    expect(
      await importBacklog(context, {
        file: list(`${two}  - { name: B, repo: ${mint.repository} }\n`),
      }),
    ).toMatchObject({
      result: "PASS",
      data: { projects: ["proj-a", "proj-b"] },
    });

    expect((await readPortfolio(paths)).hubs).toEqual({
      [shop.repository]: shop.hub,
      [bank.repository]: bank.hub,
      [mint.repository]: mint.hub,
    });
  });

  test("whoever plans works with each repository's own hub, goes with it when it moves, and refuses one that has become another's", async () => {
    const [shop, bank] = [made("shop"), made("bank")];
    const root = scratchFolder();
    const [context, paths] = [contextIn(root), portfolioAt(root)];
    await initPortfolio(context, { name: "many" });
    await add(context, { name: "Shop", repo: shop.repository, hub: shop.hub });
    await add(context, { name: "Bank", repo: bank.repository, hub: bank.hub });
    await sharePortfolio(store, paths.ownFolder);

    for (const { repository } of [shop, bank]) {
      git(repository, "commit", "-q", "--allow-empty", "-m", "not pushed");
    }

    const exchange = async ({ repository }: typeof shop) =>
      openProjectExchange(await planning(paths), await readPortfolio(paths), repository);
    for (const one of [shop, bank]) {
      expect(await (await exchange(one)).readTip("main")).toBe(git(one.hub, "rev-parse", "main"));
    }

    expect(await (await exchange(shop)).readTip("gone")).toBeNull();

    const moved = hubOf(shop.repository);
    const task = await addTask(context, {
      project: "Shop",
      objective: "sell",
      accept: ["sold :: true"],
      isolation: "clone",
    });
    const task_id = String(task.data?.["id"]);
    const by = { actor: "planner", reason_code: "ok" } as const;
    await withPortfolio(context, paths, ({ write: append }) =>
      append({
        ...by,
        event: "task_dispatched",
        task_id,
        run_id: "run-2026-01-02-030405",
        event_nonce: "0123456789abcdef01234567",
        worker_backend: "acp",
        worker_agent_id: "codex",
        worker_session_key: "s",
        base: git(shop.hub, "rev-parse", "main"),
        copy: `${task_id}.1-1`,
      }),
    );

    const early = await editPortfolio(context, { id: "proj-shop", hub: moved });
    expect([early.reason_code, early.message]).toEqual([
      "hub_unusable",
      expect.stringContaining(`${task_id} is running`),
    ]);

    await withPortfolio(context, paths, ({ write: append }) =>
      append({
        ...by,
        event: "task_status_changed",
        task_id,
        to_status: "ready",
        because: "taken back",
      }),
    );

    expect(await editPortfolio(context, { id: "proj-shop", hub: moved })).toMatchObject({
      result: "PASS",
    });

    renameSync(shop.hub, `${shop.hub}.gone`);
    expect(await (await exchange(shop)).readTip("main"), "nothing asks the old one").toBe(
      git(moved, "rev-parse", "main"),
    );

    renameSync(bank.hub, `${bank.hub}.gone`);
    expect(await codeOf(exchange(bank).then(({ readTip }) => readTip("main")))).toBe(
      "hub_unreachable",
    );

    git(bank.repository, "clone", "-q", "--bare", moved, bank.hub);
    git(bank.hub, "branch", "-m", "main", "trunk");
    git(bank.hub, "update-ref", "refs/heads/next", "trunk");
    expect(
      await codeOf(exchange(bank).then(({ readTip }) => readTip("next"))),
      "another repository under its address",
    ).toBe("hub_unusable");
  });

  test("a machine that takes it over clones each hub once, and later those that were away or new", async () => {
    const [shop, bank] = [made("shop"), made("bank")];
    const root = scratchFolder();
    const [context, paths] = [contextIn(root), portfolioAt(root)];
    await initPortfolio(context, { name: "many" });
    await add(context, { name: "Shop", repo: shop.repository, hub: shop.hub });
    await add(context, { name: "Till", repo: shop.repository });
    await add(context, { name: "Bank", repo: bank.repository, hub: bank.hub });
    const key = await sharePortfolio(store, paths.ownFolder);
    renameSync(bank.hub, `${bank.hub}.away`);
    const there = join(scratchFolder(), "there");
    const here = contextIn(scratchFolder());
    const taken = await takePortfolio(here, { key, into: there });
    expect(taken, taken.message).toMatchObject({
      result: "PASS",
      data: { clones: { [shop.repository]: join(there, "clones/proj-shop") } },
    });

    expect(taken.warnings.join("\n")).toContain(bank.hub);
    const other = portfolioAt(there);
    const { page = [] } = await adoptPortfolio(contextIn(there), {});

    for (const hub of [shop.hub, bank.hub]) {
      expect(page.join("\n"), "where commits go is shown first").toContain(hub);
    }

    expect((await adoptPortfolio(contextIn(there), { yes: true })).result).toBe("PASS");
    for (const { repository } of [shop, bank]) renameSync(repository, `${repository}.gone`);
    const exchange = async () =>
      openProjectExchange(await planning(other), await readPortfolio(other), bank.repository);
    expect(await codeOf(exchange())).toBe("hub_unreachable");
    expect(existsSync(join(there, "clones/proj-bank")), "whole or not at all").toBe(false);
    renameSync(`${bank.hub}.away`, bank.hub);
    const tip = git(bank.hub, "rev-parse", "main");
    expect(await (await exchange()).readTip("main")).toBe(tip);
    expect(readClones(other)).toEqual({
      [shop.repository]: join(there, "clones/proj-shop"),
      [bank.repository]: join(there, "clones/proj-bank"),
    });

    mkdirSync(join(there, "clones/proj-mint"), { recursive: true });
    expect(
      (await takePortfolio(here, { key, into: there })).result,
      "given again it changes nothing",
    ).toBe("PASS");
  });

  test("a hub that is away when a machine takes over holds up its own tasks only, and they go on with the same run once it is back", async () => {
    const [shop, bank] = [made("shop"), made("bank")];
    const root = scratchFolder();
    const [context, paths] = [contextIn(root), portfolioAt(root)];
    await initPortfolio(context, { name: "many" });
    await add(context, { name: "Shop", repo: shop.repository, hub: shop.hub });
    await add(context, { name: "Bank", repo: bank.repository, hub: bank.hub });
    const script = join(scratchFolder(), "agent.json");
    write(join(script, ".."), { "agent.json": JSON.stringify({ turns: [] }) });
    const agent = `scripted:${script}`;
    const ids: string[] = [];

    for (const [n, { hub }] of [shop, bank].entries()) {
      const added = await addTask(context, {
        project: ["Shop", "Bank"][n] ?? "",
        objective: "do",
        accept: ["done :: true"],
        agent,
        isolation: "clone",
      });
      const task_id = String(added.data?.["id"]);
      ids.push(task_id);
      await withPortfolio(context, paths, ({ write: append }) =>
        append({
          actor: "planner",
          reason_code: "ok",
          event: "task_dispatched",
          task_id,
          run_id: `run-2026-01-02-03040${n}`,
          event_nonce: "0123456789abcdef01234567",
          worker_backend: "acp",
          worker_agent_id: "scripted",
          worker_session_key: "s",
          base: git(hub, "rev-parse", "main"),
          copy: `${task_id}.1-1`,
        }),
      );
    }

    await sharePortfolio(store, paths.ownFolder);
    mkdirSync(join(paths.ownFolder, "copies"), { recursive: true });
    renameSync(bank.hub, `${bank.hub}.away`);
    const planner = await planning(paths);
    await bringTasks(context, planner, "clone");
    const hasCopy = () => ids.map((id) => existsSync(join(paths.ownFolder, "copies", `${id}.1-1`)));
    expect([hasCopy(), [...(planner.planner?.unbrought.keys() ?? [])]]).toEqual([
      [true, false],
      [ids[1]],
    ]);

    const looked = await withPortfolio(context, planner, (open) =>
      recoverTasks({ paths: planner, active: new Map() }, open),
    );
    expect(looked.gone.has(ids[1] ?? "")).toBe(true);
    const driven: string[] = [];
    const drive: WorkerPool["drive"] = (_context, _copy, run) => (
      driven.push(run),
      Promise.resolve(null)
    );

    const pool: WorkerPool = {
      context,
      paths: planner,
      input: { isolation: "clone" },
      active: new Map(),
      starting: new Set(),
      warnings: new Set(),
      drive,
    };

    const by = { actor: "system", reason_code: "ok" } as const;
    const lost = {
      ...by,
      event: "lease_lost",
      run_id: "run-2026-01-02-030401",
      because: "gone",
      usage: { tokens: 0, usd: 0 },
    } as const;

    await withPortfolio(context, planner, ({ write: append }) =>
      append({ ...lost, task_id: ids[1] ?? "" }),
    );

    await dispatch(pool, { task_id: ids[1] ?? "", agent, allowance: {} });
    expect((await readPortfolio(planner)).tasks[ids[1] ?? ""]?.delay).toMatchObject({
      reason: "hub_unreachable",
      doing: "start",
    });

    renameSync(`${bank.hub}.away`, bank.hub);
    await dispatch(pool, { task_id: ids[1] ?? "", agent, allowance: {} });
    await Promise.all([...pool.active.values()].map(({ ended }) => ended));
    expect([driven, hasCopy(), planner.planner?.unbrought.size]).toEqual([
      ["run-2026-01-02-030401"],
      [true, true],
      0,
    ]);
  });

  test("a portfolio from elsewhere brings no hub with it", async () => {
    const shop = made("shop");
    const root = scratchFolder();
    const context = contextIn(root);
    await initPortfolio(context, { name: "many" });
    await add(context, { name: "Shop", repo: shop.repository, hub: shop.hub });
    const stranger = contextIn(root, { HOME: scratchFolder() });
    expect((await adoptPortfolio(stranger, { yes: true })).result).toBe("PASS");
    expect((await readPortfolio(portfolioAt(root))).hubs).toEqual({});
  });
});
