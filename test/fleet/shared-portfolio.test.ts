// A portfolio whose journal is in PostgreSQL, in this process: its folders are copies, written
// after the store has acknowledged.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bringTasks } from "../../src/commands/fleet/bring-tasks.ts";
import { takePortfolio } from "../../src/commands/fleet/take-portfolio.ts";
import { addProject, addTask, initPortfolio } from "../../src/commands/portfolio/add.ts";
import { adoptPortfolio } from "../../src/commands/portfolio/adopt.ts";
import { showPortfolio } from "../../src/commands/portfolio/show.ts";
import type { Event } from "../../src/contracts/event.ts";
import type { PortfolioChange } from "../../src/contracts/portfolio/portfolio-journal.ts";
import { openFileStore } from "../../src/fleet/file-store.ts";
import { connect } from "../../src/fleet/postgres/connect.ts";
import { grantTo, migrate } from "../../src/fleet/postgres/migrate.ts";
import { openPostgresStore, type PostgresStore } from "../../src/fleet/postgres/store.ts";
import { sharePortfolio } from "../../src/fleet/share-portfolio.ts";
import { markShared, plannerKey, readPortfolioMark } from "../../src/fleet/shared-mark.ts";
import { openShared, openSharedStore } from "../../src/fleet/shared-run.ts";
import { verifyJournal } from "../../src/journal/read.ts";
import { failureFrom, still, sweep } from "../../src/journal/scene.test-support.ts";
import type { PortfolioView } from "../../src/portfolio/planner/state.ts";
import { findClone } from "../../src/portfolio/store/clones.ts";
import { openStored, readPortfolio } from "../../src/portfolio/store/fold.ts";
import { type PortfolioPaths, portfolioAt } from "../../src/portfolio/store/folder.ts";
import { withPortfolio } from "../../src/portfolio/store/open.ts";
import type { RunStore } from "../../src/ports/run-store.ts";
import type { CommandContext } from "../../src/project/command-context.ts";
import { commandContext } from "../support/command-context.ts";
import { toFailure, findRetryPolicy } from "../../src/project/respond.ts";
import { pathsOfCopy } from "../../src/portfolio/worker/task-runs.ts";
import { isBegun, type ProjectPaths, runFolder } from "../../src/project/runs/project-paths.ts";
import { isOwnRun } from "../../src/project/runs/run-binding.ts";
import { makeDraft } from "../../src/runner/draft/make-draft.ts";
import { portfolioStoreSuite } from "../contracts/portfolio-store-suite.ts";
import { type Cluster, postgresBin, startCluster, withoutPostgres } from "../support/postgres.ts";
import { git, scratch, scratchFolder } from "../support/scratch-repository.ts";

let cluster: Cluster;
let env: NodeJS.ProcessEnv;
let store: PostgresStore;
const home = scratchFolder();
const contextIn = (cwd: string, more: NodeJS.ProcessEnv = {}): CommandContext =>
  commandContext({ cwd, env: { ...env, ...more } });

const lapse = async (run: string): Promise<void> =>
  void cluster.sql(
    "portfolios",
    `update autopilot.run set lease_until = clock_timestamp() - interval '1 s' where run_id = '${run}'`,
  );
const journalOf = ({ ownFolder }: PortfolioPaths): string =>
  readFileSync(join(ownFolder, "journal.jsonl"), "utf8");
async function stored(key: string): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const line of store.lines(key, 0)) parts.push(line, Buffer.from("\n"));
  return Buffer.concat(parts).toString();
}
/** Every file that people and tools read, with its content. */
const drawn = ({ pagesFolder: shown }: PortfolioPaths): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(shown, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(shown, name)).isFile())
      .map((name) => [name, readFileSync(join(shown, name), "utf8")]),
  );

type Place = { readonly paths: PortfolioPaths; readonly context: CommandContext };

/** A portfolio on files, with a project. */
async function made(): Promise<Place> {
  const root = scratchFolder();
  const context = contextIn(root);
  await initPortfolio(context, { name: "shop" });
  const added = await addProject(context, { name: "Shop", repo: scratch(), objective: "work" });
  expect(added.result, added.message).toBe("PASS");

  return { paths: portfolioAt(root), context };
}
/** Another machine's folder of the same portfolio: nothing but the mark. */
function folderFor(key: string): Place {
  const root = scratchFolder();
  const paths = portfolioAt(root);
  mkdirSync(paths.ownFolder, { recursive: true, mode: 0o700 });
  markShared(paths.ownFolder, key);

  return { paths, context: contextIn(root) };
}
const objective = (state: PortfolioView, word: string): PortfolioChange => {
  const [project_id = ""] = Object.keys(state.projects);
  return {
    event: "project_updated",
    actor: "operator:kim",
    reason_code: "ok",
    project_id,
    changes: { objective: word },
  };
};
const change = ({ context, paths }: Place, word: string): Promise<void> =>
  withPortfolio(context, paths, ({ state, write }) => write(objective(state, word)));
const shared = async (): Promise<Place & { readonly key: string }> => {
  const place = await made();
  return { ...place, key: await sharePortfolio(store, place.paths.ownFolder) };
};

describe.skipIf(postgresBin === null)(`a portfolio in a store${withoutPostgres}`, () => {
  beforeAll(async () => {
    cluster = startCluster();
    const url = cluster.database("portfolios");
    const owner = connect(url, { answerMs: 5_000 });
    await migrate(owner, "test");
    cluster.sql("portfolios", "create role worker login");
    await grantTo(owner, "worker");
    await owner.close();
    env = {
      HOME: home,
      PATH: process.env["PATH"],
      AUTOPILOT_STORE: cluster.database("portfolios", "worker"),
    };

    store = await openSharedStore(env);
  });

  afterAll(async () => {
    await store.close();
    cluster.stop();
    sweep();
  });

  const copies = scratchFolder();
  const mirrored = (): RunStore => ({
    ...openFileStore(copies),
    open: (run, kind, options) =>
      openShared({ env, folder: join(copies, run), mark: { key: run }, options, kind }),
  });

  portfolioStoreSuite("postgres, with a folder that is a copy", () => ({
    store: mirrored(),
    lapse: null,
  })); // its lock is the kernel's too

  test("moves there as it is: byte for byte, once, and goes on there", async () => {
    const { paths, context } = await made();
    const before = journalOf(paths);

    const keys = await Promise.all(
      [1, 2, 3].map(() =>
        sharePortfolio(store, paths.ownFolder).catch((error: unknown) => toFailure(error).code),
      ),
    );
    const [key = ""] = keys.filter((one) => one !== "run_locked");
    expect(new Set(keys.filter((one) => one !== "run_locked"))).toEqual(
      new Set([readPortfolioMark(paths.ownFolder)?.key]),
    );

    expect(await stored(key)).toBe(before);
    const task = await addTask(context, {
      project: "Shop",
      objective: "make it",
      accept: ["made :: true"],
    });
    expect(task.result, task.message).toBe("PASS");
    expect(journalOf(paths).startsWith(before) && journalOf(paths).length > before.length).toBe(
      true,
    );

    expect(await stored(key)).toBe(journalOf(paths));
    expect(verifyJournal(paths.ownFolder)).toMatchObject({ ok: true, torn_bytes: 0 });
    expect((await store.runs()).find(({ run }) => run === key)).toMatchObject({
      kind: "portfolio",
      holder: null,
    });
  });

  test("is in two folders the same, line for line and page for page, whoever writes", async () => {
    const one = await shared();
    const two = folderFor(one.key);
    for (const [place, word] of [
      [two, "a"],
      [one, "b"],
      [one, "c"],
      [two, "d"],
      [one, "e"],
    ] as const) {
      await change(place, word);
    }

    await withPortfolio(two.context, two.paths, async () => undefined); // catches up
    expect(journalOf(two.paths)).toBe(journalOf(one.paths));
    expect(await stored(one.key)).toBe(journalOf(one.paths));
    expect(drawn(two.paths)).toEqual(drawn(one.paths));
    expect(await readPortfolio(two.paths)).toEqual(
      await readPortfolio(portfolioAt(one.paths.root)),
    );
  });

  test("takes no line of a writer that has lost it, and neither does the folder", async () => {
    const one = await shared();
    const two = folderFor(one.key);
    const stale = await openStored(env, one.paths, { ...still, onEntry: () => undefined });
    await lapse(one.key);
    await change(two, "taken over");
    const before = journalOf(one.paths);
    const late = objective(await readPortfolio(one.paths), "late");
    expect(await failureFrom(stale.journal.append([late as unknown as Event]))).toMatchObject({
      kind: "lease_lost",
    });

    await stale.journal.close();
    expect(journalOf(one.paths)).toBe(before);
    await change(one, "in its turn");
    expect([journalOf(one.paths).includes("late"), await stored(one.key)]).toEqual([
      false,
      journalOf(one.paths),
    ]);
  });

  test("takes no line of a planner that another has taken over from, though it has the journal and believes its lease", async () => {
    const one = await shared();
    const { lease } = await store.open(plannerKey(one.key), "portfolio", still);
    const pool: Place = {
      ...one,
      paths: { ...one.paths, planner: { lease, unbrought: new Map() } },
    };
    await change(pool, "planned");
    const next = await openPostgresStore(env["AUTOPILOT_STORE"] ?? "");

    const late = withPortfolio(pool.context, pool.paths, async ({ state, write }) => {
      await lapse(plannerKey(one.key));
      const taken = await next.open(plannerKey(one.key), "portfolio", still);
      expect([lease.isConfirmed(), taken.lease.epoch]).toEqual([true, 2]);
      await write(objective(state, "late"));
    });
    await expect(late).rejects.toMatchObject({ kind: "lease_lost" });
    expect(lease.lost.aborted, "and it knows").toBe(true);
    await change(one, "a person's");
    expect([(await stored(one.key)).includes("late"), await stored(one.key)]).toEqual([
      false,
      journalOf(one.paths),
    ]);

    await next.close();
  });

  test("that does not answer takes nothing, and says that it may be tried again; the folder stays as it is", async () => {
    const one = await shared();
    const before = [journalOf(one.paths), drawn(one.paths)];
    const away = contextIn(one.paths.root, {
      AUTOPILOT_STORE: "postgres://worker@/portfolios?host=/nowhere",
    });

    const failure = toFailure(
      await change({ ...one, context: away }, "lost").catch((error: unknown) => error),
    );
    expect([failure.code, findRetryPolicy(failure.code)]).toEqual(["store_unreachable", "always"]);
    const none = contextIn(one.paths.root, { AUTOPILOT_STORE: "" });
    expect((await addTask(none, { project: "Shop", objective: "no" })).reason_code).toBe(
      "store_unusable",
    );

    expect([journalOf(one.paths), drawn(one.paths)]).toEqual(before);
  });

  test("mends a copy that was cut short, and refuses one that has more than the store", async () => {
    const one = await shared();
    await change(one, "a");
    const whole = journalOf(one.paths);
    const path = join(one.paths.ownFolder, "journal.jsonl");
    truncateSync(path, whole.length - 20);
    await change(one, "b");
    expect(journalOf(one.paths)).toBe(await stored(one.key));
    cluster.sql(
      "portfolios",
      `delete from autopilot.entry where run_id = '${one.key}' and seq > 2`,
    );

    cluster.sql(
      "portfolios",
      `update autopilot.run r set seq = 2, bytes = (select sum(length(line) + 1) from autopilot.entry e where e.run_id = r.run_id),
        head = (select sha256(line) from autopilot.entry e where e.run_id = r.run_id and seq = 2) where run_id = '${one.key}'`,
    );

    await expect(change(one, "c")).rejects.toMatchObject({ kind: "store_lost_lines" });
  });

  test("an older copy of its folder becomes the same portfolio; one that went its own way is refused", async () => {
    const one = await made();
    const [older, astray] = [scratchFolder(), scratchFolder()].map((root) => ({
      paths: portfolioAt(root),
      context: contextIn(root),
    }));

    for (const { paths } of [older, astray] as Place[]) {
      cpSync(one.paths.ownFolder, paths.ownFolder, { recursive: true });
    }

    await change(astray as Place, "astray");
    const key = await sharePortfolio(store, one.paths.ownFolder);
    await change(one, "on");
    expect(await sharePortfolio(store, (older as Place).paths.ownFolder)).toBe(key);
    await change(older as Place, "further");
    expect(await stored(key)).toBe(journalOf((older as Place).paths));
    await change(one, "last");
    const before = await stored(key);
    await expect(sharePortfolio(store, (astray as Place).paths.ownFolder)).rejects.toMatchObject({
      kind: "store_unusable",
    });

    expect([readPortfolioMark((astray as Place).paths.ownFolder), await stored(key)]).toEqual([
      null,
      before,
    ]);
  });

  test("is taken into a folder of another machine: nothing in it is changed, and nothing gains rights before its user agrees", async () => {
    const one = await shared();
    const [clone, root] = [scratch(), join(scratchFolder(), "there")];
    const here = contextIn(scratchFolder());
    const { repository = "" } = Object.values((await readPortfolio(one.paths)).projects)[0] ?? {};
    expect(await takePortfolio(here, { key: "portfolio-0000000000000000" })).toMatchObject({
      reason_code: "portfolio_missing",
    });

    expect(await takePortfolio(one.context, { key: "portfolio-0000000000000000" })).toMatchObject({
      reason_code: "portfolio_input_invalid",
    });

    const before = await stored(one.key);
    const taken = await takePortfolio(here, { key: one.key, into: root, repos: [`Shop=${clone}`] });
    expect(taken, taken.message).toMatchObject({
      result: "PASS",
      data: { clones: { [repository ?? ""]: clone } },
    });

    const two: Place = { paths: portfolioAt(root), context: contextIn(root) };
    expect([journalOf(two.paths), drawn(two.paths)]).toEqual([before, drawn(one.paths)]);
    expect(findClone(two.paths, repository ?? "")).toBe(clone);
    expect(await addTask(two.context, { project: "Shop", objective: "no" })).toMatchObject({
      reason_code: "portfolio_foreign",
    });

    const shown = await adoptPortfolio(two.context, {});
    expect([shown.reason_code, shown.page?.join("\n")]).toEqual([
      "portfolio_foreign",
      expect.stringContaining(clone),
    ]);

    expect((await adoptPortfolio(two.context, { yes: true })).result).toBe("PASS");
    expect(await stored(one.key), "its other machines notice nothing").toBe(before);
    expect(
      (await addTask(two.context, { project: "Shop", objective: "yes", accept: ["made :: true"] }))
        .result,
    ).toBe("PASS");

    expect(
      (await showPortfolio(one.context, {})).data?.["tasks"],
      "and it goes on for all",
    ).toHaveLength(1);

    expect(
      await takePortfolio(here, { key: one.key, into: root, repos: ["Shop=nowhere"] }),
    ).toMatchObject({ result: "FAIL" });

    expect(
      await takePortfolio(here, { key: one.key, into: root, repos: ["Other=."] }),
    ).toMatchObject({
      reason_code: "portfolio_input_invalid",
    });

    const again = scratch();
    expect((await takePortfolio(here, { key: one.key, into: root, repos: [again] })).result).toBe(
      "PASS",
    );

    expect([
      findClone(two.paths, repository ?? ""),
      findClone(one.paths, repository ?? ""),
    ]).toEqual([again, repository]);
  });

  test("is shown as the store has it; if that does not answer, as this machine's copy, and says so", async () => {
    const one = await shared();
    const two = folderFor(one.key);
    await change(two, "written elsewhere");
    const seq = journalOf(two.paths).trimEnd().split("\n").length;
    const there = await showPortfolio(one.context, {});
    expect(there.data?.["store"]).toEqual({ key: one.key, line: seq, shown: "store" });
    await change(two, "once more");
    const away = contextIn(one.paths.root, {
      AUTOPILOT_STORE: "postgres://worker@/portfolios?host=/nowhere",
    });
    const copy = await showPortfolio(away, {});
    expect(copy.data?.["store"]).toEqual({ key: one.key, line: seq, shown: "copy" });
    expect(copy.warnings.join("\n")).toContain(`this machine's copy, up to line ${seq}`);
  });

  test("a run that was only named when another machine brought it goes on there once it is drafted, whoever drafts it", async () => {
    const one = await shared();
    const two = folderFor(one.key);
    const { repository } = Object.values((await readPortfolio(one.paths)).projects)[0] ?? {};
    const hub = join(scratchFolder(), "hub.git");
    git(repository ?? "", "init", "-q", "--bare", "-b", "main", hub);
    git(repository ?? "", "push", "-q", hub, "main");
    const script = join(scratchFolder(), "agent.json");
    writeFileSync(script, JSON.stringify({ turns: [] }));
    const agent = `scripted:${script}`;

    const added = await addTask(one.context, {
      project: "Shop",
      objective: "make it",
      accept: ["made :: true"],
      agent,
      isolation: "clone",
    });
    const task_id = String(added.data?.["id"]);

    const [run, event_nonce, copy] = [
      "run-2026-01-02-030405",
      "0123456789abcdef01234567",
      `${task_id}.1-1`,
    ];

    const named: PortfolioChange = {
      event: "task_dispatched",
      actor: "planner",
      reason_code: "ok",
      task_id,
      run_id: run,
      event_nonce,
      worker_backend: "acp",
      worker_agent_id: "scripted",
      worker_session_key: `worker-${task_id}`,
      base: git(hub, "rev-parse", "main"),
      copy,
    };

    const settled = {
      event: "hub_set",
      actor: "operator:kim",
      reason_code: "ok",
      repository: repository ?? "",
      hub,
    } as const;

    await withPortfolio(one.context, one.paths, ({ write }) => write(settled, named));
    const { lease } = await store.open(plannerKey(one.key), "portfolio", still);
    const bring = ({ context, paths }: Place) =>
      bringTasks(context, { ...paths, planner: { lease, unbrought: new Map() } }, "clone");
    const copyOf = ({ paths }: Place): ProjectPaths =>
      pathsOfCopy(join(paths.ownFolder, "copies", copy));
    await bring(one);
    await bring(two);
    expect(
      [one, two].map((place) => [
        existsSync(runFolder(copyOf(place), run)),
        isBegun(copyOf(place), run),
      ]),
    ).toEqual([
      [true, false],
      [true, false],
    ]);

    const draft = (place: Place, goal: string) =>
      makeDraft(contextIn(copyOf(place).root), copyOf(place), {
        words: [],
        isCopy: true,
        newId: run,
        goal,
        agent,
        isolation: "clone",
      });
    await draft(one, "make it");
    await bring(two);
    expect(
      [one, two].map((place) => isOwnRun(contextIn(copyOf(place).root), copyOf(place), run)),
    ).toEqual([true, true]);

    const journals = [one, two].map((place) =>
      readFileSync(join(runFolder(copyOf(place), run), "journal.jsonl"), "utf8"),
    );
    expect(journals[1]).toBe(journals[0]);
    expect(
      cluster.sql("portfolios", `select count(*) from autopilot.run where run_id like '${run}.%'`),
    ).toBe("1");
  });

  test("a process that waited for the folder while it moved writes to the store", async () => {
    const one = await made();
    const held = await openStored(env, one.paths, { ...still, onEntry: () => undefined });
    const waiting = change(one, "waited");
    await held.journal.close();
    const key = await sharePortfolio(store, one.paths.ownFolder).catch(() =>
      waiting.then(() => sharePortfolio(store, one.paths.ownFolder)),
    );

    await waiting;
    await change(one, "after");
    expect(await stored(key)).toBe(journalOf(one.paths));
  });
});
