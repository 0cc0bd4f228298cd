// A task's run is begun once, whatever becomes of the pool that gives it out.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { JournalFailure } from "../../journal/journal-failure.ts";
import type { PortfolioStore } from "../../ports/portfolio-store.ts";
import { commandContext } from "../../../test/support/command-context.ts";
import { WorkspaceFailed } from "../../workspace/failure.ts";
import { project, task } from "../planner/portfolio.test-support.ts";
import { listWaitingIds } from "../planner/questions.ts";
import { listOpenBlocks } from "../planner/state.ts";
import { readPortfolio, getStore } from "../store/fold.ts";
import { type PortfolioPaths, portfolioAt } from "../store/folder.ts";
import { withPortfolio } from "../store/open.ts";
import { dispatch, type WorkerPool } from "./dispatch.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "autopilot-dispatch-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const id = "task-a-000001";
const said = { actor: "system", reason_code: "ok" } as const;

/** A store that asks the planner's lease with every append, as one that is shared does. */
const fenced = (store: PortfolioStore): PortfolioStore => ({
  read: (from, onEntry) => store.read(from, onEntry),
  open: async (options) => {
    const opened = await store.open(options);
    const { journal } = opened;
    const append: typeof journal.append = async (events) => {
      if (options.under?.isConfirmed() === false) throw options.under.lost.reason;
      return journal.append(events);
    };

    const position = (): typeof journal.position => journal.position;
    return {
      ...opened,
      journal: {
        ...journal,
        append,
        close: () => journal.close(),
        get position() {
          return position();
        },
      },
    };
  },
});

let made = 0;
async function scene() {
  const root = join(folder, `s${++made}`);
  const repository = join(root, "repo");
  mkdirSync(repository, { recursive: true });
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-c", "user.name=S", "-c", "user.email=s@example.invalid", ...args], {
      cwd: repository,
    });
  git("init", "-q", "-b", "main");
  writeFileSync(join(repository, "README.md"), "# x\n");
  git("add", "-A");
  git("commit", "-q", "-m", "start");
  const script = join(root, "script.json");
  writeFileSync(script, JSON.stringify({ turns: [] }));
  const context = commandContext({ cwd: root, env: { HOME: root, PATH: process.env["PATH"] } });
  const paths = portfolioAt(root);
  mkdirSync(join(paths.ownFolder, "copies"), { recursive: true, mode: 0o700 });
  await withPortfolio(context, paths, (open) =>
    open.write(
      { ...said, event: "portfolio_created", name: "d", budget: {}, day_budget: {} },
      { ...said, event: "project_created", project_id: "proj-a", fields: project({ repository }) },
      { ...said, event: "hub_set", repository, hub: repository },
      {
        ...said,
        event: "task_created",
        task_id: id,
        project_id: "proj-a",
        status: "ready",
        fields: task({ isolation: "clone" }),
      },
    ),
  );

  const driven: string[] = [];
  const give = async (
    planner?: PortfolioPaths["planner"],
    failure: unknown = null,
  ): Promise<void> => {
    const drive: WorkerPool["drive"] = (_context, _copy, run) => {
      driven.push(run);
      return failure === null ? Promise.resolve(null) : Promise.reject(failure);
    };

    const ownFolder =
      planner === undefined ? paths : { ...paths, planner, journal: fenced(getStore(paths)) };
    const pool: WorkerPool = {
      context,
      paths: ownFolder,
      input: { isolation: "clone" },
      active: new Map(),
      starting: new Set(),
      warnings: new Set(),
      drive,
    };
    await dispatch(pool, { task_id: id, agent: `scripted:${script}`, allowance: {} });
    await Promise.all([...pool.active.values()].map(({ ended }) => ended));
  };

  /** Every run that was begun in any copy. */
  const runs = (): readonly string[] =>
    readdirSync(join(paths.ownFolder, "copies")).flatMap((copy) => {
      const at = join(paths.ownFolder, "copies", copy, ".autopilot/runs");
      return existsSync(at)
        ? readdirSync(at).filter((run) => existsSync(join(at, run, "journal.jsonl")))
        : [];
    });

  /** A pool that loses its lease when it asks for the nth time. */
  const losing = (nth: number): NonNullable<PortfolioPaths["planner"]> => {
    let asked = 0;
    const lost = new AbortController();

    const isConfirmed = (): boolean => {
      if (++asked >= nth) {
        lost.abort(new JournalFailure({ kind: "lease_lost", detail: "another plans" }));
      }

      return !lost.signal.aborted;
    };

    return {
      lease: { run: "planner", epoch: 1, isConfirmed, lost: lost.signal },
      unbrought: new Map(),
    };
  };

  return { context, paths, repository, give, runs, losing, driven };
}

test("a pool that loses the portfolio on the way leaves no run that nobody works on; the next one begins or finds it", async () => {
  let stages = 0;
  for (let nth = 1; ; nth++) {
    const { context, paths, give, runs, losing, driven } = await scene();
    const isLost = await give(losing(nth)).then(
      () => false,
      () => true,
    );

    const named = (await readPortfolio(paths)).tasks[id]?.run_id ?? null;
    expect(runs(), `lost at ${nth}: a run is begun only once it is named`).toEqual(
      named === null ? [] : runs().filter((run) => run === named),
    );

    if (!isLost) break;
    stages += 1;
    expect(driven).toEqual([]);
    await withPortfolio(context, paths, async ({ state, write }) => {
      if (state.tasks[id]?.status === "running") {
        await write({
          ...said,
          event: "lease_lost",
          task_id: id,
          run_id: named ?? "",
          because: "gone",
          usage: { tokens: 0, usd: 0 },
        });
      }
    });

    await give();
    const after = (await readPortfolio(paths)).tasks[id];
    expect([runs(), driven, after?.attempt]).toEqual([[after?.run_id], [after?.run_id], 1]);
    if (named !== null) expect(after?.run_id).toBe(named);
  }

  expect(stages).toBeGreaterThanOrEqual(3);
});

test("a run that was named and not begun is begun under its name", async () => {
  const { context, paths, give, runs, driven } = await scene();
  await give();
  const { run_id: run, copy } = (await readPortfolio(paths)).tasks[id] ?? {};
  rmSync(join(copy ?? "", ".autopilot/runs", run ?? "", "journal.jsonl")); // as if it had been killed before
  expect(runs()).toEqual([]);

  const lost = {
    ...said,
    event: "lease_lost",
    task_id: id,
    run_id: run ?? "",
    because: "gone",
    usage: { tokens: 0, usd: 0 },
  } as const;
  await withPortfolio(context, paths, (open) => open.write(lost));
  await give();
  expect([runs(), driven, (await readPortfolio(paths)).tasks[id]?.attempt]).toEqual([
    [run],
    [run, run],
    1,
  ]);
});

test("tasks that cannot start for one reason are one question, which names them all; its answer frees them", async () => {
  const { context, paths } = await scene();
  const ids = [id, ...Array.from({ length: 9 }, (_, at) => `task-b-00000${at}`)];

  const created = ids.slice(1).map((task_id) => ({
    ...said,
    ...({
      event: "task_created",
      task_id,
      project_id: "proj-a",
      status: "ready",
      fields: task({ isolation: "clone" }),
    } as const),
  }));
  await withPortfolio(context, paths, (open) => open.write(...created));
  const statuses = async () =>
    new Set(Object.values((await readPortfolio(paths)).tasks).map(({ status }) => status));
  const [lacking, gone] = [join(context.cwd, "not-there.json"), join(context.cwd, "repo")];

  const tryAll = async (why: RegExp): Promise<void> => {
    const pool: WorkerPool = {
      context,
      paths,
      input: {},
      active: new Map(),
      starting: new Set(),
      warnings: new Set(),
      drive: () => Promise.resolve(null),
    };
    await Promise.all(
      ids.map((one) =>
        dispatch(pool, { task_id: one, agent: `scripted:${lacking}`, allowance: {} }),
      ),
    );

    expect(await statuses()).toEqual(new Set(["blocked_human"]));
    const blocks = listOpenBlocks(await readPortfolio(paths));
    expect(blocks.map((block) => listWaitingIds(block).toSorted())).toEqual([ids.toSorted()]);
    expect(blocks[0]?.question).toMatch(why);
    const { block_id = "", content = "" } = blocks[0] ?? {};
    await withPortfolio(context, paths, (open) =>
      open.write({ ...said, event: "block_resolved", block_id, content, answer: "A" }),
    );

    expect(await statuses()).toEqual(new Set(["ready"]));
  };
  await tryAll(/not-there.json/);
  renameSync(gone, `${gone}.away`);
  await tryAll(/is not there/);
});

test("a store or a hub that is away makes no question: the same run is tried again", async () => {
  const { paths, give, runs, driven } = await scene();
  const away = [
    new JournalFailure({ kind: "store_unreachable", detail: "no answer" }),
    new JournalFailure({ kind: "run_locked", pid: 1, host: "gone" }),
    new WorkspaceFailed("hub_unreachable", "Sending a commit to the hub failed."),
    Object.assign(new Error("ENOSPC: no space left on device"), {
      code: "ENOSPC",
      syscall: "write",
    }),
  ];
  for (const failure of away) await give(undefined, failure);
  const task = (await readPortfolio(paths)).tasks[id];
  expect(task).toMatchObject({
    status: "running",
    stage: "resting",
    attempt: 1,
    delay: { reason: "disk_full", tries: 1 },
  });

  expect(Object.values((await readPortfolio(paths)).blocks)).toEqual([]);
  await give();
  expect([runs(), new Set(driven)]).toEqual([[task?.run_id], new Set([task?.run_id])]);
});

test("an error that nobody knows is tried again a few times, then asked about once, with its words", async () => {
  const { paths, give } = await scene();
  for (let tried = 0; tried < 4; tried++) await give(undefined, new Error("the moon is full"));
  const { tasks, blocks } = await readPortfolio(paths);
  expect(tasks[id]).toMatchObject({ status: "blocked_human", attempt: 1 });
  expect(Object.values(blocks).map(({ question }) => question)).toEqual([
    "Work could not be started: the moon is full. Try again?",
  ]);
});

test("a repository that is gone is asked about at once", async () => {
  const { paths, repository, give } = await scene();
  rmSync(repository, { recursive: true });
  await give();
  const { tasks, blocks } = await readPortfolio(paths);
  expect(tasks[id]?.status).toBe("blocked_human");
  expect(Object.values(blocks).map(({ question }) => question)).toEqual([
    `Work could not be started: ${repository} is not there. Try again?`,
  ]);
});
